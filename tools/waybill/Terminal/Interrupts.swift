internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Asks to stop that come from outside: Ctrl-C, SIGTERM, and a terminal that went away.
///
/// A command that has something to bring to a safe end listens; without a listener the system
/// ends the program at once. The first asking arrives as an element, the second ends the program
/// with 130.
struct Interrupts {
  /// One element at the first asking. Ends when the value is let go or `stop` is called.
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  /// Starts to listen.
  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    let queue = DispatchQueue(label: "waybill.interrupts")
    let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      // The default action would end the program before the source could fire.
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    // Touched on the queue alone, once they are active.
    nonisolated(unsafe) let held = sources
    for source in held {
      nonisolated(unsafe) let source = source
      source.setEventHandler { @Sendable [continuation] in
        if source.data > 1 { _exit(ExitCode.interrupted.rawValue) }
        continuation.yield()
        for each in held {
          each.setEventHandler { @Sendable in _exit(ExitCode.interrupted.rawValue) }
        }
      }
    }
    continuation.onTermination = { @Sendable _ in
      for source in held { source.cancel() }
      for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    }
    for source in held { source.activate() }
  }

  /// Stops listening: from here on the system ends the program at once.
  func stop() { continuation.finish() }
}
