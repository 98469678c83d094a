package import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The files of one ledger and how they are made: one folder 0700, everything in it 0600.
package struct LedgerFiles: Sendable {
  /// The folder, without a slash at its end.
  package let directory: String

  package init(directory: String) {
    var path = directory
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.directory = path
    database = path + "/ledger.sqlite"
    log = path + "/ledger.sqlite-wal"
  }

  // Looked at around every commit, so they are put together once.
  package let database: String
  package let log: String

  package var headMark: String { directory + "/head" }
  package var lease: String { directory + "/lease" }
  package var inbox: String { directory + "/inbox" }
  package var staged: String { directory + "/staged" }
  package var archive: String { directory + "/archive" }
  package var reserve: String { directory + "/reserve" }

  package var setAside: String { directory + "/set-aside" }

  /// Whether a name in the folder is that of a backup, finished or not.
  package static func isBackup(_ name: String) -> Bool {
    name.hasPrefix("backup-v") && (name.hasSuffix(".sqlite") || name.hasSuffix(".unfinished"))
  }

  /// The copy that is made before a ledger leaves a format.
  package func backup(version: Int64) -> String { directory + "/backup-v\(version).sqlite" }

  /// Makes the folders that are missing and refuses those that others could write into.
  func prepare() throws(LedgerError) {
    for folder in [directory, inbox, staged, archive] {
      if mkdir(folder, 0o700) == 0 {
        // The only copy of an archived event lies in one of these, so its name must last.
        if folder == archive { try Self.syncFolder(directory) }
      } else if errno != EEXIST {
        if errno == ENOENT, folder == directory {
          try makeParents()
          continue
        }
        throw Self.failure("make the folder", folder)
      }
      try Self.checkFolder(folder)
    }
  }

  /// The same folder by its path without links: SQLite is told to follow none, not even above it.
  func resolved() throws(LedgerError) -> LedgerFiles {
    guard let path = realpath(directory, nil) else { throw Self.failure("look at", directory) }
    defer { free(path) }
    return LedgerFiles(directory: String(cString: path))
  }

  private func makeParents() throws(LedgerError) {
    var path = directory.hasPrefix("/") ? "" : "."
    for component in directory.split(separator: "/") {
      path += "/" + component
      if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.failure("make the folder", path) }
    }
    try Self.checkFolder(directory)
  }

  private static func checkFolder(_ path: String) throws(LedgerError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw failure("look at", path) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw LedgerError(
        .unusable, "\(path) is not a folder", remedy: "name another place with --ledger")
    }
    guard status.st_uid == geteuid() else {
      throw LedgerError(
        .unusable, "\(path) belongs to another user", remedy: "use a folder of your own")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw LedgerError(
        .unusable, "\(path) can be written by others", remedy: "run: chmod 700 '\(path)'")
    }
    guard access(path, W_OK | X_OK) == 0 else { throw failure("write into", path) }
  }

  /// What stands at the path of the database.
  enum DatabaseFile { case absent, empty, present }

  /// Looks at the database file without opening it: closing a descriptor of an open database
  /// would drop SQLite's locks.
  func databaseFile() throws(LedgerError) -> DatabaseFile {
    var status = stat()
    guard lstat(database, &status) == 0 else {
      if errno == ENOENT { return .absent }
      throw Self.failure("look at", database)
    }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw LedgerError(
        .unusable, "\(database) is not a plain file with one name",
        remedy: "links to a ledger are refused; name the ledger itself")
    }
    return status.st_size == 0 ? .empty : .present
  }

  /// Makes the empty database file, so that SQLite gives its side files the same narrow mode.
  func createDatabase() throws(LedgerError) {
    let descriptor = open(database, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make", database) }
    close(descriptor)
    try Self.syncFolder(directory)
  }

  /// Makes what was created or renamed in a folder durable.
  package static func syncFolder(_ path: String) throws(LedgerError) {
    do throws(SystemError) {
      try Folder.sync(path)
    } catch {
      throw failure("sync the folder", path, error)
    }
  }

  /// The error of a system call, by default of the one that just failed.
  package static func failure(
    _ work: String, _ path: String, _ error: SystemError = .last
  ) -> LedgerError {
    let text = "cannot \(work) \(path): \(error.text)"
    switch error.number {
    case ENOSPC, EDQUOT:
      return LedgerError(.diskFull, text, remedy: "free some space and try again")
    case EIO: return LedgerError(.inputOutput, text, remedy: "check the disk")
    default:
      return LedgerError(.unusable, text, remedy: "check the path, its owner and its mode")
    }
  }
}
