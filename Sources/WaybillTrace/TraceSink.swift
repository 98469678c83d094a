internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Where a trace goes, piece by piece.
package struct TraceSink {
  /// Takes all of the bytes, or throws.
  let write: (UnsafeRawBufferPointer) throws(TraceError) -> Void

  /// A sink that hands the bytes to a function.
  package init(_ write: @escaping (UnsafeRawBufferPointer) throws(TraceError) -> Void) {
    self.write = write
  }

  /// A file, a pipe or a socket that is open for writing; whoever opened it closes it.
  package static func descriptor(_ number: Int32) -> TraceSink {
    TraceSink { bytes throws(TraceError) in
      var rest = bytes
      while !rest.isEmpty {
        let count = systemWrite(number, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          wait(number, Int16(POLLOUT))
        } else if errno != EINTR {
          throw TraceError(.last, doing: "write the trace")
        }
      }
    }
  }
}

/// Where a trace comes from, piece by piece.
package struct TraceSource {
  /// Fills the front of the buffer and gives the count of bytes; 0 at the end.
  let read: (UnsafeMutableRawBufferPointer) throws(TraceError) -> Int

  /// A source that asks a function; it gives at most as many bytes as the buffer holds.
  package init(_ read: @escaping (UnsafeMutableRawBufferPointer) throws(TraceError) -> Int) {
    self.read = read
  }

  /// A file, a pipe or a socket that is open for reading; whoever opened it closes it.
  package static func descriptor(_ number: Int32) -> TraceSource {
    TraceSource { buffer throws(TraceError) in
      while true {
        let count = systemRead(number, buffer.baseAddress, buffer.count)
        if count >= 0 { return count }
        if errno == EAGAIN {
          wait(number, Int16(POLLIN))
        } else if errno != EINTR {
          throw TraceError(.last, doing: "read the trace")
        }
      }
    }
  }

  /// Bytes in memory.
  package static func bytes(_ bytes: [UInt8]) -> TraceSource {
    var at = 0
    return TraceSource { buffer throws(TraceError) in
      let count = min(buffer.count, bytes.count - at)
      bytes.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[at..<(at + count)])) }
      at += count
      return count
    }
  }
}

private let systemRead = read
private let systemWrite = write

/// Waits until a descriptor that another process made non-blocking is ready.
private func wait(_ descriptor: Int32, _ events: Int16) {
  var ready = pollfd(fd: descriptor, events: events, revents: 0)
  _ = poll(&ready, 1, -1)
}
