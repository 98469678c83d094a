/// Goes through one line from its front, token by token.
struct LineScan {
  /// Where the bytes of a string stand, without its quotes.
  struct Text {
    var start: Int
    var end: Int
    /// Whether all of it is ASCII.
    var isASCII = true
    /// Whether some of it is spelled with a backslash.
    var hasEscapes = false
  }

  /// What may stand behind a key.
  enum Value {
    case integer(Int64)
    case text(Text)
  }

  private let line: UnsafeRawBufferPointer
  private var at = 0

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

  /// Whether nothing is left.
  var isAtEnd: Bool { at == line.count }

  func problem(_ message: String) -> LineProblem {
    LineProblem(.badLine, "the line is no flat JSON object: \(message) at its byte \(at)")
  }

  /// Takes a byte if it stands here.
  mutating func skip(_ byte: UInt8) -> Bool {
    guard at < line.count, line[at] == byte else { return false }
    at += 1
    return true
  }

  /// Takes a byte that must stand here.
  mutating func take(_ byte: UInt8) throws(LineProblem) {
    guard skip(byte) else {
      throw problem("\(Character(Unicode.Scalar(byte))) should stand")
    }
  }

  /// Takes a string or an integer; nothing else is a value of a line.
  mutating func value() throws(LineProblem) -> Value {
    if at < line.count, line[at] == UInt8(ascii: "\"") { return .text(try string()) }
    return .integer(try integer())
  }

  mutating func string() throws(LineProblem) -> Text {
    try take(UInt8(ascii: "\""))
    var text = Text(start: at, end: at)
    var bits: UInt8 = 0
    while at < line.count {
      let byte = line[at]
      if byte == UInt8(ascii: "\"") {
        text.end = at
        text.isASCII = bits < 0x80
        at += 1
        return text
      }
      guard byte >= 0x20 else { throw problem("a control character stands") }
      if byte == UInt8(ascii: "\\") {
        // What is escaped is looked at when the text is asked for; here only its end matters.
        text.hasEscapes = true
        at += 1
        guard at < line.count, line[at] >= 0x20 else { break }
      }
      bits |= line[at]
      at += 1
    }
    throw problem("a string has no end")
  }

  private mutating func integer() throws(LineProblem) -> Int64 {
    let isNegative = skip(UInt8(ascii: "-"))
    let first = at
    var value: Int64 = 0
    while at < line.count, let digit = LineScan.digit(line[at]) {
      let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // Counted downwards, since the smallest number has no positive counterpart.
      let (sum, isBeyond) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      guard !isTooLarge, !isBeyond else { throw problem("a number is too large") }
      value = sum
      at += 1
    }
    guard at > first else { throw problem("neither a string nor an integer stands") }
    guard line[first] != UInt8(ascii: "0") || at == first + 1 else {
      throw problem("a number has a zero in front")
    }
    return value
  }

  private static func digit(_ byte: UInt8) -> Int64? {
    let value = byte &- UInt8(ascii: "0")
    return value < 10 ? Int64(value) : nil
  }
}
