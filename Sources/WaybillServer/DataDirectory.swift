internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The folder of one server, held by one process at a time: `server.sqlite`, `files/`, `lease`.
final class DataDirectory: Sendable {
  let databasePath: String
  let files: ObjectFiles
  // Keeps the lease for as long as this object lives.
  private let lease: OpenFile

  /// Makes what is missing and takes the lease.
  init(_ path: String) throws(ServerError) {
    try DataDirectory.makePrivateFolder(path)
    try DataDirectory.makePrivateFolder(path + "/files")
    lease = try DataDirectory.takeLease(path)
    databasePath = path + "/server.sqlite"
    files = ObjectFiles(folder: path + "/files")
    try DataDirectory.makePrivateFile(databasePath)
    do {
      try Folder.sync(path)
    } catch {
      throw ServerError(.directory, "the data directory \(path) cannot be synced: \(error.text)")
    }
  }

  private static func makePrivateFolder(_ path: String) throws(ServerError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw ServerError(
        .directory,
        "the folder \(path) cannot be made: \(SystemError.last.text); make its parent first")
    }
    var facts = stat()
    guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
      throw ServerError(.directory, "\(path) is no folder: name another data directory")
    }
    guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
      throw ServerError(
        .directory, "the folder \(path) is open to others: make it yours and run chmod 700 on it")
    }
  }

  /// SQLite gives `-wal` and `-shm` the mode of the database, so that one must come first.
  private static func makePrivateFile(_ path: String) throws(ServerError) {
    let made = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard made >= 0 else {
      throw ServerError(.database, "\(path) cannot be opened: \(SystemError.last.text)")
    }
    let file = OpenFile(made)
    var facts = stat()
    guard fstat(file.descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
      facts.st_mode & 0o077 == 0
    else {
      throw ServerError(.database, "\(path) is open to others: run chmod 600 on it")
    }
  }

  private static func takeLease(_ folder: String) throws(ServerError) -> OpenFile {
    let path = folder + "/lease"
    let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ServerError(.directory, "\(path) cannot be opened: \(SystemError.last.text)")
    }
    let file = OpenFile(descriptor)
    guard takeLock(descriptor) else {
      throw ServerError(
        .inUse, "another server runs on \(folder): stop it, or name another data directory")
    }
    return file
  }

  /// Waits for the lock for at most a second: a server that has just ended may have a child on its
  /// way to another program, which holds the lock until it is there.
  private static func takeLock(_ descriptor: Int32) -> Bool {
    for _ in 0..<20 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      usleep(50_000)
    }
    return false
  }
}
