#if os(Linux)
  internal import Dispatch
  internal import Glibc
  internal import WaybillSystem

  /// One end of a Unix socket that carries messages, both ways and in order.
  ///
  /// Bounded: it reads no further while `maximumWaiting` messages wait to be taken, and ends where
  /// more than `maximumUnsentBytes` wait for a peer that does not read.
  final class MessageChannel: Sendable {
    /// The most messages that wait to be taken.
    static let maximumWaiting = 32
    /// The most bytes that wait to be sent.
    static let maximumUnsentBytes = 8 << 20
    /// How long the peer may take none of what is sent, in seconds.
    static let sendSeconds = 10

    private struct State {
      var frames = MessageFrames()
      var messages: [[UInt8]] = []
      var reader: CheckedContinuation<[UInt8]?, Never>?
      var unsentBytes = 0
      var isPaused = false
      var isClosed = false
      var hasReceived = false
    }

    private let descriptor: Int32
    private let state = Locked(State())
    private let sending = DispatchQueue(label: "waybill.agent.send")
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// Takes over a connected socket.
    init(descriptor: Int32) {
      self.descriptor = descriptor
      var limit = timeval(tv_sec: MessageChannel.sendSeconds, tv_usec: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor, queue: DispatchQueue(label: "waybill.agent.receive"))
      let sending = sending
      // Behind everything that may still write to it.
      source.setCancelHandler { @Sendable in sending.async { Glibc.close(descriptor) } }
      source.setEventHandler { @Sendable [weak self] in self?.receive() }
      source.activate()
    }

    deinit { close() }

    /// Bytes that wait for the peer to read.
    var unsentBytes: Int { state.withLock { $0.unsentBytes } }

    /// Sends a message after those before it; a closed channel drops it.
    func send(_ message: [UInt8]) {
      guard let bytes = MessageFrames.encode(message) else { return close() }
      let isFull = state.withLock { state in
        guard !state.isClosed else { return false }
        state.unsentBytes += bytes.count
        guard state.unsentBytes <= MessageChannel.maximumUnsentBytes else { return true }
        sending.async { [self] in write(bytes) }
        return false
      }
      if isFull { close() }
    }

    /// The next message; nil when the channel has ended. One caller at a time.
    func next() async -> [UInt8]? {
      await withCheckedContinuation { reader in
        let answer = state.withLock { state -> [UInt8]?? in
          if !state.messages.isEmpty {
            let message = state.messages.removeFirst()
            if state.isPaused, state.messages.isEmpty {
              state.isPaused = false
              source.resume()
            }
            return message
          }
          if state.isClosed { return .some(nil) }
          precondition(state.reader == nil, "a channel's messages have one reader, not two")
          state.reader = reader
          return nil
        }
        if let answer { reader.resume(returning: answer) }
      }
    }

    /// Ends the channel if the peer has not said anything by then.
    func expectMessage(withinSeconds seconds: Int) {
      sending.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
        guard let self, !self.state.withLock({ $0.hasReceived }) else { return }
        self.close()
      }
    }

    /// Returns when everything sent so far is in the kernel's hands or cannot get there.
    func flush() async {
      await withCheckedContinuation { waiter in sending.async { waiter.resume() } }
    }

    /// Ends both directions; what waits to be taken can still be taken.
    func close() {
      let reader = state.withLock { state -> CheckedContinuation<[UInt8]?, Never>? in
        guard !state.isClosed else { return nil }
        state.isClosed = true
        shutdown(descriptor, Int32(SHUT_RDWR))
        // A suspended source never gets to its cancel handler.
        if state.isPaused { source.resume() }
        source.cancel()
        defer { state.reader = nil }
        return state.reader
      }
      reader?.resume(returning: nil)
    }

    private func write(_ bytes: [UInt8]) {
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          Glibc.send(
            descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return close() }
        sent += count
      }
      state.withLock { $0.unsentBytes -= bytes.count }
    }

    /// Reads once; called again as long as there is more.
    private func receive() {
      let isSound = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        guard count > 0 else { return false }
        return take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
      if !isSound { close() }
    }

    /// Hands on what is whole; false when it is no message of ours.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
      var handover: (CheckedContinuation<[UInt8]?, Never>, [UInt8])?
      let isSound = state.withLock { state in
        guard !state.isClosed else { return true }
        state.frames.take(bytes)
        do throws(MessageFrames.Damaged) {
          while let message = try state.frames.next() {
            state.hasReceived = true
            state.messages.append(message)
          }
        } catch { return false }
        if let reader = state.reader, !state.messages.isEmpty {
          state.reader = nil
          handover = (reader, state.messages.removeFirst())
        }
        if state.messages.count >= MessageChannel.maximumWaiting, !state.isPaused {
          state.isPaused = true
          source.suspend()
        }
        return true
      }
      if let (reader, message) = handover { reader.resume(returning: message) }
      return isSound
    }
  }
#endif
