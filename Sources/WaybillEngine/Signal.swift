internal import Dispatch
internal import WaybillModel

/// Tells one waiting loop that there is something to look at. Raised many times before the loop
/// looks, it rings once.
final class Signal: Sendable {
  private let bell: AsyncStream<Void>
  private let rope: AsyncStream<Void>.Continuation

  init() {
    (bell, rope) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Wakes the loop, now or at its next wait.
  func raise() { rope.yield() }

  /// Waits until the signal is raised or a moment has come. One caller at a time.
  func wait(until moment: Timestamp, now: Timestamp) async {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    let delay = max(0, moment.milliseconds(since: now))
    timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay)))
    timer.setEventHandler { @Sendable [rope] in rope.yield() }
    timer.resume()
    defer { timer.cancel() }
    for await _ in bell { return }
  }
}
