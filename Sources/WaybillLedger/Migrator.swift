internal import WaybillSQLite
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Brings a database to the format this code writes: numbered steps, each run once, in order, in
/// a transaction of its own, behind a backup of what was there.
package struct Migrator: Sendable {
  /// The mark of a Waybill ledger in the database header: "WayB".
  static let applicationID: Int64 = 0x5761_7942

  /// The steps of this version.
  package static let standard = Migrator(
    steps: Schema.names(in: "migrations").map { Schema.text($0) })

  /// The SQL of each step; the first makes format 1.
  private let steps: [String]

  /// Makes a migrator of steps.
  package init(steps: [String]) { self.steps = steps }

  /// The same steps and more behind them.
  package func followed(by more: String...) -> Migrator { Migrator(steps: steps + more) }

  /// The format this code writes: the number of the newest step.
  package var newestVersion: Int64 { Int64(steps.count) }

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

  /// Runs the steps that are missing. A ledger of an older format is first copied whole beside
  /// itself; whatever ends this early leaves the format from before or from after a step.
  ///
  /// - Throws: `LedgerError`, `diskFull` also when there is no room for the copy.
  func migrate(
    _ connection: Connection, from version: Int64, _ files: LedgerFiles
  ) throws(LedgerError) {
    guard version < newestVersion else { return }
    if version > 0 { try backUp(files, version: version) }
    do {
      // A new ledger comes to be at once: half made, it would be taken for an old one.
      if version == 0 { return try run(steps.joined(separator: "\n"), connection, to: steps.count) }
      for (index, step) in steps.enumerated() where Int64(index) >= version {
        try run(step, connection, to: index + 1)
      }
    } catch {
      throw LedgerError(error, doing: "bringing \(files.database) to a newer format")
    }
  }

  private func run(
    _ step: String, _ connection: Connection, to version: Int
  ) throws(SQLiteError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      try connection.execute(step)
      try connection.execute("PRAGMA application_id = \(Migrator.applicationID)")
      try connection.execute("PRAGMA user_version = \(version)")
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }

  /// Copies the database, with what is still in its write-ahead log, to `backup-vN.sqlite`.
  ///
  /// The name appears once the copy is whole and on stable storage. One from an earlier try gives
  /// way: it is of the same format, and the log has only grown since.
  private func backUp(_ files: LedgerFiles, version: Int64) throws(LedgerError) {
    let whole = files.backup(version: version)
    let unfinished = whole + ".unfinished"
    unlink(unfinished)
    let descriptor = open(unfinished, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw LedgerFiles.failure("make", unfinished) }
    defer { close(descriptor) }
    do throws(SQLiteError) {
      let source = try Connection(path: files.database, access: .reader)
      try source.copyWhole(into: unfinished)
    } catch {
      unlink(unfinished)
      throw LedgerError(error, doing: "copying \(files.database) to \(whole)")
    }
    guard StableStorage.sync(descriptor), rename(unfinished, whole) == 0 else {
      let failure = LedgerFiles.failure("finish", whole)
      unlink(unfinished)
      throw failure
    }
    try LedgerFiles.syncFolder(files.directory)
  }
}
