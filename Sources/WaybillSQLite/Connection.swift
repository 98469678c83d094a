internal import CSQLite

/// One SQLite connection with every setting this house depends on made explicit.
///
/// Not `Sendable`: a connection belongs to the one queue or lock that opened it. Defaults differ
/// between Debian's and Apple's builds of SQLite, so nothing is left to them.
package final class Connection {
  /// How a database file is opened.
  package enum Access: Sendable {
    /// Appends and checkpoints; the file must exist already (its mode is the caller's care).
    case writer
    /// Reads while another connection may write; never checkpoints, not even at close.
    case reader
    /// Reads a file on a medium nobody can write; no locks, no `-wal`, no `-shm`.
    case immutable
  }

  /// How far a commit reaches before it returns (sqlite.org/pragma.html#pragma_synchronous).
  package enum Synchronous: Int32, Sendable {
    /// Rides along: in the write-ahead log, on stable storage with the next full commit.
    case normal = 1
    /// On stable storage before the commit returns.
    case full = 2
  }

  private let handle: OpaquePointer
  private var synchronous: Synchronous?
  private let isWriter: Bool

  /// Opens `path`, refusing symbolic links, and applies the house's settings.
  package init(path: String, access: Access, busyTimeoutMilliseconds: Int32 = 5000)
    throws(SQLiteError)
  {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    var name = path
    switch access {
    case .writer: flags |= SQLITE_OPEN_READWRITE
    case .reader: flags |= SQLITE_OPEN_READWRITE
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:\(Connection.percentEncoded(path))?immutable=1"
    }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw SQLiteError(code: ResultCode(rawValue: code), message: message)
    }
    handle = opened
    isWriter = access == .writer
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    if !isWriter { _ = waybill_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    try execute(isWriter ? Connection.writerSettings : Connection.readerSettings)
  }

  deinit { sqlite3_close_v2(handle) }

  private static let sharedSettings = """
    PRAGMA foreign_keys = ON;
    PRAGMA recursive_triggers = ON;
    PRAGMA cell_size_check = ON;
    PRAGMA mmap_size = 0;
    PRAGMA temp_store = MEMORY;
    """

  private static let writerSettings =
    sharedSettings + """
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA checkpoint_fullfsync = ON;
      PRAGMA secure_delete = ON;
      PRAGMA journal_size_limit = 4194304;
      """

  private static let readerSettings =
    sharedSettings + """
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA query_only = ON;
      """

  private static func percentEncoded(_ path: String) -> String {
    var out = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hex = String(byte, radix: 16, uppercase: true)
        out += hex.utf8.count == 1 ? "%0\(hex)" : "%\(hex)"
      }
    }
    return out
  }

  // MARK: Statements

  /// Prepares one statement for many uses.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw error(code, sql: sql) }
    return Statement(handle: prepared, connection: self)
  }

  /// Runs one or more statements whose rows, if any, nobody wants.
  package func execute(_ sql: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code, sql: sql) }
  }

  /// The integer in the first column of the first row, for pragmas and counts.
  package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    try prepare(sql).firstRow { $0.optionalInt(0) } ?? nil
  }

  // MARK: Transactions

  /// Sets how far the next commits reach; outside a transaction only.
  package func setSynchronous(_ level: Synchronous) throws(SQLiteError) {
    guard level != synchronous else { return }
    try execute("PRAGMA synchronous = \(level.rawValue)")
    synchronous = level
  }

  /// Whether a transaction is open on this connection.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The rowid the last successful insert gave.
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Rows changed by the last insert, update or delete.
  package var changedRows: Int { Int(sqlite3_changes(handle)) }

  /// Copies the write-ahead log into the database; the log file is cut to nothing by `truncate`.
  ///
  /// - Returns: frames in the log and frames copied; fewer copied than logged means that a reader
  ///   still needs the rest.
  @discardableResult
  package func checkpoint(truncate: Bool) throws(SQLiteError) -> (logged: Int, copied: Int) {
    var logged: Int32 = 0
    var copied: Int32 = 0
    let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logged, &copied)
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw error(code, sql: nil) }
    return (Int(logged), Int(copied))
  }

  /// Leaves the write-ahead log where it is when this connection closes: whoever has exchanged the
  /// database may have put a log of its own there.
  package func leaveLogAtClose() {
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }

  /// Takes a table and its indexes out of the schema without touching their pages.
  package func strikeTable(_ name: String) throws(SQLiteError) {
    _ = waybill_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    defer { _ = waybill_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1) }
    try execute(
      """
      PRAGMA writable_schema = ON;
      DELETE FROM sqlite_schema WHERE tbl_name = '\(name)';
      PRAGMA writable_schema = RESET;
      """)
  }

  /// Copies the database as it is now, write-ahead log included, into an empty file of its own.
  package func copyWhole(into path: String) throws(SQLiteError) {
    // It changes nothing in this database, and yet counts as writing.
    try execute("PRAGMA query_only = OFF")
    defer { if !isWriter { try? execute("PRAGMA query_only = ON") } }
    let statement = try prepare("VACUUM INTO ?")
    statement.bind(1, path)
    try statement.run()
  }

  /// The version of the SQLite library in this process, such as "3.40.1".
  package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  func error(_ code: Int32, sql: String?) -> SQLiteError {
    SQLiteError(
      code: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(handle)), sql: sql)
  }
}
