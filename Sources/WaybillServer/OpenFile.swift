internal import WaybillSystem

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
      if count < 0 { throw .last }
      done += count
    }
  }

  /// Puts what was written on stable storage.
  func sync() throws(SystemError) {
    #if canImport(Glibc)
      guard fdatasync(descriptor) == 0 else { throw .last }
    #else
      guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw .last }
    #endif
  }
}
