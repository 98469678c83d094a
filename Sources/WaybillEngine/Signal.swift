internal import Dispatch
internal import WaybillModel
internal import WaybillSystem

/// Tells one waiting loop that there is something to look at. Raised many times before the loop
/// looks, it rings once. Cancelling whoever waits does not wake it: the loop decides how it ends.
final class Signal: Sendable {
  private struct State {
    var isRaised = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// Wakes the loop, now or at its next wait.
  func raise() {
    let waiter = state.withLock { state in
      state.isRaised = state.waiter == nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Waits until the signal is raised or a moment has come. One caller at a time.
  func wait(until moment: Timestamp, now: Timestamp) async {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    // Rounded up, so that the moment has come when the timer rings.
    let delay = max(0, moment.milliseconds(since: now)) + 1
    timer.schedule(deadline: .now() + .milliseconds(Int(clamping: delay)))
    timer.setEventHandler { @Sendable [self] in raise() }
    timer.resume()
    await withCheckedContinuation { waiter in
      let isRaised = state.withLock { state in
        defer { state.isRaised = false }
        if !state.isRaised { state.waiter = waiter }
        return state.isRaised
      }
      if isRaised { waiter.resume() }
    }
    timer.cancel()
  }
}
