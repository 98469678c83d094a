/// Why a word is no value of its option, as the end of a sentence.
struct ValueProblem: Error, Equatable {
  let sentence: String

  init(_ sentence: String) { self.sentence = sentence }
}

extension Option.Value {
  /// Reads one word as this kind of value.
  func read(_ word: RawArgument) throws(ValueProblem) -> Arguments.Setting {
    if case .path = self {
      guard !word.bytes.isEmpty else { throw ValueProblem("a path cannot be empty") }
      return .path(word)
    }
    guard let text = word.text else { throw ValueProblem("this is not UTF-8 text") }
    switch self {
    case .none, .path: return .present
    case .text: return .text(text)
    case .choice(let words):
      if words.contains(text) { return .text(text) }
      let hint = Suggestion.nearest(to: text, among: words).map { "; did you mean \($0)?" } ?? ""
      throw ValueProblem("choose one of \(words.joined(separator: ", "))\(hint)")
    case .number(let range):
      guard let number = Quantity.wholeNumber(text) else {
        throw ValueProblem("this is not a whole number")
      }
      guard range.contains(number) else { throw Option.Value.outside(range) { String($0) } }
      return .number(number)
    case .duration(let range):
      let duration = try Quantity.duration(text)
      guard range.contains(duration) else {
        throw Option.Value.outside(range, HumanText.duration)
      }
      return .duration(duration)
    case .byteCount(let range):
      let count = try Quantity.byteCount(text)
      guard range.contains(count) else { throw Option.Value.outside(range) { "\($0) bytes" } }
      return .number(count)
    }
  }

  private static func outside<Bound>(
    _ range: ClosedRange<Bound>, _ text: (Bound) -> String
  ) -> ValueProblem {
    ValueProblem("choose from \(text(range.lowerBound)) to \(text(range.upperBound))")
  }
}

/// Quantities as people write them.
enum Quantity {
  /// Digits, with a minus in front if need be; nil for anything else and beyond 64 bits.
  static func wholeNumber(_ text: String) -> Int64? {
    let digits = text.hasPrefix("-") ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
    return Int64(text)
  }

  private static let lengths: [(unit: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// Reads `30s`, `5m`, `2h`, `1d`, `250ms` and runs of them such as `1h30m`.
  static func duration(_ text: String) throws(ValueProblem) -> Duration {
    let problem = ValueProblem("write a duration such as 250ms, 30s, 5m, 2h, 1h30m or 7d")
    var rest = text.utf8[...]
    var total: Int64 = 0
    guard !rest.isEmpty else { throw problem }
    while !rest.isEmpty {
      let (count, unit) = (take(&rest, isDigit), take(&rest) { !isDigit($0) })
      guard let count = Int64(count), let length = lengths.first(where: { $0.unit == unit }) else {
        throw problem
      }
      let (product, tooLong) = count.multipliedReportingOverflow(by: length.milliseconds)
      let (sum, overflow) = total.addingReportingOverflow(product)
      guard !tooLong, !overflow else { throw ValueProblem("this is too long") }
      total = sum
    }
    return .milliseconds(total)
  }

  private static let sizes: [(units: [String], bytes: Int64)] = [
    (["", "B"], 1), (["kB", "KB"], 1000), (["MB"], 1_000_000), (["GB"], 1_000_000_000),
    (["TB"], 1_000_000_000_000), (["KiB"], 1 << 10), (["MiB"], 1 << 20), (["GiB"], 1 << 30),
    (["TiB"], 1 << 40),
  ]

  /// Reads `512`, `512B`, `64KiB`, `8MiB`, `8MB`; a bare `8M` is refused, since people differ
  /// about what it means.
  static func byteCount(_ text: String) throws(ValueProblem) -> Int64 {
    var rest = text.utf8[...]
    let digits = take(&rest, isDigit)
    let unit = String(Substring(rest))
    guard let count = Int64(digits), let size = sizes.first(where: { $0.units.contains(unit) })
    else { throw ValueProblem("write a size such as 4096, 64KiB, 8MiB or 8MB") }
    let (product, overflow) = count.multipliedReportingOverflow(by: size.bytes)
    guard !overflow else { throw ValueProblem("this is too large") }
    return product
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func take(
    _ rest: inout Substring.UTF8View, _ belongs: (UInt8) -> Bool
  ) -> String {
    let taken = rest.prefix(while: belongs)
    rest = rest[taken.endIndex...]
    return String(Substring(taken))
  }
}
