internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An open file of this process, written to without a buffer.
struct Descriptor: Sendable {
  let number: Int32

  static let standardOutput = Descriptor(number: 1)
  static let standardError = Descriptor(number: 2)

  /// Writes all of `bytes`, however many calls it takes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      #if canImport(Glibc)
        let count = Glibc.write(
          number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      #else
        let count = Darwin.write(
          number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      #endif
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Another process may have made a shared terminal or pipe non-blocking.
        var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
      } else if errno != EINTR {
        throw SystemError.last
      }
    }
  }

  /// Writes all of `text` in UTF-8.
  func write(_ text: String) throws(SystemError) {
    let bytes = [UInt8](text.utf8)
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try write(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Whether a person sits behind it.
  var isTerminal: Bool { isatty(number) == 1 }

  /// Makes sure that 0, 1 and 2 are taken, so that no file of ours opens under such a number and
  /// then receives a message meant for a person. A write to what we put there fails.
  static func reserveStandardNumbers() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
  }
}
