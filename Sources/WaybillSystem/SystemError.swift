#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A failed call of the operating system.
package struct SystemError: Error, Hashable, Sendable {
  /// The `errno`.
  package let number: Int32

  /// Makes the error of a known number.
  package init(number: Int32) { self.number = number }

  /// Nobody reads the other end any more.
  package static let brokenPipe = SystemError(number: EPIPE)

  /// The error of the call that has just failed on this thread.
  package static var last: SystemError { SystemError(number: errno) }

  /// What the system calls it, such as `No such file or directory`.
  package var text: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
        return "error \(number)"
      }
      return String(cString: start)
    }
  }

  /// Whether the disk, or the share of it we may use, is full.
  package var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }
}
