internal import WaybillModel
internal import WaybillSQLite

/// The rows of the server: one connection, used by one thread at a time.
///
/// Every call but the constructor belongs inside `write` or stands for one read. Accounts never
/// see each other: each query that a client can reach names the account.
final class Store {
  /// The version of `schema/server/v001.sql`.
  static let schemaVersion: Int64 = 1
  private static let writesBetweenCheckpoints = 256

  private let path: String
  private var connection: Connection
  private var prepared: [String: Statement] = [:]
  private var writesSinceCheckpoint = 0

  /// Opens the database and gives an empty one its tables.
  init(path: String) throws(ServerError) {
    self.path = path
    do {
      connection = try Connection(path: path, access: .writer)
      let version = try connection.integer("PRAGMA user_version") ?? 0
      guard version <= Store.schemaVersion else {
        throw ServerError(
          .newerFormat,
          "\(path) has format \(version), this server knows \(Store.schemaVersion): update it")
      }
      if version == 0 {
        try connection.execute("BEGIN IMMEDIATE;\(Schema.text("server/v001.sql"))COMMIT;")
      }
      try connection.checkpoint(truncate: true)
    } catch let error as ServerError {
      throw error
    } catch {
      throw ServerError(
        .database, "\(path) cannot be used: \(error); nothing was changed, look after the file")
    }
  }

  // MARK: Statements

  /// The prepared form of a statement; there are only as many as this source spells out.
  func statement(_ sql: String) throws(SQLiteError) -> Statement {
    if let known = prepared[sql] { return known }
    let made = try connection.prepare(sql)
    prepared[sql] = made
    return made
  }

  /// Every row a statement gives, each as `read` makes it, up to `limit`.
  func rows<T>(
    of statement: Statement, limit: Int, _ read: (borrowing Row) -> T
  ) throws(SQLiteError) -> [T] {
    var values: [T] = []
    try statement.forEachRow { row in
      values.append(read(row))
      return values.count < limit
    }
    return values
  }

  var lastInsertedRow: Int64 { connection.lastInsertedRow }
  var changedRows: Int { connection.changedRows }

  // MARK: Transactions

  /// Runs `body` in one transaction that is on stable storage when this returns.
  func write<T>(_ body: () throws(SQLiteError) -> T) throws(SQLiteError) -> T {
    try statement("BEGIN IMMEDIATE").run()
    let value: T
    do {
      value = try body()
    } catch {
      try? statement("ROLLBACK").run()
      throw error
    }
    do {
      try statement("COMMIT").run()
    } catch {
      // A failed commit may have happened. Only a new look at the file tells.
      try reopen()
      throw error
    }
    writesSinceCheckpoint += 1
    if writesSinceCheckpoint >= Store.writesBetweenCheckpoints { checkpoint() }
    return value
  }

  private func reopen() throws(SQLiteError) {
    prepared = [:]
    connection = try Connection(path: path, access: .writer)
  }

  /// Copies the log into the database; a failure costs nothing but a longer log.
  func checkpoint() {
    writesSinceCheckpoint = 0
    _ = try? connection.checkpoint(truncate: true)
  }
}
