/// Failures to rehearse, in the order in which they are looked at.
///
/// The text form is rules separated by commas, each `ENDPOINT[@TARGET][#N|#N-M|*]:ACTION`. ENDPOINT
/// is `open`, `part`, `status`, `commit`, `abandon` or `any`. TARGET aims the rule at one upload:
/// the name of its file, or the 64 digits of its SHA-256. N counts the requests of that endpoint,
/// and of that upload where one is named, from 1; `*` means each of them, and without either the
/// rule is for the first one. The actions are those of `FaultAction`. All rules that name a request
/// apply to it; the first answer among them wins, and the others shape it.
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
  /// `503`, `503/retry-after=2`, `409/slug=part-differs`: an answer of our own making. `html` is
  /// short for `200/html` and `empty` for `200/bare`.
  case answer(FaultAnswer)
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
  /// `redirect=URL`: 307 to that address, nothing done. Other ways to send a client elsewhere are
  /// `302/bare` and `header=Location:URL`.
  case redirect(url: String)
  /// `set=FIELD:TEXT`: the document of the reply has this text in the place of the field's value,
  /// or behind its last field. Whatever the text is: `set=partCount:1e3`, `set=received:`.
  case set(field: String, text: String)
  /// `header=NAME:VALUE`: the reply has this header line, and no other of the name.
  case header(name: String, value: String)
  /// `skew=SECONDS`: the `Date` of the reply is that far off our clock, a century at most.
  case skew(seconds: Int64)
}

/// A rehearsed answer, in the order of its text form:
/// `STATUS[/retry-after=VALUE][/slug=WORD][/bare|/html][/done]`.
public struct FaultAnswer: Hashable, Sendable {
  /// What the answer carries.
  public enum Content: Hashable, Sendable {
    /// A problem document.
    case problem
    /// `bare`: nothing.
    case none
    /// `html`: the page of a gateway or of a network that wants a sign-in.
    case page
  }

  /// 200 to 599.
  public let status: Int
  /// The value of `Retry-After`: seconds, a date, or anything else in visible ASCII.
  public var retryAfter: String?
  /// The last word of the problem's type; `rehearsed` when nil.
  public var slug: String?
  /// What it carries.
  public var content = Content.problem
  /// `done`: whether the work is done first. Otherwise the body is read and thrown away.
  public var isAfterWork = false
}

/// A rule and how often it has applied.
public struct FiredFault: Hashable, Sendable {
  /// The rule as it was written.
  public let rule: String
  /// How many requests it has changed so far.
  public let count: Int
}
