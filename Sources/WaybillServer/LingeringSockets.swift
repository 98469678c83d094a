internal import Dispatch
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Reads what a client is still sending after its request was refused early.
///
/// Closing a socket with unread bytes resets the connection, and the reset may destroy the reply
/// before the client has read it (RFC 9112 section 9.6). So the socket stays open beside the
/// library's, until the client closes or a bound is reached.
final class LingeringSockets: Sendable {
  /// The most sockets that linger at a time; a further one is closed at once.
  private static let maximumSockets = 64
  /// How long each lingers at most.
  private static let maximumMilliseconds = 2000

  private struct State {
    var expected: Set<Int32> = []
    var open = 0
    var isClosed = false
  }

  private let state = Locked(State())

  /// Remembers that the reply on this socket is sent before the body has been read.
  func expect(_ socket: Int32) { state.withLock { _ = $0.expected.insert(socket) } }

  /// Called when the library is about to close a socket.
  func closing(_ socket: Int32) {
    let lingers = state.withLock { state -> Bool in
      guard state.expected.remove(socket) != nil, !state.isClosed,
        state.open < LingeringSockets.maximumSockets
      else { return false }
      state.open += 1
      return true
    }
    guard lingers else { return }
    let kept = dup(socket)
    guard kept >= 0 else {
      state.withLock { $0.open -= 1 }
      return
    }
    drain(OpenFile(kept))
  }

  func close() { state.withLock { $0.isClosed = true } }

  private func drain(_ file: OpenFile) {
    let queue = DispatchQueue(label: "waybill.linger")
    let source = DispatchSource.makeReadSource(fileDescriptor: file.descriptor, queue: queue)
    nonisolated(unsafe) let reading = source
    source.setEventHandler { @Sendable in
      let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
        recv(file.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      }
      if count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) { return }
      reading.cancel()
    }
    source.setCancelHandler { @Sendable in
      // The descriptor must outlive the source that watches it.
      withExtendedLifetime(file) { self.state.withLock { $0.open -= 1 } }
    }
    source.activate()
    let deadline = DispatchTime.now() + .milliseconds(LingeringSockets.maximumMilliseconds)
    queue.asyncAfter(deadline: deadline) { @Sendable in reading.cancel() }
  }
}
