internal import WaybillModel
internal import WaybillSystem

/// What a script does to one request.
struct FaultPlan {
  var drops = false
  /// Given instead of what the work would say.
  private(set) var answer: Reply?
  /// Whether the work is done although its reply is replaced.
  private(set) var worksFirst = false
  var forgetsSession = false
  var losesParts: [Int] = []
  var delayMilliseconds = 0
  /// The pause before each byte of the reply's body.
  var dripMilliseconds = 0
  var dropsReply = false
  var cutsReply = false
  var changesHash = false
  private var fields: [(name: String, text: String)] = []
  private var headers: [HTTPHeader] = []
  private var skewSeconds: Int64?

  /// Whether nothing is to be done but to answer.
  var isAnswered: Bool { drops || answer != nil && !worksFirst }

  /// The reply as the script leaves it; nil when the connection is closed instead.
  func damage(_ reply: Reply) -> Reply? {
    if dropsReply { return nil }
    var changed = answer ?? reply
    if changesHash { changed = changed.withAnotherHash() }
    if !fields.isEmpty { changed = changed.with(fields) }
    if cutsReply { changed = changed.cutInHalf() }
    if let skewSeconds {
      let now = UploadService.now().adding(milliseconds: skewSeconds * 1000)
      changed.setHeader(HTTPHeader("Date", now.httpDate))
    }
    for header in headers { changed.setHeader(header) }
    return changed
  }

  fileprivate mutating func add(_ action: FaultAction) {
    switch action {
    case .drop: drops = drops || answer == nil
    case .dropReply: dropsReply = true
    case .truncated: cutsReply = true
    case .forget: forgetsSession = true
    case .lose(let part): losesParts.append(part)
    case .delay(let milliseconds): delayMilliseconds = max(delayMilliseconds, milliseconds)
    case .drip(let milliseconds): dripMilliseconds = max(dripMilliseconds, milliseconds)
    case .wrongHash: changesHash = true
    case .set(let field, let text): fields.append((field, text))
    case .header(let name, let value): headers.append(HTTPHeader(name, value))
    case .skew(let seconds): skewSeconds = seconds
    case .answer(let wanted):
      guard !drops, answer == nil else { return }
      answer = Reply(wanted)
      worksFirst = wanted.isAfterWork
    case .redirect(let url):
      guard !drops, answer == nil else { return }
      answer = Reply(status: 307, headers: [HTTPHeader("Location", url)], body: .none)
    }
  }
}

extension Reply {
  /// A rehearsed answer.
  fileprivate init(_ wanted: FaultAnswer) {
    var headers = wanted.retryAfter.map { [HTTPHeader("Retry-After", $0)] } ?? []
    if wanted.status == 401 { headers.append(HTTPHeader("WWW-Authenticate", "Bearer")) }
    switch wanted.content {
    case .problem where wanted.status != 204 && wanted.status != 304:
      let known = wanted.slug.flatMap { ProblemSlug(rawValue: $0) }
      self = Problem.reply(
        status: wanted.status, slug: wanted.slug ?? "rehearsed",
        title: known?.title ?? "Rehearsed", detail: "A fault script asked for this reply.",
        headers: headers)
    case .page:
      let page = "<!doctype html><title>Welcome</title><p>Please sign in to use this network.</p>"
      self.init(
        status: wanted.status, headers: headers,
        body: .bytes([UInt8](page.utf8), type: "text/html"))
    case .none, .problem: self.init(status: wanted.status, headers: headers, body: .none)
    }
  }
}

/// The upload a request is about, as rules name it.
struct FaultTarget {
  let fileName: String?
  let sha256: ContentHash

  func isNamed(_ target: String) -> Bool {
    target == fileName || ContentHash(hex: target) == sha256
  }
}

/// Counts requests and tells what the script does to each. Safe from any thread.
final class FaultCounter: Sendable {
  private struct Counts {
    var requests: [ServerEndpoint: Int] = [:]
    var all = 0
    /// Requests of the upload that a rule is aimed at, rule by rule.
    var aimed: [Int]
    var fired: [Int]
  }

  private let script: FaultScript
  private let counts: Locked<Counts>
  /// Whether a rule is aimed at one upload, so that the upload of a request has to be known.
  let isAimed: Bool

  init(_ script: FaultScript) {
    self.script = script
    isAimed = script.rules.contains { $0.target != nil }
    let none = script.rules.map { _ in 0 }
    counts = Locked(Counts(aimed: none, fired: none))
  }

  /// What the script does to a request.
  ///
  /// - Parameter target: the upload it is about; nil where it is about none, or none is known.
  func plan(for endpoint: ServerEndpoint, of target: FaultTarget?) -> FaultPlan {
    guard !script.rules.isEmpty else { return FaultPlan() }
    return counts.withLock { counts in
      counts.all += 1
      counts.requests[endpoint, default: 0] += 1
      var plan = FaultPlan()
      for (index, rule) in script.rules.enumerated() {
        guard rule.endpoint == nil || rule.endpoint == endpoint else { continue }
        var count = rule.endpoint == nil ? counts.all : counts.requests[endpoint, default: 0]
        if let wanted = rule.target {
          guard let target, target.isNamed(wanted) else { continue }
          counts.aimed[index] += 1
          count = counts.aimed[index]
        }
        guard rule.requests.contains(count) else { continue }
        plan.add(rule.action)
        counts.fired[index] += 1
      }
      return plan
    }
  }

  var fired: [FiredFault] {
    let fired = counts.withLock { $0.fired }
    return zip(script.rules, fired).map { FiredFault(rule: $0.description, count: $1) }
  }
}
