/// Reads what a rule does.
extension FaultReader {
  /// Lines that say where a reply ends: a false one would harm the next reply, not this one.
  private static let framingHeaders = ["content-length", "transfer-encoding", "connection"]
  private static let longestSkew = 36_525 * 86_400

  mutating func action() throws(ServerError) -> FaultAction {
    let start = at
    let name = text(upTo: "=/, ")
    let place = at
    switch name {
    case "drop": return .drop
    case "drop-reply": return .dropReply
    case "html": return .answer(FaultAnswer(status: 200, content: .page))
    case "empty": return .answer(FaultAnswer(status: 200, content: .none))
    case "truncated": return .truncated
    case "forget": return .forget
    case "wrong-hash": return .wrongHash
    case "lose":
      guard let part = number(value(), 0...9999) else {
        throw failure("a part of 0 to 9999 should follow", at: place)
      }
      return .lose(part: part)
    case "delay": return .delay(milliseconds: try milliseconds(at: place))
    case "drip": return .drip(milliseconds: try milliseconds(at: place))
    case "redirect": return .redirect(url: try longValue("=", what: "an address"))
    case "set": return try set()
    case "header": return try header()
    case "skew": return try skew(at: place)
    default:
      guard let status = number(name, 200...599) else {
        throw failure("no action is named so", at: start)
      }
      return .answer(try answer(status))
    }
  }

  // MARK: Values

  /// What stands behind `=`, up to the end of the rule.
  private mutating func value() -> String {
    guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else { return "" }
    at += 1
    return text(upTo: ", ")
  }

  private mutating func milliseconds(at place: Int) throws(ServerError) -> Int {
    guard let milliseconds = number(value(), 0...600_000) else {
      throw failure("0 to 600000 milliseconds should follow", at: place)
    }
    return milliseconds
  }

  /// A value that may hold commas and spaces, as dates and addresses do: it ends at a comma that
  /// the beginning of a rule follows, or at one of `ends`.
  private mutating func longValue(
    _ prefix: String, upTo ends: String = "", what: String, isOptional: Bool = false
  ) throws(ServerError) -> String {
    guard bytes[at...].starts(with: prefix.utf8) else { throw failure("\(what) should follow") }
    at += prefix.utf8.count
    let start = at
    while at < bytes.count, !ruleFollows(), !ends.utf8.contains(bytes[at]) {
      guard (0x20...0x7e).contains(bytes[at]) else {
        throw failure("only visible ASCII may stand here")
      }
      at += 1
    }
    var end = at
    while end > start, bytes[end - 1] == 0x20 { end -= 1 }
    guard ((isOptional ? 0 : 1)...2048).contains(end - start) else {
      throw failure("\(what) should follow", at: start)
    }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  // MARK: Answers

  private mutating func answer(_ status: Int) throws(ServerError) -> FaultAnswer {
    var answer = FaultAnswer(status: status)
    while at < bytes.count, bytes[at] == UInt8(ascii: "/") {
      let start = at
      at += 1
      switch text(upTo: "=/, ") {
      case "retry-after":
        answer.retryAfter = try longValue("=", upTo: "/", what: "=SECONDS or a date")
      case "slug":
        let slug = try longValue("=", upTo: "/", what: "=WORD")
        guard slug.utf8.allSatisfy({ (0x61...0x7a).contains($0) || $0 == 0x2d }) else {
          throw failure("a slug has small letters and hyphens", at: start)
        }
        answer.slug = slug
      case "bare": answer.content = .none
      case "html": answer.content = .page
      case "done": answer.isAfterWork = true
      default: throw failure("use /retry-after=, /slug=, /bare, /html or /done", at: start)
      }
    }
    return answer
  }

  // MARK: Shaped replies

  private mutating func set() throws(ServerError) -> FaultAction {
    let place = at
    let field = try longValue("=", upTo: ":", what: "=FIELD:TEXT")
    guard field.utf8.allSatisfy({ isWordByte($0) }) else {
      throw failure("a field has letters, digits, _ and - only", at: place)
    }
    return .set(
      field: field, text: try longValue(":", what: "a colon and a text", isOptional: true))
  }

  private mutating func header() throws(ServerError) -> FaultAction {
    let place = at
    let name = try longValue("=", upTo: ":", what: "=NAME:VALUE")
    guard name.utf8.allSatisfy({ isWordByte($0) }),
      !FaultReader.framingHeaders.contains(name.lowercased())
    else { throw failure("no such header line can be set", at: place) }
    return .header(name: name, value: try longValue(":", what: "a colon and a value"))
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
    default: false
    }
  }

  private mutating func skew(at place: Int) throws(ServerError) -> FaultAction {
    let text = value()
    let isBack = text.hasPrefix("-")
    let digits = text.hasPrefix("-") || text.hasPrefix("+") ? String(text.dropFirst()) : text
    guard let seconds = number(digits, 0...FaultReader.longestSkew) else {
      throw failure("seconds should follow, such as 86400 or -3600", at: place)
    }
    return .skew(seconds: Int64(isBack ? -seconds : seconds))
  }
}
