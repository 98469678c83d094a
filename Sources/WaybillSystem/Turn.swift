/// Lets one caller at a time go through work that suspends; the others wait in the order in which
/// they came.
package final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Makes a turn that nobody has.
  package init() {}

  /// Waits for the turn. Whoever has taken it gives it back with `give`.
  package func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        defer { state.isTaken = true }
        if state.isTaken { state.waiting.append(continuation) }
        return !state.isTaken
      }
      if isFree { continuation.resume() }
    }
  }

  /// Gives the turn to the next one.
  package func give() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.isTaken = false
        return nil as CheckedContinuation<Void, Never>?
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
