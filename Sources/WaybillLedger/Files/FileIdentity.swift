#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Which file stands at a path, told without opening it: closing a descriptor of an open database
/// would drop SQLite's locks.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// Looks at a path; nil unless a plain file with one name stands there.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      return nil
    }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
