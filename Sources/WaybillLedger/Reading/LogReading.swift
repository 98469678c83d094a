internal import WaybillModel
internal import WaybillSQLite

/// Reads that the writer, the reader and the rebuild share: one way from rows to events.
enum LogReading {
  /// Calls `body` with each event of a statement over `EventCodec.columns`.
  static func each(
    _ statement: Statement, _ body: (RecordedEvent) -> Void
  ) throws(SQLiteError) {
    try statement.forEachRow { row in
      body(EventCodec.event(row, of: EventCodec.upload(row)))
      return true
    }
  }

  /// The ledger's own stream as its row says it; folded where there is no row to go by.
  static func currentState(_ connection: Connection) throws(SQLiteError) -> LedgerState {
    if let state = try LedgerStateTable.read(connection) { return state }
    return try ledgerState(connection)
  }

  /// The ledger's own stream, folded from its first event.
  static func ledgerState(_ connection: Connection) throws(SQLiteError) -> LedgerState {
    var state = LedgerState()
    let statement = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source) WHERE e.stream = 0 ORDER BY revision")
    try each(statement) { state.evolve($0) }
    return state
  }

  /// Folds every upload whose stream `condition` selects, one after the other, so that only one is
  /// in memory at a time.
  static func eachUpload(
    _ connection: Connection, where condition: String,
    _ body: (Upload, _ stream: Int64) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let statement = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
        + " WHERE e.stream > 0 AND (\(condition)) ORDER BY e.stream, e.revision")
    var current: (upload: Upload, stream: Int64)?
    var failure: SQLiteError?
    func finish() -> Bool {
      guard let (upload, stream) = current else { return true }
      do throws(SQLiteError) {
        try body(upload, stream)
        return true
      } catch {
        failure = error
        return false
      }
    }
    try statement.forEachRow { row in
      let stream = row.int(2)
      if current?.stream != stream {
        guard let id = EventCodec.upload(row) else { return true }
        guard finish() else { return false }
        current = (Upload(id: id), stream)
      }
      let event = EventCodec.event(row, of: current?.upload.id)
      current?.upload.evolve(event)
      return true
    }
    if failure == nil { _ = finish() }
    if let failure { throw failure }
  }
}
