internal import Dispatch
internal import WaybillSystem

/// Work that waits for its time. What still waits at the end is told that it is not wanted.
final class LateWork: Sendable {
  typealias Work = @Sendable (_ isWanted: Bool) -> Void

  private struct State {
    var next = 0
    var waiting: [Int: Work] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Does some work later, or now when there is nothing to wait for. False, and never done, when
  /// no more is taken.
  func submit(after milliseconds: Int, _ work: @escaping Work) -> Bool {
    let ticket = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.next += 1
      if milliseconds > 0 { state.waiting[state.next] = work }
      return state.next
    }
    guard let ticket else { return false }
    guard milliseconds > 0 else {
      work(true)
      return true
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      @Sendable [self] in
      state.withLock { $0.waiting.removeValue(forKey: ticket) }?(true)
    }
    return true
  }

  /// Takes no more, and ends what waits.
  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for work in waiting { work(false) }
  }
}
