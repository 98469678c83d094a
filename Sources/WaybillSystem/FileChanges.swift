internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Tells that a file may have been written to: soon after each write, and every so often anyway,
/// because a system that runs out of watches tells nothing.
///
/// Writes that come together are told of once, so a slow listener is never behind by more than one.
package final class FileChanges: Sendable {
  /// The times to look; it ends when this object goes.
  package let signals: AsyncStream<Void>

  nonisolated(unsafe) private let timer: any DispatchSourceTimer
  nonisolated(unsafe) private let watch: (any DispatchSourceProtocol)?
  private let listener: AsyncStream<Void>.Continuation

  /// Watches a file, or only looks at the clock when there is none to watch.
  ///
  /// - Parameters:
  ///   - path: the file; a file that takes its place later is not seen.
  ///   - interval: how often the clock tells, in milliseconds.
  package init(path: String?, everyMilliseconds interval: Int) {
    let (signals, listener) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let queue = DispatchQueue(label: "waybill.changes")
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval),
      leeway: .milliseconds(interval / 10))
    timer.setEventHandler { @Sendable in listener.yield() }
    timer.activate()
    self.signals = signals
    self.listener = listener
    self.timer = timer
    watch = path.flatMap { FileChanges.watch($0, queue, listener) }
  }

  deinit {
    timer.cancel()
    watch?.cancel()
    listener.finish()
  }

  #if canImport(Darwin)
    private static func watch(
      _ path: String, _ queue: DispatchQueue, _ listener: AsyncStream<Void>.Continuation
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend], queue: queue)
      source.setEventHandler { @Sendable in listener.yield() }
      source.setCancelHandler { @Sendable in close(descriptor) }
      source.activate()
      return source
    }
  #else
    private static func watch(
      _ path: String, _ queue: DispatchQueue, _ listener: AsyncStream<Void>.Continuation
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler { @Sendable in
        drain(descriptor)
        listener.yield()
      }
      source.setCancelHandler { @Sendable in close(descriptor) }
      source.activate()
      return source
    }

    /// Takes what was told so far; the kernel's queue of it is bounded.
    private static func drain(_ descriptor: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
      }
    }
  #endif
}
