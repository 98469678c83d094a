public import WaybillModel
internal import WaybillSQLite

/// One upload as whoever follows the queue sees it: its row, and the evidence behind its state.
public struct QueueRow: Equatable, Sendable {
  /// The row. What holds up all uploads, such as being offline, is not in its state: an update says
  /// that once for all of them.
  public let upload: QueuedUpload
  /// The six-state view of it; nil once it was given up.
  public let evidence: UploadState?
  /// The position of its first event; it gives the order of adding.
  public let added: GlobalPosition
  /// Bytes the server acknowledged.
  public let bytesConfirmed: Int64
  /// While the server is checking it: when it last stated what it holds of its bytes.
  public let verifyingSince: Timestamp?

  /// Makes a row from its values.
  public init(
    upload: QueuedUpload, evidence: UploadState?, added: GlobalPosition, bytesConfirmed: Int64,
    verifyingSince: Timestamp? = nil
  ) {
    self.upload = upload
    self.evidence = evidence
    self.added = added
    self.bytesConfirmed = bytesConfirmed
    self.verifyingSince = verifyingSince
  }
}

extension LedgerReader {
  /// The columns of a `QueueRow`, from streams `c`: those of `QueueProjection.read` first.
  private static let rowColumns = """
    s.upload, q.name, q.bytes, q.confirmed, q.in_flight, q.state, q.reason, q.until, q.remote_id,
      (SELECT CAST(total(sent) AS INTEGER) FROM progress AS p WHERE p.stream = q.stream),
      q.added, u.state,
      CASE u.state WHEN 'verifying' THEN (SELECT e.recorded_at FROM events AS e
        WHERE e.stream = q.stream
        AND e.kind IN ('session.opened', 'part.confirmed', 'upload.received')
        ORDER BY e.revision DESC LIMIT 1) END
    """

  /// One page of the queue, with evidence, in the order of adding: `?1` is the place behind which
  /// it begins, `?2` how many rows it has at most.
  static let pageQuery = """
    SELECT \(rowColumns) FROM queue AS q JOIN streams AS s ON s.stream = q.stream
    LEFT JOIN upload_states AS u ON u.stream = q.stream
    WHERE q.added > ?1 ORDER BY q.added LIMIT ?2
    """

  /// The uploads that events between two positions are about, and those with parts on their way,
  /// with their rows where they have one. The cross joins keep SQLite from walking the queue: what
  /// is read is what has changed.
  static let changeQuery = """
    SELECT \(rowColumns) FROM (
      SELECT stream FROM events WHERE position > ?1 AND position <= ?2 AND +stream > 0
      UNION SELECT stream FROM progress
    ) AS c CROSS JOIN streams AS s ON s.stream = c.stream
    LEFT JOIN queue AS q ON q.stream = c.stream
    LEFT JOIN upload_states AS u ON u.stream = c.stream
    ORDER BY +q.added
    """

  /// How many events one look at the changes goes over at most.
  static let maximumChanges: Int64 = 1000

  /// One page of the queue with the evidence behind each row.
  func queuePage(
    after place: GlobalPosition?
  ) throws(LedgerError) -> (rows: [QueueRow], next: GlobalPosition?, waiting: Waiting?) {
    let waiting = try state().waiting
    return try read("reading the queue") { connection throws(SQLiteError) in
      let statement = try connection.prepare(LedgerReader.pageQuery)
      statement.bind(1, place?.value ?? 0)
      statement.bind(2, Int64(LedgerReader.maximumPage))
      var rows: [QueueRow] = []
      var read = 0
      var last: Int64 = 0
      try statement.forEachRow { row in
        if let listed = QueueRow(row) { rows.append(listed) }
        read += 1
        last = row.int(10)
        return true
      }
      return (rows, read == LedgerReader.maximumPage ? GlobalPosition(last) : nil, waiting)
    }
  }

  /// What has changed in the queue behind a position.
  struct Changes: Sendable {
    var rows: [QueueRow] = []
    /// Uploads with events, but without a row.
    var left: [UploadID] = []
    /// Up to where this goes; the head may be further.
    var position: GlobalPosition
    var waiting: Waiting?
    /// Whether rows went that no event of their own tells of.
    var hasLostRows = false
  }

  /// What has changed in the queue behind a position, at most `maximumChanges` events further.
  func queueChanges(since position: GlobalPosition) throws(LedgerError) -> Changes {
    let end = min(try head().value, position.value + LedgerReader.maximumChanges)
    var changes = Changes(
      position: max(position, GlobalPosition(end)), waiting: try state().waiting)
    try read("reading what has changed in the queue") { connection throws(SQLiteError) in
      changes.hasLostRows = try connection.hasRemoval(behind: position.value, upTo: end)
      let statement = try connection.prepare(LedgerReader.changeQuery)
      statement.bind(1, position.value)
      statement.bind(2, end)
      try statement.forEachRow { row in
        if let listed = QueueRow(row) {
          changes.rows.append(listed)
        } else if let id = UploadID(row.text(0)) {
          changes.left.append(id)
        }
        return true
      }
    }
    return changes
  }
}

extension QueueRow {
  /// Reads the columns of `LedgerReader.rowColumns`; nil where the upload has no row in the queue.
  fileprivate init?(_ row: borrowing WaybillSQLite.Row) {
    guard !row.isNull(10), let upload = QueueProjection.read(row, waiting: nil) else {
      return nil
    }
    self.upload = upload
    added = GlobalPosition(row.int(10))
    bytesConfirmed = min(max(row.int(3), 0), upload.byteCount)
    let word = StateWord(utf8: row.borrowedBytes(11))
    evidence = word.flatMap { UploadState($0, of: upload, confirmed: row.int(3), row.int(4)) }
    verifyingSince = row.optionalInt(12).map { Timestamp(microseconds: $0) }
  }
}

extension UploadState {
  /// The state a word stands for, with what the row of the queue says of it.
  fileprivate init?(
    _ word: StateWord, of upload: QueuedUpload, confirmed: Int64, _ inFlight: Int64
  ) {
    switch (word, upload.state) {
    case (.savedLocally, _): self = .savedLocally
    case (.queued, .waiting(let waiting)): self = .queued(waiting)
    case (.queued, _): self = .queued(nil)
    case (.sending, _):
      self = .sending(confirmed: confirmed, inFlight: inFlight, total: upload.byteCount)
    case (.verifying, _): self = .verifying
    case (.committed, .done(let remote)): self = .committed(remote)
    case (.needsAttention, .failed(let reason)):
      self = .needsAttention(reason, reason.nextActions)
    case (.committed, _), (.needsAttention, _), (.cancelled, _), (.deduplicated, _): return nil
    }
  }
}
