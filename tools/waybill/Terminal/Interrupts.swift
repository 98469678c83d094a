internal import Dispatch
internal import WaybillSystem

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
///
/// A handler and a pipe, because Dispatch's signal source loses signals on Linux: it raises them
/// again in the thread that got them, while only another thread reads its signalfd.
enum Interrupts {
  /// Listens from now to the end of the program; call it once.
  ///
  /// - Returns: a stream of one element, the first asking. It never ends by itself.
  static func listen() throws(Failure) -> AsyncStream<Void> {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw Failure(
        .failed, "cannot listen for Ctrl-C: \(SystemError.last.text)",
        remedy: "Close some files or raise the limit (ulimit -n), then run it again.")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let (stream, asked) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let source = DispatchSource.makeReadSource(
      fileDescriptor: ends[0], queue: DispatchQueue(label: "waybill.interrupts"))
    nonisolated(unsafe) let held = source
    source.setEventHandler { @Sendable in
      asked.yield()
      held.cancel()
    }
    source.activate()
    writeEnd = ends[1]
    signal(SIGINT, tellOnce)
    signal(SIGTERM, tellOnce)
    signal(SIGHUP, tellOnce)
    return stream
  }
}

/// Where the handler writes. A handler is given nothing but a number, so this has to be global;
/// it is set once, before the handler is installed.
nonisolated(unsafe) private var writeEnd: Int32 = -1

// Both run between any two instructions of the program: only async-signal-safe calls here
// (signal-safety(7)).

private func tellOnce(_ number: Int32) {
  signal(SIGINT, endAtOnce)
  signal(SIGTERM, endAtOnce)
  signal(SIGHUP, endAtOnce)
  let saved = errno
  var byte: UInt8 = 1
  _ = write(writeEnd, &byte, 1)
  errno = saved
}

private func endAtOnce(_ number: Int32) { _exit(130) }
