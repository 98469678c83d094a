/// When the next attempt may begin: exponential backoff with full jitter, as in M. Brooker,
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
public enum RetryPolicy {
  /// Charged failures of one part after which a person is asked.
  public static let maximumAttempts = 8
  /// Failures of one upload in a row that lie with the server, after which a person is asked: a
  /// quarter of an hour of tries, 40 minutes of looking at a commit under way, or two hours and a
  /// half of looking for room in a full account. A server that names its pauses stretches that.
  public static let maximumDelays = 16
  /// The shortest pause between two attempts, in milliseconds.
  public static let floorMilliseconds: Int64 = 200
  /// The base of the exponential, in milliseconds.
  public static let baseMilliseconds: Int64 = 500
  /// The longest pause we choose ourselves, in milliseconds: five minutes.
  public static let ceilingMilliseconds: Int64 = 300_000
  /// The longest pause a server may ask for, in milliseconds: one hour.
  public static let serverCeilingMilliseconds: Int64 = 3_600_000
  /// The first pause before a look at a commit that is under way, in milliseconds; it doubles with
  /// each.
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

  /// The earliest moment of the next look at a commit that is under way: nothing has failed, so
  /// chance has no part in it.
  ///
  /// - Parameters:
  ///   - looks: how many came to nothing in a row before this one.
  ///   - asked: the pause the server asked for, in milliseconds, where it did.
  ///   - now: the moment of this one.
  public static func nextLook(after looks: Int, asked: Int64?, now: Timestamp) -> Timestamp {
    if let asked {
      return now.adding(milliseconds: min(max(asked, 1000), serverCeilingMilliseconds))
    }
    let doubled = pollMilliseconds << Int64(min(max(looks, 0), 20))
    return now.adding(milliseconds: min(doubled, ceilingMilliseconds))
  }

  /// Whether a not-before time still holds something up. One further ahead than any pause may be
  /// was written by a clock that has been set since, and is due.
  public static func isHeld(until moment: Timestamp, now: Timestamp) -> Bool {
    moment > now && moment.milliseconds(since: now) <= serverCeilingMilliseconds
  }
}

extension FailureKind {
  /// Whether the server asked for time or room, or has to be asked first: nothing is wrong with
  /// the upload, but it cannot go on like that for ever.
  public var isPostponement: Bool {
    switch self {
    case .throttled, .quota, .inProgress, .offsetMoved: true
    default: false
    }
  }

  /// How many failures of the kind in a row make a person be asked; nil for what is nobody's fault
  /// and takes as long as it takes.
  ///
  /// A part counts by itself what it is charged for and what it is asked to wait for.
  public var maximumInARow: Int? {
    switch self {
    case .offline, .credentials, .stopped: nil
    case .throttled, .quota, .inProgress, .offsetMoved: RetryPolicy.maximumDelays
    case .interrupted, .serverUnavailable, .sessionUnknown, .digestMismatch, .protocolViolation,
      .notOurServer, .refused, .sourceUnreadable:
      RetryPolicy.maximumAttempts
    }
  }

  /// The same for a step other than sending: a call costs little, so that a server in trouble gets
  /// more time than it gets for a part.
  public var maximumDelays: Int? {
    switch self {
    case .interrupted, .serverUnavailable: RetryPolicy.maximumDelays
    default: maximumInARow
    }
  }

  /// What a person is told when there were that many.
  public var attentionReason: AttentionReason {
    switch self {
    case .quota: .quota
    case .inProgress: .serverUnfinished
    case .offsetMoved: .serverInconsistent
    case .protocolViolation: .protocolViolation
    case .notOurServer: .notOurServer
    case .credentials: .accessRevoked
    case .offline, .interrupted, .serverUnavailable, .throttled, .sessionUnknown, .digestMismatch,
      .refused, .sourceUnreadable, .stopped:
      .attemptsExhausted
    }
  }
}
