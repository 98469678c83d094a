internal import WaybillModel

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The values of one line by their keys: a flat JSON object of strings and integers without space
/// between its pieces, as every line but the header is.
///
/// The core's reader of JSON makes a tree of values and strings, which costs several times as much
/// as all the rest of reading an event. Here a value stays in the line until it is asked for, and
/// one `FlatLine` serves all lines.
final class FlatLine {
  private static let names = TraceKey.allCases.map(\.name)

  private let values: UnsafeMutablePointer<LineScan.Value?>
  private var line = UnsafeRawBufferPointer(start: nil, count: 0)

  init() {
    values = .allocate(capacity: FlatLine.names.count)
    values.initialize(repeating: nil, count: FlatLine.names.count)
  }

  deinit { values.deallocate() }

  /// Reads a line, whose bytes must stay where they are until the next one is read. Keys that are
  /// not known are passed over.
  func read(_ line: UnsafeRawBufferPointer) throws(LineProblem) {
    values.update(repeating: nil, count: FlatLine.names.count)
    self.line = line
    var scan = LineScan(line)
    var expected = 0
    try scan.take(UInt8(ascii: "{"))
    repeat {
      let name = try scan.string()
      try scan.take(UInt8(ascii: ":"))
      let value = try scan.value()
      guard let index = index(of: bytes(name), expected) else { continue }
      guard values[index] == nil else {
        throw LineProblem(.badLine, "the key \(FlatLine.names[index]) stands twice")
      }
      values[index] = value
      expected = index + 1
    } while scan.skip(UInt8(ascii: ","))
    try scan.take(UInt8(ascii: "}"))
    guard scan.isAtEnd else { throw scan.problem("something stands behind the object") }
  }

  /// The place of a key among all keys. Lines have theirs in order, so it is looked for behind the
  /// one before it first.
  private func index(of name: UnsafeRawBufferPointer, _ expected: Int) -> Int? {
    let names = FlatLine.names
    guard let start = name.baseAddress else { return nil }
    func stands(at index: Int) -> Bool {
      names[index].utf8CodeUnitCount == name.count
        && memcmp(names[index].utf8Start, start, name.count) == 0
    }
    for index in expected..<names.count where stands(at: index) { return index }
    for index in 0..<expected where stands(at: index) { return index }
    return nil
  }

  private func bytes(_ text: LineScan.Text) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: line[text.start..<text.end])
  }
}

// MARK: Values

extension FlatLine {
  func optionalText(_ key: TraceKey) throws(LineProblem) -> String? {
    switch values[key.rawValue] {
    case nil: nil
    case .text(let text): try string(text, key)
    case .integer: throw .invalid(key, "string")
    }
  }

  func text(_ key: TraceKey) throws(LineProblem) -> String {
    guard let text = try optionalText(key) else { throw .missing(key) }
    return text
  }

  /// The bytes of a text that is spelled without escapes, as words and identifiers are; nil for any
  /// other value.
  func plainBytes(_ key: TraceKey) -> UnsafeRawBufferPointer? {
    guard case .text(let text) = values[key.rawValue], !text.hasEscapes else { return nil }
    return bytes(text)
  }

  private func string(_ text: LineScan.Text, _ key: TraceKey) throws(LineProblem) -> String {
    let bytes = bytes(text)
    if text.hasEscapes {
      let quoted = UnsafeRawBufferPointer(rebasing: line[(text.start - 1)...text.end])
      do throws(JSONError) {
        if let string = try JSONValue.read([UInt8](quoted)).text { return string }
      } catch {
        throw LineProblem(.badLine, "the value of \(key.name) is no string: \(error.problem)")
      }
    } else if text.isASCII {
      return String(decoding: bytes, as: UTF8.self)
    } else if let string = String(validating: bytes, as: UTF8.self) {
      return string
    }
    throw .invalid(key, "valid UTF-8")
  }

  /// An integer, as a number or as a string of its decimal digits.
  func optionalInteger(_ key: TraceKey) throws(LineProblem) -> Int64? {
    switch values[key.rawValue] {
    case nil: return nil
    case .integer(let number): return number
    case .text(let text):
      let digits = try string(text, key)
      guard let number = Int64(digits), String(number) == digits else {
        throw .invalid(key, "integer")
      }
      return number
    }
  }

  func integer(_ key: TraceKey) throws(LineProblem) -> Int64 {
    guard let number = try optionalInteger(key) else { throw .missing(key) }
    return number
  }

  func position(_ key: TraceKey) throws(LineProblem) -> GlobalPosition? {
    try optionalInteger(key).map { GlobalPosition($0) }
  }

  func optionalHash(_ key: TraceKey) throws(LineProblem) -> ContentHash? {
    guard values[key.rawValue] != nil else { return nil }
    guard let bytes = plainBytes(key), bytes.count == 64 else { throw .invalid(key, "SHA-256") }
    var isHex = true
    let hash = withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
      for index in 0..<32 {
        let high = FlatLine.nibble(bytes[2 * index])
        let low = FlatLine.nibble(bytes[2 * index + 1])
        if high | low > 15 { isHex = false }
        out[index] = high << 4 | low & 15
      }
      return ContentHash(unchecked: UnsafeRawBufferPointer(out))
    }
    guard isHex else { throw .invalid(key, "SHA-256") }
    return hash
  }

  /// The two halves of a UUID of 36 characters.
  func optionalUUID(_ key: TraceKey) throws(LineProblem) -> (high: UInt64, low: UInt64)? {
    guard values[key.rawValue] != nil else { return nil }
    guard let bytes = plainBytes(key), bytes.count == 36 else { throw .invalid(key, "UUID") }
    var halves: (UInt64, UInt64) = (0, 0)
    var isSound = true
    var digits = 0
    for index in 0..<36 {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        if bytes[index] != UInt8(ascii: "-") { isSound = false }
        continue
      }
      let digit = FlatLine.nibble(bytes[index])
      if digit > 15 { isSound = false }
      if digits < 16 {
        halves.0 = halves.0 << 4 | UInt64(digit)
      } else {
        halves.1 = halves.1 << 4 | UInt64(digit)
      }
      digits += 1
    }
    guard isSound else { throw .invalid(key, "UUID") }
    return halves
  }

  /// A moment: RFC 3339 in UTC with six decimals, or microseconds under the other key.
  func optionalTime(
    _ key: TraceKey, orElse number: TraceKey
  ) throws(LineProblem) -> Timestamp? {
    let microseconds = try optionalInteger(number)
    guard values[key.rawValue] != nil else {
      return microseconds.map { Timestamp(microseconds: $0) }
    }
    guard microseconds == nil, let bytes = plainBytes(key), let time = FlatLine.time(bytes) else {
      throw .invalid(key, "RFC 3339 time in UTC with six decimals")
    }
    return time
  }

  private static func time(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
    let form: StaticString = "0000-00-00T00:00:00.000000Z"
    guard bytes.count == form.utf8CodeUnitCount else { return nil }
    for index in 0..<bytes.count {
      let wanted = form.utf8Start[index]
      let isRight =
        wanted == UInt8(ascii: "0")
        ? bytes[index] &- wanted < 10 : bytes[index] == wanted
      guard isRight else { return nil }
    }
    func number(_ places: Range<Int>) -> Int64 {
      places.reduce(0) { $0 * 10 + Int64(bytes[$1] &- UInt8(ascii: "0")) }
    }
    let date = CalendarTime(
      year: number(0..<4), month: number(5..<7), day: number(8..<10), hour: number(11..<13),
      minute: number(14..<16), second: number(17..<19))
    guard date.isValid else { return nil }
    return Timestamp(microseconds: date.secondsSinceEpoch * 1_000_000 + number(20..<26))
  }

  /// The value of a hexadecimal digit in lower case; 255 for any other byte.
  private static func nibble(_ byte: UInt8) -> UInt8 {
    let decimal = byte &- UInt8(ascii: "0")
    if decimal < 10 { return decimal }
    let letter = byte &- UInt8(ascii: "a")
    return letter < 6 ? letter + 10 : 255
  }
}
