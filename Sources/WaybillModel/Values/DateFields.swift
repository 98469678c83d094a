/// Takes the fields of a written date from the front of its text, one after the other.
///
/// A field that does not stand there takes nothing; the caller gives up on the whole text then.
struct DateFields {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  /// Whether nothing is left.
  var isAtEnd: Bool { rest.isEmpty }

  /// Takes exactly this text.
  mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  /// Takes a number of exactly so many decimal digits, at most 18.
  mutating func number(digits: Int) -> Int64? {
    let field = rest.prefix(digits)
    guard field.count == digits else { return nil }
    var value: Int64 = 0
    for byte in field {
      guard let digit = DateFields.digit(byte) else { return nil }
      value = value * 10 + digit
    }
    rest = rest.dropFirst(digits)
    return value
  }

  /// Takes one of the words and gives its index.
  mutating func index(in words: [String]) -> Int? { words.firstIndex { take($0) } }

  /// Takes `hh:mm:ss`.
  mutating func timeOfDay() -> (hour: Int64, minute: Int64, second: Int64)? {
    guard let hour = number(digits: 2), take(":"), let minute = number(digits: 2), take(":"),
      let second = number(digits: 2)
    else { return nil }
    return (hour, minute, second)
  }

  /// Takes the fraction of a second, if one stands there, in microseconds; nil for a bare point.
  mutating func fraction() -> Int64? {
    guard take(".") else { return 0 }
    var micros: Int64 = 0
    var weight: Int64 = 100_000
    var count = 0
    while let digit = rest.first.flatMap(DateFields.digit) {
      micros += digit * weight
      weight /= 10
      count += 1
      rest = rest.dropFirst()
    }
    return count > 0 ? micros : nil
  }

  /// Takes `Z` or the distance from UTC, in minutes.
  mutating func offsetMinutes() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64 = take("-") ? -1 : 1
    guard sign < 0 || take("+"), let hours = number(digits: 2), take(":"),
      let minutes = number(digits: 2), hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
  }
}
