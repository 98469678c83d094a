/// Reads the text form of fault scripts, one rule after the other.
struct FaultReader {
  private static let endpoints = ["open", "part", "status", "commit", "abandon", "any"]
  let bytes: [UInt8]
  var at = 0

  init(_ text: String) { bytes = [UInt8](text.utf8) }

  mutating func script() throws(ServerError) -> [FaultRule] {
    skipSpaces()
    guard at < bytes.count else { return [] }
    var rules = [try rule()]
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: ",") else { throw failure("a comma should stand here") }
      at += 1
      guard rules.count < FaultScript.maximumRules else {
        throw failure("a script has at most \(FaultScript.maximumRules) rules")
      }
      rules.append(try rule())
    }
    return rules
  }

  func failure(_ problem: String, at place: Int? = nil) -> ServerError {
    ServerError(
      .faultScript,
      "fault script, byte \((place ?? at) + 1): \(problem);"
        + " a rule is ENDPOINT[@TARGET][#N|#N-M|*]:ACTION")
  }

  private mutating func skipSpaces() {
    while at < bytes.count, bytes[at] == 0x20 { at += 1 }
  }

  /// The text up to one of `ends`, which is not taken.
  mutating func text(upTo ends: String) -> String {
    let start = at
    while at < bytes.count, !ends.utf8.contains(bytes[at]) { at += 1 }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  // MARK: Rule

  private mutating func rule() throws(ServerError) -> FaultRule {
    skipSpaces()
    let start = at
    let name = text(upTo: "@#*:, ")
    guard FaultReader.endpoints.contains(name) else {
      throw failure(
        "no endpoint is named so; use open, part, status, commit, abandon or any", at: start)
    }
    let target = try target()
    let requests = try requests()
    guard at < bytes.count, bytes[at] == UInt8(ascii: ":") else {
      throw failure("a colon should stand here")
    }
    at += 1
    let action = try action()
    let written = String(decoding: bytes[start..<at], as: UTF8.self)
    skipSpaces()
    return FaultRule(
      endpoint: ServerEndpoint(rawValue: name), target: target, requests: requests,
      action: action, description: written)
  }

  private mutating func target() throws(ServerError) -> String? {
    guard at < bytes.count, bytes[at] == UInt8(ascii: "@") else { return nil }
    at += 1
    let target = text(upTo: "#*:, ")
    guard !target.isEmpty else { throw failure("a file name or a SHA-256 should stand here") }
    return target
  }

  private mutating func requests() throws(ServerError) -> ClosedRange<Int> {
    guard at < bytes.count else { return 1...1 }
    if bytes[at] == UInt8(ascii: "#") {
      at += 1
    } else if bytes[at] != UInt8(ascii: "*") {
      return 1...1
    }
    if at < bytes.count, bytes[at] == UInt8(ascii: "*") {
      at += 1
      return 1...Int.max
    }
    let first = try count()
    guard at < bytes.count, bytes[at] == UInt8(ascii: "-") else { return first...first }
    at += 1
    let place = at
    let last = try count()
    guard last >= first else { throw failure("the last request is before the first", at: place) }
    return first...last
  }

  private mutating func count() throws(ServerError) -> Int {
    let start = at
    guard let value = number(text(upTo: "-:, "), 1...1_000_000) else {
      throw failure("a count of 1 to 1000000 should stand here", at: start)
    }
    return value
  }

  func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int(text), range.contains(value)
    else { return nil }
    return value
  }

  /// Whether a rule begins behind the comma that stands here.
  func ruleFollows() -> Bool {
    guard bytes[at] == UInt8(ascii: ",") else { return false }
    let rest = bytes[(at + 1)...].drop { $0 == 0x20 }
    return FaultReader.endpoints.contains { name in
      guard rest.starts(with: name.utf8), let next = rest.dropFirst(name.utf8.count).first else {
        return false
      }
      return "@#*:".utf8.contains(next)
    }
  }
}
