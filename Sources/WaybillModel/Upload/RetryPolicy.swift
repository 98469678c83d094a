/// When the next attempt may begin: exponential backoff with full jitter, as in M. Brooker,
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
public enum RetryPolicy {
  /// Charged failures of one part after which a person is asked.
  public static let maximumAttempts = 8
  /// The shortest pause between two attempts, in milliseconds.
  public static let floorMilliseconds: Int64 = 200
  /// The base of the exponential, in milliseconds.
  public static let baseMilliseconds: Int64 = 500
  /// The longest pause we choose ourselves, in milliseconds: five minutes.
  public static let ceilingMilliseconds: Int64 = 300_000
  /// The longest pause a server may ask for, in milliseconds: one hour.
  public static let serverCeilingMilliseconds: Int64 = 3_600_000
  /// The pause between two looks at a commit that is under way, in milliseconds.
  public static let pollMilliseconds: Int64 = 1000
  /// The pause after a full account, in milliseconds: a slow probe.
  public static let quotaMilliseconds: Int64 = 600_000

  /// The earliest moment of the next attempt.
  ///
  /// - Parameters:
  ///   - setbacks: failures in a row before this one.
  ///   - asked: the pause the server asked for, in milliseconds, where it did.
  ///   - now: the moment of the failure.
  ///   - random: 64 random bits for the jitter.
  public static func notBefore(
    setbacks: Int, asked: Int64?, now: Timestamp, random: UInt64
  ) -> Timestamp {
    if let asked {
      return now.adding(milliseconds: min(max(asked, 1000), serverCeilingMilliseconds))
    }
    let doubled = baseMilliseconds << Int64(min(max(setbacks, 0), 20))
    let span = min(doubled, ceilingMilliseconds)
    let jittered = Int64(random % UInt64(span)) + 1
    return now.adding(milliseconds: max(jittered, floorMilliseconds))
  }

  /// Whether a not-before time still holds something up. One further ahead than any pause may be
  /// was written by a clock that has been set since, and is due.
  public static func isHeld(until moment: Timestamp, now: Timestamp) -> Bool {
    moment > now && moment.milliseconds(since: now) <= serverCeilingMilliseconds
  }
}
