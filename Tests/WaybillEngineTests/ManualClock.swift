import WaybillSystem

/// A clock that moves when a test moves it.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var next = 0
    var sleepers: [Int: (deadline: Instant, wake: CheckedContinuation<Void, Never>)] = [:]
    var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())
  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }
  /// How many tasks sleep by this clock.
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { wake in
        let isOver = state.withLock { state in
          if Task.isCancelled || deadline <= state.now { return true }
          state.sleepers[number] = (deadline, wake)
          return false
        }
        if isOver { wake.resume() }
        tellWatchers()
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.wake.resume()
      tellWatchers()
    }
    try Task.checkCancellation()
  }

  /// Moves the clock and wakes whoever slept until then.
  func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.wake)
    }
    for wake in woken { wake.resume() }
  }

  /// Waits until so many tasks sleep by this clock.
  func sleepers(_ count: Int) async {
    await withCheckedContinuation { wake in
      state.withLock { $0.watchers.append((count, wake)) }
      tellWatchers()
    }
  }

  private func tellWatchers() {
    let told = state.withLock { state in
      let told = state.watchers.filter { $0.count == state.sleepers.count }
      state.watchers.removeAll { $0.count == state.sleepers.count }
      return told.map(\.wake)
    }
    for wake in told { wake.resume() }
  }
}

/// A clock by which nobody sleeps: whatever there is to see is seen as soon as it can be.
struct HastyClock: Clock {
  var now: ContinuousClock.Instant { .now }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    await Task.yield()
  }
}
