public import WaybillModel
internal import WaybillSQLite

/// How many uploads stand where, and their bytes.
public struct LedgerCounts: Equatable, Sendable {
  /// Uploads for each word of the six states and of the two ends that leave the view.
  public var uploads: [StateWord: Int64] = [:]
  /// Bytes of all uploads in the view.
  public var totalBytes: Int64 = 0
  /// Bytes the server acknowledged.
  public var confirmedBytes: Int64 = 0
  /// Confirmed bytes and what the transport has taken of the parts in flight.
  public var sentBytes: Int64 = 0

  /// Makes counts of nothing.
  public init() {}

  /// Uploads at a word; 0 when there are none.
  public subscript(_ word: StateWord) -> Int64 { uploads[word] ?? 0 }
}

extension LedgerReader {
  /// The ledger's own stream, folded.
  public func state() throws(LedgerError) -> LedgerState {
    try read("reading the ledger's state", LogReading.currentState)
  }

  /// The newest position; `start` for an empty log.
  public func head() throws(LedgerError) -> GlobalPosition {
    try read("reading the head of the log") { connection throws(SQLiteError) in
      GlobalPosition(try connection.integer("SELECT max(position) FROM events") ?? 0)
    }
  }

  /// One upload, folded; nil when the ledger has no such upload.
  public func upload(_ id: UploadID) throws(LedgerError) -> Upload? {
    try read("reading an upload") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE e.stream = (SELECT stream FROM streams WHERE upload = ?) ORDER BY e.revision")
      statement.bind(1, id.description)
      var upload = Upload(id: id)
      try LogReading.each(statement) { upload.evolve($0) }
      return upload.revision == .none ? nil : upload
    }
  }

  /// Uploads whose id begins with some text, in the order of adding.
  ///
  /// - Parameters:
  ///   - prefix: the first characters of an id, in lower case.
  ///   - limit: how many at most, up to `maximumPage`.
  public func uploads(
    withPrefix prefix: String, limit: Int
  ) throws(LedgerError) -> [UploadID] {
    try read("looking for an upload") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT upload FROM streams WHERE substr(upload, 1, length(?1)) = ?1"
          + " ORDER BY stream LIMIT ?2")
      statement.bind(1, prefix)
      statement.bind(2, Int64(min(max(limit, 1), LedgerReader.maximumPage)))
      return try statement.ids()
    }
  }

  /// One page of the queue in the order of adding.
  ///
  /// - Parameters:
  ///   - page: where to go on; the first page when nil.
  ///   - limit: how many rows at most, up to `maximumPage`.
  /// - Returns: the rows, and where the next page begins; nil after the last one.
  public func queue(
    after page: GlobalPosition? = nil, limit: Int = LedgerReader.maximumPage
  ) throws(LedgerError) -> (rows: [QueuedUpload], next: GlobalPosition?) {
    let waiting = try state().waiting
    return try read("reading the queue") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        """
        SELECT s.upload, q.name, q.bytes, q.confirmed, q.in_flight, q.state, q.reason, q.until,
          q.remote_id, (SELECT CAST(total(sent) AS INTEGER) FROM progress AS p
            WHERE p.stream = q.stream), q.added
        FROM queue AS q JOIN streams AS s ON s.stream = q.stream
        WHERE q.added > ?1 ORDER BY q.added LIMIT ?2
        """)
      let bound = min(max(limit, 1), LedgerReader.maximumPage)
      statement.bind(1, page?.value ?? 0)
      statement.bind(2, Int64(bound))
      var rows: [QueuedUpload] = []
      var read = 0
      var last: Int64 = 0
      try statement.forEachRow { row in
        if let upload = QueueProjection.read(row, waiting: waiting) { rows.append(upload) }
        read += 1
        last = row.int(10)
        return true
      }
      return (rows, read == bound ? GlobalPosition(last) : nil)
    }
  }

  /// How many uploads stand where, and their bytes.
  public func counts() throws(LedgerError) -> LedgerCounts {
    try read("counting uploads") { connection throws(SQLiteError) in
      var counts = LedgerCounts()
      // Counted here: SQLite would sort all rows to group them, and an index that saves it that
      // would cost every append a page.
      let statement = try connection.prepare("SELECT state, total, confirmed FROM upload_states")
      try statement.forEachRow { row in
        guard let word = StateWord(utf8: row.borrowedBytes(0)) else { return true }
        counts.uploads[word, default: 0] += 1
        if word != .cancelled, word != .deduplicated {
          counts.totalBytes = counts.totalBytes.addingHeld(row.int(1))
          counts.confirmedBytes = counts.confirmedBytes.addingHeld(row.int(2))
        }
        return true
      }
      let inFlight = try connection.integer(
        """
        SELECT CAST(total(min(u.in_flight, p.sent)) AS INTEGER) FROM upload_states AS u
        JOIN (SELECT stream, total(sent) AS sent FROM progress GROUP BY stream) AS p
        ON p.stream = u.stream
        """)
      counts.sentBytes = min(counts.confirmedBytes.addingHeld(inFlight ?? 0), counts.totalBytes)
      return counts
    }
  }

  /// Refuses a destination that is not the one the ledger's uploads go to.
  ///
  /// A ledger is one account at one service: what it knows of bytes that are stored, and the
  /// credential it is given, hold for that service alone.
  public func requireDestination(_ destination: Destination) throws(LedgerError) {
    var query = EventQuery()
    query.kinds = [EventKind.uploadQueued.rawValue]
    query.isReversed = true
    guard let newest = try events(query, limit: 1).first,
      case .upload(.queued(let queued)) = newest.body,
      queued.intent.destination != destination.text
    else { return }
    throw LedgerError(
      .otherDestination,
      "the uploads of this ledger go to \(EscapedText.escape(queued.intent.destination)),"
        + " not to \(EscapedText.escape(destination.text))",
      remedy: "name a ledger of its own for another service with --ledger")
  }

  /// How many uploads have something left to do, now or later.
  public func workLeft() throws(LedgerError) -> Int64 {
    try read("counting the work list") { connection throws(SQLiteError) in
      try connection.integer("SELECT count(*) FROM work") ?? 0
    }
  }

  /// One page of the uploads that have not ended, or whose copy is still to be deleted, in the
  /// order of adding.
  ///
  /// - Parameter last: the last one of the page before; nil for the first page.
  package func unfinishedUploads(after last: UploadID?) throws(LedgerError) -> [UploadID] {
    try read("looking for what is left") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        """
        SELECT s.upload FROM upload_states AS u JOIN streams AS s ON s.stream = u.stream
        WHERE u.stream > coalesce((SELECT stream FROM streams WHERE upload = ?1), 0)
          AND (u.state NOT IN ('committed', 'cancelled', 'deduplicated')
            OR u.stream IN (SELECT stream FROM work))
        ORDER BY u.stream LIMIT ?2
        """)
      statement.bind(1, last?.description)
      statement.bind(2, Int64(LedgerReader.maximumPage))
      return try statement.ids()
    }
  }

  /// Uploads the log says have parts on their way, in the order of adding.
  public func uploadsInFlight() throws(LedgerError) -> [UploadID] {
    try read("reading what is on its way") { connection throws(SQLiteError) in
      try connection.prepare(
        "SELECT s.upload FROM upload_states AS u JOIN streams AS s ON s.stream = u.stream"
          + " WHERE u.in_flight > 0 ORDER BY u.stream"
      ).ids()
    }
  }

  /// The live upload that holds some bytes; nil when none does.
  public func holder(of hash: ContentHash) throws(LedgerError) -> UploadID? {
    try read("looking for the same bytes") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT s.upload FROM content_index AS c JOIN streams AS s ON s.stream = c.stream"
          + " WHERE c.hash = ?")
      hash.withBytes { statement.bind(1, bytes: $0) }
      return try statement.ids().first
    }
  }
}

extension Int64 {
  /// The sum, held within what can be stored: damaged rows may hold any number.
  func addingHeld(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (self < 0 ? Int64.min : Int64.max) : sum
  }
}

extension Statement {
  func ids() throws(SQLiteError) -> [UploadID] {
    var ids: [UploadID] = []
    try forEachRow { row in
      if let id = UploadID(row.text(0)) { ids.append(id) }
      return true
    }
    return ids
  }
}
