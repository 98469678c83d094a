#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A file descriptor that closes itself.
final class OpenFile: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { _ = close(descriptor) }

  /// Reads until the buffer is full or the file ends; the count read, or nil on an error.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
    var done = 0
    while done < buffer.count, let base = buffer.baseAddress {
      let count = pread(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes the whole buffer at an offset.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    var done = 0
    while done < buffer.count, let base = buffer.baseAddress {
      let count = pwrite(descriptor, base + done, buffer.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw SystemError() }
      done += count
    }
  }

  /// Puts what was written on stable storage.
  func sync() throws(SystemError) {
    #if canImport(Glibc)
      guard fdatasync(descriptor) == 0 else { throw SystemError() }
    #else
      guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw SystemError() }
    #endif
  }
}

/// A failed call of the operating system.
struct SystemError: Error, Sendable {
  let number: Int32

  /// Takes the error number of the call that has just failed on this thread.
  init() { number = errno }

  init(number: Int32) { self.number = number }

  /// What the system calls it.
  var text: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "error \(number)" }
      base[0] = 0
      _ = waybillErrorText(number, base, 256)
      return String(cString: base)
    }
  }

  /// Whether the disk, or the share of it we may use, is full.
  var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }
}

private func waybillErrorText(_ number: Int32, _ base: UnsafeMutablePointer<CChar>, _ count: Int)
  -> Int32
{ strerror_r(number, base, count) }
