/// How often each account may do something: a number of times at once, which comes back evenly.
///
/// What is remembered of an account is one moment: when all of its room will be back. An account
/// that has all of it is not remembered, so the table is as large as the number of busy accounts,
/// and never larger than `maximumAccounts`.
package struct RateLimit {
  /// The most accounts remembered at a time.
  package static let maximumAccounts = 4096

  /// How long until one use comes back.
  private let interval: Int64
  private let period: Int64
  private var refilled: [String: Int64] = [:]

  /// - Parameters:
  ///   - count: how many uses there are in a period, from 1.
  ///   - periodMilliseconds: how long all of them take to come back.
  package init(count: Int, periodMilliseconds: Int64) {
    period = periodMilliseconds * 1000
    interval = max(period / Int64(max(count, 1)), 1)
  }

  /// How many accounts are remembered.
  package var accountCount: Int { refilled.count }

  /// Takes one use; the milliseconds until there is one again where there is none, and then nothing
  /// is taken.
  ///
  /// - Parameter now: microseconds of a clock that only goes forward.
  package mutating func take(_ account: String, now: Int64) -> Int64? {
    let known = max(refilled[account] ?? now, now)
    let next = known + interval
    guard next - now <= max(period, interval) else {
      return (next - max(period, interval) - now + 999) / 1000
    }
    if refilled[account] == nil { makeRoom(now: now) }
    refilled[account] = next
    return nil
  }

  /// Forgets the accounts that have all their room back, or else the one that will first.
  private mutating func makeRoom(now: Int64) {
    guard refilled.count >= RateLimit.maximumAccounts else { return }
    refilled = refilled.filter { $0.value > now }
    guard refilled.count >= RateLimit.maximumAccounts,
      let first = refilled.min(by: { $0.value < $1.value })
    else { return }
    refilled[first.key] = nil
  }
}
