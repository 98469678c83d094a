internal import WaybillSQLite
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Room on the disk that is kept back for what must still be recorded once the disk is full: the
/// file `reserve`, really written, so that no file system only promises it.
///
/// Once it is released, events that may use it are the only ones that are recorded, until there is
/// room to take it again: otherwise the first upload that comes along would use it up.
struct Reserve {
  /// The length of the file.
  static let byteCount = 262_144
  /// It is taken when this much is free, so that taking it does not itself fill the disk: 1 MiB.
  static let comfortableBytes: Int64 = 1_048_576

  private let files: LedgerFiles
  /// Whether nothing is kept back right now.
  private(set) var isReleased: Bool

  /// Looks whether the reserve of a ledger stands, and takes it if there is room.
  init(files: LedgerFiles) {
    self.files = files
    isReleased = Reserve.length(files) != Int64(Reserve.byteCount)
    _ = isAllThatIsLeft()
  }

  /// Whether the disk has no room but for what may use the reserve. Takes the reserve again when
  /// there is more.
  mutating func isAllThatIsLeft() -> Bool {
    guard isReleased else { return false }
    guard freeBytes >= Reserve.comfortableBytes else { return true }
    isReleased = !take()
    return false
  }

  /// Whether there is room for any append.
  var hasRoom: Bool { freeBytes >= Reserve.comfortableBytes }

  /// Gives the room back to the disk.
  mutating func release() {
    if Reserve.release(files) { isReleased = true }
  }

  /// Gives the room of a ledger that is not open back to the disk.
  ///
  /// - Returns: whether there was any.
  static func release(_ files: LedgerFiles) -> Bool {
    length(files) != nil && unlink(files.reserve) == 0
  }

  /// What an append is told that may not use the reserve.
  var error: LedgerError {
    LedgerError(
      .diskFull, "the disk of the ledger is full: less than 1 MiB is free",
      remedy: "free some space; until then only what gives up or corrects is recorded")
  }

  /// Copies the write-ahead log into the database, if there is room for that, so that it begins
  /// again at its front and takes no more room. A copy that failed half way would use up the rest.
  func shorten(_ connection: Connection) {
    guard let pages = try? connection.integer("PRAGMA page_count"),
      let pageSize = try? connection.integer("PRAGMA page_size")
    else { return }
    var database = stat()
    guard lstat(files.database, &database) == 0,
      pages * pageSize - Int64(database.st_size) <= freeBytes
    else { return }
    _ = try? connection.checkpoint(truncate: false)
  }

  private var freeBytes: Int64 {
    var volume = statvfs()
    guard statvfs(files.directory, &volume) == 0 else { return .max }
    return Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
  }

  /// The length of what stands in its place; nil unless that is a plain file.
  private static func length(_ files: LedgerFiles) -> Int64? {
    var status = stat()
    guard lstat(files.reserve, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Writes the file, all of it or none. Noise, because some file systems store no zeros.
  private func take() -> Bool {
    _ = Reserve.release(files)
    let descriptor = open(
      files.reserve, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var random = RandomBits()
    let noise = (0..<Reserve.byteCount / 8).map { _ in random.next() }
    let written = noise.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written == Reserve.byteCount, StableStorage.sync(descriptor) else {
      unlink(files.reserve)
      return false
    }
    return true
  }
}
