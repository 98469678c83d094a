internal import Dispatch
internal import WaybillModel
internal import WaybillSystem

/// What each account may do how often: requests of every kind, and openings, which are also
/// questions whether bytes are known.
final class RateLimits: Sendable {
  private struct State {
    var requests: RateLimit?
    var openings: RateLimit?
  }

  private let state: Locked<State>

  init(_ options: ServerOptions) {
    state = Locked(
      State(
        requests: options.requestsPerMinute.map {
          RateLimit(count: $0, periodMilliseconds: 60_000)
        },
        openings: options.openingsPerHour.map {
          RateLimit(count: $0, periodMilliseconds: 3_600_000)
        }))
  }

  /// Counts a request, and refuses one too many. A refused one is not counted: who waits as long as
  /// told gets through.
  func take(_ endpoint: ServerEndpoint, account: Account) throws(Problem) {
    let now = Int64(DispatchTime.now().uptimeNanoseconds / 1000)
    let wait = state.withLock { state -> Int64? in
      if let wait = state.requests?.take(account.name, now: now) { return wait }
      guard endpoint == .open else { return nil }
      return state.openings?.take(account.name, now: now)
    }
    guard let wait else { return }
    var problem = Problem(
      .tooManyRequests, "The account has asked too often. Ask again after the time given.")
    problem.headers = [.init("Retry-After", String(max((wait + 999) / 1000, 1)))]
    throw problem
  }
}
