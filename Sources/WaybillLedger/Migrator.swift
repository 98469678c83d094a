internal import WaybillSQLite

/// Brings a database to the format this code writes: numbered steps, each run once, in order, in
/// a transaction of its own.
enum Migrator {
  /// The mark of a Waybill ledger in the database header: "WayB".
  static let applicationID: Int64 = 0x5761_7942

  /// The format this code writes: the number of the newest step.
  static var newestVersion: Int64 { Int64(steps.count) }

  private static var steps: [String] { Schema.names(in: "migrations") }

  /// What a database file says it is.
  enum Format: Equatable {
    case empty
    case ledger(version: Int64)
    case foreign
  }

  static func format(of connection: Connection) throws(SQLiteError) -> Format {
    let application = try connection.integer("PRAGMA application_id") ?? 0
    let version = try connection.integer("PRAGMA user_version") ?? 0
    if application == applicationID { return .ledger(version: version) }
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    return application == 0 && version == 0 && tables == 0 ? .empty : .foreign
  }

  /// Runs the steps that are missing.
  static func migrate(_ connection: Connection, from version: Int64) throws(SQLiteError) {
    for (index, step) in steps.enumerated() where Int64(index) >= version {
      try connection.execute("BEGIN IMMEDIATE")
      do throws(SQLiteError) {
        try connection.execute(Schema.text(step))
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(index + 1)")
        try connection.execute("COMMIT")
      } catch {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        throw error
      }
    }
  }
}
