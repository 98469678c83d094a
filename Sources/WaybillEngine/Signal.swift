internal import Dispatch
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

  /// Waits until the signal is raised or some time is over. One caller at a time.
  func wait(milliseconds: Int64) async {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    // Rounded up, so that the time is over when the timer rings.
    timer.schedule(deadline: .now() + .milliseconds(Int(clamping: milliseconds + 1)))
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
