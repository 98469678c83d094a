internal import WaybillModel
internal import WaybillSQLite

/// The holes that retention has left in the log, and the chain across them.
struct ArchivedGaps {
  private let range: Statement?

  /// - Parameter hasRanges: whether the format of the ledger has archived ranges at all.
  init(_ connection: Connection, hasRanges: Bool) throws(SQLiteError) {
    range =
      hasRanges
      ? try connection.prepare("SELECT last, chain FROM archived_ranges WHERE first = ?") : nil
  }

  /// The chain value before `position`, if archived ranges fill everything between the two; nil
  /// where they do not, which is damage.
  func chain(from head: GlobalPosition, to position: GlobalPosition) -> ContentHash? {
    guard let range else { return nil }
    var next = head.next.value
    var chain: ContentHash?
    // A range that was purged may follow one that was archived.
    while next < position.value {
      range.bind(1, next)
      guard let row = try? range.firstRow({ ($0.int(0), EventCodec.hash($0, 1)) }), row.0 >= next
      else { return nil }
      next = row.0 + 1
      chain = row.1
    }
    return next == position.value ? chain : nil
  }
}

extension Connection {
  /// Whether events have left the log by a step that was recorded behind a position, up to another.
  /// Then the events behind it do not tell all that a derived table has lost.
  func hasRemoval(
    behind position: Int64, upTo last: Int64 = .max
  ) throws(SQLiteError) -> Bool {
    // The plus keeps SQLite from walking all of the ledger's own stream.
    let removal = try prepare(
      "SELECT 1 FROM events WHERE position > ?1 AND position <= ?2 AND +stream = 0"
        + " AND kind IN ('ledger.archived', 'ledger.purged') LIMIT 1")
    removal.bind(1, position)
    removal.bind(2, last)
    return try removal.firstRow { _ in true } != nil
  }

  /// Whether the log holds, or has held, the event that a head mark speaks of. Within a run that
  /// has left only its last event can be compared.
  func knows(_ mark: HeadMark, hasRanges: Bool) throws(SQLiteError) -> Bool {
    let event = try prepare("SELECT chain FROM events WHERE position = ?")
    event.bind(1, mark.position.value)
    if let chain = try event.firstRow({ EventCodec.hash($0, 0) }) { return chain == mark.chain }
    guard hasRanges else { return false }
    let range = try prepare(
      "SELECT last, chain FROM archived_ranges WHERE first <= ? ORDER BY first DESC LIMIT 1")
    range.bind(1, mark.position.value)
    guard let (last, chain) = try range.firstRow({ ($0.int(0), EventCodec.hash($0, 1)) }) else {
      return false
    }
    return last > mark.position.value || (last == mark.position.value && chain == mark.chain)
  }
}

extension Verification {
  /// Holds the holes against the events that record them, and the streams against the segments.
  mutating func checkArchive(_ connection: Connection) throws(SQLiteError) {
    var recorded: [GlobalPosition: RemovedRuns] = [:]
    let facts = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
        + " WHERE e.stream = 0 AND e.kind IN ('ledger.archived', 'ledger.purged')")
    try LogReading.each(facts) { event in
      switch event.body {
      case .ledger(.archived(let archived)): recorded[event.position] = archived.removed
      case .ledger(.purged(let purged)): recorded[event.position] = purged.removed
      default: break
      }
    }
    var positions: Set<GlobalPosition> = Set(recorded.keys)
    try connection.prepare("SELECT DISTINCT recorded FROM archived_ranges").forEachRow { row in
      positions.insert(GlobalPosition(row.int(0)))
      return true
    }
    for position in positions.sorted() {
      let held = try LeavingRuns(recordedBy: position, connection).removed
      guard recorded[position] != held else { continue }
      add(
        "archive_mismatch", at: position,
        "what has left the log is not what event \(position.value) says has left it")
    }
    let unknown =
      try connection.integer(
        "SELECT count(*) FROM archived_streams AS a LEFT JOIN events AS e"
          + " ON e.position = a.archived AND e.kind = 'ledger.archived' WHERE e.position IS NULL")
      ?? 0
    if unknown > 0 {
      add("segment_unknown", "no event says where the beginnings of \(unknown) uploads went")
    }
    let ends =
      try connection.integer(
        "SELECT count(*) FROM archived_streams AS a"
          + " WHERE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.stream = a.stream)") ?? 0
    if ends > 0 { add("stream_unknown", "the log has no end of \(ends) archived uploads") }
  }
}

extension LedgerReader {
  /// How many events have left the log.
  func archivedCount(_ connection: Connection) throws(SQLiteError) -> Int64 {
    guard formatVersion >= 2 else { return 0 }
    return try connection.integer("SELECT sum(last - first + 1) FROM archived_ranges") ?? 0
  }
}
