#if os(Linux)
  internal import CLinux
  internal import Dispatch
  internal import Glibc

  /// Tells that links, addresses, routes or the power supply of this machine may have changed. It
  /// says that, and not what: whoever hears it looks.
  ///
  /// What comes together is told of once. A system that gives no such socket tells nothing.
  package final class DeviceChanges: Sendable {
    /// The times to look; it ends when this object goes.
    package let signals: AsyncStream<Void>

    private let listener: AsyncStream<Void>.Continuation
    nonisolated(unsafe) private let sources: [any DispatchSourceRead]

    /// Begins to listen.
    package init() {
      let (signals, listener) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      let queue = DispatchQueue(label: "waybill.device-changes")
      self.signals = signals
      self.listener = listener
      sources = [
        DeviceChanges.source(waybill_netlink_listen_routes(), queue, listener) { _ in true },
        DeviceChanges.source(
          waybill_netlink_listen_devices(), queue, listener, DeviceChanges.isOfPower),
      ].compactMap(\.self)
    }

    deinit {
      for source in sources { source.cancel() }
      listener.finish()
    }

    private static func source(
      _ descriptor: Int32, _ queue: DispatchQueue, _ listener: AsyncStream<Void>.Continuation,
      _ counts: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) -> (any DispatchSourceRead)? {
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler { @Sendable in
        if DeviceChanges.drain(descriptor, counts) { listener.yield() }
      }
      source.setCancelHandler { @Sendable in close(descriptor) }
      source.activate()
      return source
    }

    /// How many messages are taken before whoever waits is told; what is left rings again.
    private static let maximumMessages = 64

    /// Takes what was told so far, and says whether any of it counts. What was lost because nobody
    /// took it in time counts too.
    private static func drain(
      _ descriptor: Int32, _ counts: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
      withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 16) { buffer in
        var isTold = false
        for _ in 0..<maximumMessages {
          let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
          if count > 0 {
            let message = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            isTold = isTold || counts(message)
          } else if count < 0, errno == ENOBUFS {
            isTold = true
          } else if count == 0 || errno != EINTR {
            break
          }
        }
        return isTold
      }
    }

    /// Whether a message of the kernel about a device, a run of `KEY=value` with a zero byte behind
    /// each, is about the power supply.
    private static func isOfPower(_ message: UnsafeRawBufferPointer) -> Bool {
      message.split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=power_supply".utf8) }
    }
  }
#endif
