package import WaybillModel
internal import WaybillSQLite

/// Ended uploads that leave the log together, and where their events are in it.
package struct ArchiveSelection: Sendable {
  /// An upload whose stream moves.
  struct Stream: Sendable {
    let stream: Int64
    let removed: Int64
  }

  /// The uploads, in the order of adding.
  package internal(set) var uploads: [UploadID] = []
  /// How many events they have: all of them go into the segment.
  package internal(set) var eventCount: Int64 = 0
  /// How many of these leave the log.
  package internal(set) var removedCount: Int64 = 0
  var streams: [Stream] = []
  /// The positions of all events, and of those that leave, in runs without a hole.
  var runs: [ClosedRange<Int64>] = []
  var leaving: [ClosedRange<Int64>] = []

  /// Whether nothing is to be moved.
  package var isEmpty: Bool { uploads.isEmpty }
  /// The first position that goes into the segment.
  package var first: GlobalPosition { GlobalPosition(runs.first?.lowerBound ?? 0) }
  /// The last position that goes into the segment.
  package var last: GlobalPosition { GlobalPosition(runs.last?.upperBound ?? 0) }
}

/// One event on its way into a segment.
package struct ArchivedEvent: Sendable {
  /// The event.
  package let event: RecordedEvent
  /// The chain value that stands with it in the log.
  package let chain: ContentHash
  /// The chain value before it, where the event before it is not in the segment.
  package let chainBefore: ContentHash?
}

extension LedgerReader {
  /// The most events that move in one transaction: it bounds the write-ahead log, and what is held
  /// in memory while they move.
  package static let maximumArchivedEvents = 20_000

  /// The ended uploads that a policy lets go, those that were added first in front.
  ///
  /// An upload whose copy is still to be deleted stays, and so does one that was archived before.
  ///
  /// - Parameters:
  ///   - policy: what stays.
  ///   - now: the current time.
  ///   - skipped: uploads that stay whatever the policy says.
  ///   - limit: how many events, exceeded by one upload at most; what moves in one transaction
  ///     keeps to `maximumArchivedEvents`.
  /// - Returns: uploads up to the limit; ask again after they moved.
  package func archivable(
    _ policy: RetentionPolicy, now: Timestamp, skipping skipped: Set<UploadID> = [],
    limit: Int = maximumArchivedEvents
  ) throws(LedgerError) -> ArchiveSelection {
    try read("looking for ended uploads") { connection throws(SQLiteError) in
      try connection.execute("BEGIN")
      defer { try? connection.execute("COMMIT") }
      var pass = RetentionPass(policy, size: try connection.logSize(), now: now)
      let ended = try connection.prepare(
        """
        SELECT u.stream, s.upload, e.recorded_at FROM upload_states AS u
        JOIN streams AS s ON s.stream = u.stream
        JOIN events AS e ON e.stream = u.stream
          AND e.revision = (SELECT max(revision) FROM events WHERE stream = u.stream)
        WHERE u.state IN ('committed', 'deduplicated', 'cancelled')
          AND u.stream NOT IN (SELECT stream FROM work)
          \(formatVersion >= 2 ? "AND u.stream NOT IN (SELECT stream FROM archived_streams)" : "")
        ORDER BY u.stream
        """)
      let events = try connection.prepare(
        "SELECT position, kind FROM events WHERE stream = ? ORDER BY revision")
      var builder = SelectionBuilder()
      var failure: SQLiteError?
      try ended.forEachRow { row in
        guard let id = UploadID(row.text(1)), !skipped.contains(id) else { return true }
        do throws(SQLiteError) {
          let stream = try StreamPositions(row.int(0), events)
          if let stream,
            pass.takes(newest: Timestamp(microseconds: row.int(2)), removed: stream.removed)
          {
            builder.add(id, stream)
          }
        } catch {
          failure = error
          return false
        }
        return builder.eventCount < limit
      }
      if let failure { throw failure }
      return builder.selection
    }
  }

  /// One page of the events that go into a segment, in the order of position.
  ///
  /// - Parameters:
  ///   - selection: what goes.
  ///   - position: the last event of the page before; `start` for the first page.
  /// - Returns: at most `maximumPage` events; none after the last page.
  package func events(
    of selection: ArchiveSelection, after position: GlobalPosition
  ) throws(LedgerError) -> [ArchivedEvent] {
    try read("reading ended uploads") { connection throws(SQLiteError) in
      let events = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE e.position BETWEEN ? AND ? ORDER BY e.position")
      var page: [ArchivedEvent] = []
      // Runs are in order, so those that are done lie in front.
      let start = selection.runs.partitioningIndex { $0.upperBound > position.value }
      for run in selection.runs[start...] {
        let left = LedgerReader.maximumPage - page.count
        guard left > 0 else { break }
        let first = max(run.lowerBound, position.value + 1)
        events.bind(1, first)
        events.bind(2, min(run.upperBound, first + Int64(left) - 1))
        var before = first == run.lowerBound ? try connection.chain(before: first) : nil
        try events.forEachRow { row in
          page.append(
            ArchivedEvent(
              event: EventCodec.event(row, of: EventCodec.upload(row)),
              chain: EventCodec.hash(row, EventCodec.chainColumn) ?? .zero, chainBefore: before))
          before = nil
          return true
        }
      }
      return page
    }
  }
}

/// Where the events of one ended stream are, and which of them leave.
private struct StreamPositions {
  let stream: Int64
  var all: [Int64] = []
  let leaving: ArraySlice<Int64>

  var removed: Int64 { Int64(leaving.count) }

  /// nil for a stream of which nothing leaves.
  init?(_ stream: Int64, _ events: Statement) throws(SQLiteError) {
    self.stream = stream
    var kinds: [EventKind?] = []
    var positions: [Int64] = []
    events.bind(1, stream)
    try events.forEachRow { row in
      positions.append(row.int(0))
      kinds.append(EventKind(utf8: row.borrowedBytes(1)))
      return true
    }
    all = positions
    leaving = positions.prefix(ArchivedStream.leavingCount(kinds) ?? 0)
    if leaving.isEmpty { return nil }
  }
}

/// Gathers streams until there are enough, then puts their positions in order.
private struct SelectionBuilder {
  private var chosen = ArchiveSelection()
  private var positions: [Int64] = []
  private var leaving: [Int64] = []

  var eventCount: Int { positions.count }

  mutating func add(_ id: UploadID, _ stream: StreamPositions) {
    chosen.uploads.append(id)
    chosen.streams.append(ArchiveSelection.Stream(stream: stream.stream, removed: stream.removed))
    positions += stream.all
    leaving += stream.leaving
  }

  var selection: ArchiveSelection {
    var selection = chosen
    selection.eventCount = Int64(positions.count)
    selection.removedCount = Int64(leaving.count)
    selection.runs = [ClosedRange](positions: positions)
    selection.leaving = [ClosedRange](positions: leaving)
    return selection
  }
}

extension [ClosedRange<Int64>] {
  /// The runs without a hole that some positions make; their order does not matter.
  init(positions: [Int64]) {
    self = []
    for position in positions.sorted() {
      if let last, last.upperBound + 1 == position {
        self[count - 1] = last.lowerBound...position
      } else {
        append(position...position)
      }
    }
  }

  /// The index of the first run that fulfils a condition which holds from some run on.
  fileprivate func partitioningIndex(where holds: (ClosedRange<Int64>) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Connection {
  /// How large the log is; pages that were freed do not count.
  fileprivate func logSize() throws(SQLiteError) -> LogSize {
    let pages = try integer("PRAGMA page_count") ?? 0
    let free = try integer("PRAGMA freelist_count") ?? 0
    let pageSize = try integer("PRAGMA page_size") ?? 0
    return LogSize(
      events: try integer("SELECT count(*) FROM events") ?? 0, bytes: (pages - free) * pageSize)
  }

  /// The chain value of the event before a position, which may have left the log.
  func chain(before position: Int64) throws(SQLiteError) -> ContentHash? {
    guard position > 1 else { return .zero }
    for source in [
      "SELECT chain FROM events WHERE position = ?",
      "SELECT chain FROM archived_ranges WHERE last = ?",
    ] {
      let statement = try prepare(source)
      statement.bind(1, position - 1)
      if let chain = try statement.firstRow({ EventCodec.hash($0, 0) }) { return chain }
    }
    return nil
  }
}
