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

extension LedgerReader {
  /// How many events have left the log.
  func archivedCount(_ connection: Connection) throws(SQLiteError) -> Int64 {
    guard formatVersion >= 2 else { return 0 }
    return try connection.integer("SELECT sum(last - first + 1) FROM archived_ranges") ?? 0
  }
}
