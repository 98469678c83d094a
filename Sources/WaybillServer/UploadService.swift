internal import WaybillModel
internal import WaybillSQLite
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What the server does, without HTTP: sessions, parts, commits and photos of each account.
///
/// The order that a crash at any moment leaves consistent: bytes are synced, then the row that
/// counts them is committed; rows are gone, then their file is removed. What a crash leaves in
/// between is a file without a row, and `recover` sweeps those.
final class UploadService: Sendable {
  /// The most sessions one account may have open.
  static let maximumOpenSessions: Int64 = 10_000
  /// Ended sessions and their keys are remembered for 30 days.
  static let memoryMilliseconds: Int64 = 30 * 86_400_000

  let files: ObjectFiles
  let claims = Claims()
  let partSizeBytes: Int64
  let maximumByteCount: Int64
  let sessionLifetimeSeconds: Int64
  let quotaBytes: Int64?
  // Both nil once the service is closed: that lets go of the files and of the lease.
  private let directory: Locked<DataDirectory?>
  private let database: Locked<Store?>
  private let stopping = Locked(false)
  private let commitCount = Locked(0)

  init(_ options: ServerOptions) throws(ServerError) {
    let folder = try DataDirectory(options.dataDirectory)
    directory = Locked(folder)
    files = folder.files
    partSizeBytes = options.partSizeBytes
    maximumByteCount = options.maximumByteCount
    sessionLifetimeSeconds = options.sessionLifetimeSeconds
    quotaBytes = options.quotaBytes
    database = Locked(try Store(path: folder.databasePath))
    do {
      try recover()
    } catch {
      throw ServerError(.database, "the data directory cannot be read back: \(error.detail)")
    }
  }

  // MARK: Shared by the calls

  static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  static func newID(_ prefix: String) -> String {
    let digits =
      String(UInt64.random(in: .min ... .max), radix: 16)
      + String(UInt64.random(in: .min ... .max), radix: 16)
    return prefix + String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  func read<T>(_ body: (Store) throws(SQLiteError) -> T) throws(Problem) -> T {
    do {
      return try database.withLock { (store) throws(SQLiteError) in
        guard let store else { throw UploadService.closed }
        return try body(store)
      }
    } catch {
      throw UploadService.problem(error)
    }
  }

  func write<T>(_ body: (Store) throws(SQLiteError) -> T) throws(Problem) -> T {
    do {
      return try database.withLock { (store) throws(SQLiteError) in
        guard let store else { throw UploadService.closed }
        return try store.write { () throws(SQLiteError) in try body(store) }
      }
    } catch {
      throw UploadService.problem(error)
    }
  }

  private static let closed = SQLiteError(code: .cannotOpen, message: "the server has stopped")

  private static func problem(_ error: SQLiteError) -> Problem {
    error.code.primary == .full
      ? Problem(.storageFull, "The server has no room for its rows. Try again later.")
      : Problem(.serverError, "The server could not use its database. Try again later.")
  }

  /// The session, if it is this account's and still alive: 404 for unknown and foreign alike,
  /// 410 for one that is known to have expired, which then holds no bytes any more.
  func liveSession(_ id: String, _ account: Account) throws(Problem) -> Session {
    let found = try read { (store) throws(SQLiteError) in
      try store.session(uploadID: id, account: account)
    }
    if let found, found.state == .open, found.hasExpired(at: UploadService.now()) {
      try expireOverdueSessions(limit: 8)
    }
    return try UploadService.alive(found)
  }

  static func alive(_ session: Session?) throws(Problem) -> Session {
    guard let session else { throw Problem(.notFound, "There is no such upload. Open a new one.") }
    guard !session.hasExpired(at: now()) else {
      throw Problem(.sessionExpired, "The upload has expired. Open a new one.")
    }
    return session
  }

  var isStopping: Bool { stopping.withLock { $0 } }

  func countCommit() { commitCount.withLock { $0 += 1 } }

  /// Photos bound since the start.
  var commits: Int { commitCount.withLock { $0 } }

  func photoCount() -> Int {
    (try? read { (store) throws(SQLiteError) in Int(try store.photoCount()) }) ?? 0
  }

  // MARK: Start and stop

  /// Makes rows and files agree after whatever ended the last run.
  private func recover() throws(Problem) {
    while try expireOverdueSessions(limit: 256) == 256 {}
    let holding = try read { (store) throws(SQLiteError) in try store.sessionsWithParts() }
    let broken = holding.filter { files.byteCount($0.uploadID) != $0.bytes }
    let names = try write { (store) throws(SQLiteError) in
      // A file that a disk fault took: what the client was told of it no longer holds.
      for session in broken { try store.deleteParts(session: session.row) }
      return try store.namedFiles()
    }
    files.sweep(keeping: names)
  }

  /// Ends sessions whose time is over and removes their bytes.
  @discardableResult
  func expireOverdueSessions(limit: Int) throws(Problem) -> Int {
    let now = UploadService.now()
    // Looked at first: a transaction that finds nothing would cost every opening a sync.
    let isAnyOverdue = try read { (store) throws(SQLiteError) in
      try !store.overdueSessions(at: now, limit: 1).isEmpty
    }
    guard isAnyOverdue else { return 0 }
    // Chosen and ended in one transaction: a commit may have come between.
    let overdue = try write { (store) throws(SQLiteError) in
      let overdue = try store.overdueSessions(at: now, limit: limit)
      for session in overdue { try store.markExpired(session: session.row) }
      return overdue
    }
    for session in overdue { files.remove(session.uploadID) }
    return overdue.count
  }

  /// Ends what is overdue and forgets what ended long ago, in portions.
  func sweep() {
    while !isStopping, (try? expireOverdueSessions(limit: 256)) == 256 {}
    let horizon = UploadService.now().adding(milliseconds: -UploadService.memoryMilliseconds)
    _ = try? write { (store) throws(SQLiteError) in
      try store.deleteSomeSessions(endedBefore: horizon)
    }
  }

  /// Makes long work end early; new work is refused by the caller.
  func beginStopping() { stopping.withLock { $0 = true } }

  /// Empties the write-ahead log into the database and lets go of the data directory.
  func close() {
    database.withLock { store in
      store?.checkpoint()
      store = nil
    }
    directory.withLock { $0 = nil }
  }
}
