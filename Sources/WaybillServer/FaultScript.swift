/// Failures to rehearse, in the order in which they are looked at.
///
/// The text form is rules separated by commas, each `ENDPOINT[@TARGET][#N|#N-M|*]:ACTION`. ENDPOINT
/// is `open`, `part`, `status`, `commit` or `any`. TARGET aims the rule at one upload: the name of
/// its file, or the 64 digits of its SHA-256. N counts the requests of that endpoint, and of that
/// upload where one is named, from 1; `*` means each of them, and without either the rule is for
/// the first one. The actions are those of `FaultAction`. All rules that name a request apply to
/// it; the first answer among them wins.
public struct FaultScript: Hashable, Sendable {
  /// The most rules a script may have.
  public static let maximumRules = 256

  /// The rules in order.
  public let rules: [FaultRule]

  /// No failures.
  public static let none = FaultScript(rules: [])

  init(rules: [FaultRule]) { self.rules = rules }

  /// Reads the text form; empty text gives no rules.
  ///
  /// - Throws: `ServerError` with code `faultScript` and the byte, from 1, that is wrong.
  public init(_ text: String) throws(ServerError) {
    var reader = FaultReader(text)
    self.init(rules: try reader.script())
  }
}

/// One failure and the requests it is for.
public struct FaultRule: Hashable, Sendable, CustomStringConvertible {
  /// The endpoint whose requests are counted; nil counts all requests.
  public let endpoint: ServerEndpoint?
  /// The file name or SHA-256 of the only upload it is for; nil for requests of every upload.
  public let target: String?
  /// Which of these requests, counted from 1.
  public let requests: ClosedRange<Int>
  /// What happens to them.
  public let action: FaultAction
  /// The rule as it was written.
  public let description: String
}

/// What a rehearsed failure does.
public enum FaultAction: Hashable, Sendable {
  /// `drop`: the work is not done and the connection is closed at once.
  case drop
  /// `drop-reply`: the work is done and the connection closed without a reply.
  case dropReply
  /// `503`, `503/retry-after=2`, `429/retry-after=DATE`: this status with a problem document, the
  /// body read and thrown away, nothing done. 200 to 599.
  case status(Int, retryAfter: String?)
  /// `html`: the login page of a captive portal with status 200, nothing done.
  case html
  /// `empty`: status 200 without a body, nothing done.
  case empty
  /// `truncated`: the work is done; half of the reply's document, framed as if that were all.
  case truncated
  /// `forget`: the session with its parts is gone, then the request is handled.
  case forget
  /// `lose=K`: part K is gone as if it had never come, then the request is handled.
  case lose(part: Int)
  /// `delay=MILLISECONDS`: handled that much later, up to 600,000.
  case delay(milliseconds: Int)
  /// `drip=MILLISECONDS`: handled, and the body of the reply comes one byte each that long, up to
  /// 600,000.
  case drip(milliseconds: Int)
  /// `wrong-hash`: handled, and the reply carries another sha256.
  case wrongHash
  /// `redirect=URL`: 307 to that address, nothing done.
  case redirect(url: String)
}

/// A rule and how often it has applied.
public struct FiredFault: Hashable, Sendable {
  /// The rule as it was written.
  public let rule: String
  /// How many requests it has changed so far.
  public let count: Int
}
