/// Why some bytes are not a JSON document this house accepts.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, in words.
  public let problem: String
  /// The byte it was found at, from 0.
  public let offset: Int

  /// The problem and its place.
  public var description: String { "\(problem) at byte \(offset)" }
}

extension JSONValue {
  /// Reads one document; refuses doubled keys, nesting beyond `maximumDepth` and anything behind
  /// it.
  ///
  /// - Parameters:
  ///   - bytes: the document in UTF-8; its size is bounded by whoever collected it.
  ///   - maximumDepth: how many lists and objects may stand in one another.
  /// - Throws: `JSONError` with the byte where reading stopped.
  public static func read(_ bytes: [UInt8], maximumDepth: Int = 8) throws(JSONError) -> JSONValue {
    var reader = JSONReader(bytes: bytes, maximumDepth: maximumDepth)
    return try reader.document()
  }
}

/// A recursive-descent reader of RFC 8259; the recursion is bounded by `maximumDepth`.
private struct JSONReader {
  private static let smallCount = 8

  let bytes: [UInt8]
  let maximumDepth: Int
  var at = 0
  var depth = 0

  init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  mutating func document() throws(JSONError) -> JSONValue {
    let value = try value()
    skipSpace()
    guard at == bytes.count else { throw failure("something stands behind the document") }
    return value
  }

  private func failure(_ problem: String) -> JSONError { JSONError(problem: problem, offset: at) }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      at += 1
    }
  }

  private func peek() -> UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func expect(_ byte: UInt8, _ problem: String) throws(JSONError) {
    guard peek() == byte else { throw failure(problem) }
    at += 1
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    skipSpace()
    guard let first = peek() else { throw failure("the document ends where a value should stand") }
    switch first {
    case UInt8(ascii: "{"): return try nested { reader throws(JSONError) in try reader.object() }
    case UInt8(ascii: "["): return try nested { reader throws(JSONError) in try reader.array() }
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw failure("no value begins like this")
    }
  }

  private mutating func nested(
    _ read: (inout JSONReader) throws(JSONError) -> JSONValue
  ) throws(JSONError) -> JSONValue {
    guard depth < maximumDepth else { throw failure("nested more than \(maximumDepth) deep") }
    depth += 1
    at += 1
    let value = try read(&self)
    depth -= 1
    return value
  }

  private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
    guard bytes[at...].starts(with: text.utf8) else { throw failure("no value begins like this") }
    at += text.utf8.count
    return value
  }

  private mutating func object() throws(JSONError) -> JSONValue {
    var members: [JSONValue.Member] = []
    members.reserveCapacity(4)
    // A small object, as stored payloads are, is looked through faster than a set is made.
    var keys: Set<String> = []
    skipSpace()
    if peek() == UInt8(ascii: "}") {
      at += 1
      return .object([])
    }
    while true {
      skipSpace()
      let key = try string()
      if members.count == JSONReader.smallCount { keys = Set(members.map(\.key)) }
      let isNew =
        members.count < JSONReader.smallCount
        ? !members.contains { $0.key == key } : keys.insert(key).inserted
      guard isNew else { throw failure("the key stands twice") }
      skipSpace()
      try expect(UInt8(ascii: ":"), "a colon should follow the key")
      members.append(JSONValue.Member(key, try value()))
      skipSpace()
      if peek() == UInt8(ascii: ",") {
        at += 1
      } else {
        try expect(UInt8(ascii: "}"), "a comma or } should follow the member")
        return .object(members)
      }
    }
  }

  private mutating func array() throws(JSONError) -> JSONValue {
    var values: [JSONValue] = []
    skipSpace()
    if peek() == UInt8(ascii: "]") {
      at += 1
      return .array([])
    }
    while true {
      values.append(try value())
      skipSpace()
      if peek() == UInt8(ascii: ",") {
        at += 1
      } else {
        try expect(UInt8(ascii: "]"), "a comma or ] should follow the value")
        return .array(values)
      }
    }
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = at
    var whole = true
    if peek() == UInt8(ascii: "-") { at += 1 }
    let firstDigit = at
    try digits()
    if bytes[firstDigit] == UInt8(ascii: "0"), at > firstDigit + 1 {
      throw failure("a number has a zero in front")
    }
    if peek() == UInt8(ascii: ".") {
      whole = false
      at += 1
      try digits()
    }
    if let exponent = peek(), exponent | 0x20 == UInt8(ascii: "e") {
      whole = false
      at += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at += 1 }
      try digits()
    }
    if whole, let value = wholeNumber(bytes[start..<at]) { return .integer(value) }
    return .number(String(decoding: bytes[start..<at], as: UTF8.self))
  }

  /// The number that digits with or without a sign spell; nil beyond 64 bits.
  private func wholeNumber(_ spelling: ArraySlice<UInt8>) -> Int64? {
    let isNegative = spelling.first == UInt8(ascii: "-")
    var value: Int64 = 0
    for digit in isNegative ? spelling.dropFirst() : spelling {
      let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(digit - UInt8(ascii: "0"))
      // Counted downwards, since the smallest number has no positive counterpart.
      let (next, isBeyond) =
        isNegative
        ? tenfold.subtractingReportingOverflow(digit) : tenfold.addingReportingOverflow(digit)
      guard !isTooLarge, !isBeyond else { return nil }
      value = next
    }
    return value
  }

  private mutating func digits() throws(JSONError) {
    let start = at
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
    guard at > start else { throw failure("a digit should stand here") }
  }

  private mutating func string() throws(JSONError) -> String {
    try expect(UInt8(ascii: "\""), "a string should begin here")
    let start = at
    while let byte = peek(), byte >= 0x20, byte != UInt8(ascii: "\\") {
      at += 1
      if byte == UInt8(ascii: "\"") { return try text(bytes[start..<(at - 1)], from: start) }
    }
    return try escapedString(from: start)
  }

  private func text(_ bytes: ArraySlice<UInt8>, from start: Int) throws(JSONError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw JSONError(problem: "the string is not valid UTF-8", offset: start)
    }
    return text
  }

  /// Goes on with a string at its first byte that does not stand for itself.
  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var out = [UInt8](bytes[start..<at])
    while let byte = peek() {
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(out[...], from: start)
      case UInt8(ascii: "\\"): try escape(into: &out)
      case 0..<0x20: throw failure("a control character stands in a string")
      default: out.append(byte)
      }
    }
    throw failure("the string has no end")
  }

  private mutating func escape(into out: inout [UInt8]) throws(JSONError) {
    guard let byte = peek() else { throw failure("the string has no end") }
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
    case UInt8(ascii: "b"): out.append(0x08)
    case UInt8(ascii: "f"): out.append(0x0c)
    case UInt8(ascii: "n"): out.append(0x0a)
    case UInt8(ascii: "r"): out.append(0x0d)
    case UInt8(ascii: "t"): out.append(0x09)
    case UInt8(ascii: "u"):
      let unit = try hexUnit()
      var scalar = UInt32(unit)
      if (0xd800..<0xdc00).contains(unit) {
        try expect(UInt8(ascii: "\\"), "half of a surrogate pair is missing")
        try expect(UInt8(ascii: "u"), "half of a surrogate pair is missing")
        let low = try hexUnit()
        guard (0xdc00..<0xe000).contains(low) else { throw failure("a surrogate pair is broken") }
        scalar = 0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00)
      }
      guard let value = Unicode.Scalar(scalar) else { throw failure("a surrogate stands alone") }
      out.append(contentsOf: UTF8.encode(value).map { [UInt8]($0) } ?? [])
    default: throw failure("no such escape")
    }
  }

  private mutating func hexUnit() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Hex.value(byte) else {
        throw failure("four hexadecimal digits should stand here")
      }
      value = value << 4 | UInt16(digit)
      at += 1
    }
    return value
  }
}
