/// The pause a server asks for (RFC 9110 section 10.2.3).
public enum RetryAfter {
  /// The pause in milliseconds, 0 for a date that has passed; nil when the reply has no
  /// `Retry-After` or one that means nothing. Too large a number is held at the largest, for the
  /// ceiling of `RetryPolicy` to cut.
  ///
  /// A date is measured against the reply's own `Date`, so that a wrong clock on this device
  /// neither shortens nor lengthens the pause.
  ///
  /// - Parameters:
  ///   - reply: the whole reply.
  ///   - now: the local moment, used where the reply has no `Date` that can be read.
  public static func milliseconds(of reply: HTTPReply, now: Timestamp) -> Int64? {
    guard let text = reply.header("Retry-After") else { return nil }
    if let pause = milliseconds(ofSeconds: text) { return pause }
    guard let moment = HTTPDate.read(text, now: now) else { return nil }
    return max(0, moment.milliseconds(since: ServerClock.moment(of: reply, now: now) ?? now))
  }

  private static func milliseconds(ofSeconds text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    else { return nil }
    let (pause, isTooLong) = (Int64(text) ?? Int64.max).multipliedReportingOverflow(by: 1000)
    return isTooLong ? Int64.max : pause
  }
}

/// What a reply says about the server's clock.
public enum ServerClock {
  /// The moment in the reply's `Date`, to the second; nil when there is none that can be read.
  public static func moment(of reply: HTTPReply, now: Timestamp) -> Timestamp? {
    reply.header("Date").flatMap { HTTPDate.read($0, now: now) }
  }

  /// How far the server's clock is ahead of this device's, in milliseconds, negative if it is
  /// behind; nil when the reply has no `Date` that can be read. Exact to a second and the time
  /// the reply was on its way.
  public static func skewMilliseconds(of reply: HTTPReply, now: Timestamp) -> Int64? {
    moment(of: reply, now: now)?.milliseconds(since: now)
  }
}
