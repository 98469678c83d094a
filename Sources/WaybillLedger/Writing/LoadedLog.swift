internal import WaybillModel
internal import WaybillSQLite

/// What a writer knows of a log it has just opened.
struct LoadedLog {
  let statements: WriterStatements
  let tables: [any ProjectionTable]
  let head: GlobalPosition
  let chain: ContentHash
  let state: LedgerState

  init(_ connection: Connection) throws(SQLiteError) {
    statements = try WriterStatements(connection)
    tables = try LoadedLog.tables(connection)
    let last = try connection.prepare(
      "SELECT position, chain FROM events ORDER BY position DESC LIMIT 1"
    ).firstRow { row in (GlobalPosition(row.int(0)), ContentHash(row.bytes(1)) ?? .zero) }
    (head, chain) = last ?? (.start, .zero)
    state = try LogReading.currentState(connection)
  }

  static func tables(_ connection: Connection) throws(SQLiteError) -> [any ProjectionTable] {
    var tables: [any ProjectionTable] = []
    for projection in Projections.all { tables.append(try projection.table(connection)) }
    return tables
  }
}
