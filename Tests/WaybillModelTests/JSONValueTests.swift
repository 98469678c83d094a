import Testing
import WaybillModel
import WaybillTesting

struct JSONValueTests {
  private func read(_ text: String) throws(JSONError) -> JSONValue {
    try JSONValue.read([UInt8](text.utf8))
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9007199254740993", 9_007_199_254_740_993), (" \t\r\n7 ", 7),
    ] as [(String, Int64)])
  func `whole numbers are exact`(text: String, value: Int64) throws {
    #expect(try read(text) == .integer(value))
  }

  @Test(arguments: ["1.0", "1e3", "9223372036854775808", "-9223372036854775809", "-0.5E-7"])
  func `other numbers keep their spelling and are no integers`(text: String) throws {
    #expect(try read(text) == .number(text))
    #expect(try read(text).integer == nil)
    #expect(try read(text).serialized == text)
  }

  @Test(arguments: [
    "", " ", "01", "-", "1.", ".5", "1e", "+1", "NaN", "0x1", "tru", "nul", "True", "[", "[1,]",
    "[1 2]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "{,}", "[,]", "\"",
    "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "\"\u{0}\"", "1 1", "{}{}", "[]]",
    "\u{feff}1", "'a'", "/**/1", "-01", "1_0",
  ])
  func `what is not JSON is refused`(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test(arguments: ["{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "[{\"x\":{\"k\":0,\"k\":0}}]"])
  func `a doubled key is refused`(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test func `nesting is bounded`() throws {
    let eight = String(repeating: "[", count: 8) + String(repeating: "]", count: 8)
    #expect(throws: Never.self) { try read(eight) }
    #expect(throws: JSONError.self) { try read("[\(eight)]") }
    let endless = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    let error = try #require(throws: JSONError.self) { try JSONValue.read(endless) }
    #expect(error.offset == 8)
    #expect(throws: Never.self) {
      try JSONValue.read([UInt8]("[[1],[1],{}]".utf8), maximumDepth: 2)
    }
  }

  @Test(arguments: [
    ("\"\\ud83d\\ude00\"", "😀"), ("\"\\u00e9\"", "é"),
    ("\"\\/\\b\\f\\n\\r\\t\"", "/\u{8}\u{c}\n\r\t"),
    ("\"\\u0000\"", "\0"), ("\"\\uFFFF\"", "\u{ffff}"), ("\"\\udbff\\udfff\"", "\u{10ffff}"),
  ])
  func `escapes are read`(text: String, value: String) throws {
    let read = try #require(try read(text).text)
    #expect(read.unicodeScalars.elementsEqual(value.unicodeScalars))
  }

  @Test(arguments: [
    "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\n\"",
    "\"\\ude00\\ud83d\"", "\"\\ud83d\\u\"",
  ])
  func `half a surrogate pair is refused`(text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test(
    arguments: [
      [0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
    ] as [[UInt8]])
  func `invalid UTF-8 is refused`(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONValue.read([0x22] + bytes + [0x22]) }
    #expect(throws: JSONError.self) { try JSONValue.read([0x22] + bytes) }
    #expect(throws: JSONError.self) { try JSONValue.read(bytes) }
  }

  @Test func `an answer is only given for the right shape`() throws {
    let value = try read("{\"a\":[true,null,\"x\",1]}")
    #expect(value["a"]?.array == [.bool(true), .null, .text("x"), .integer(1)])
    #expect(value["b"] == nil && value.text == nil && value.integer == nil && value.bool == nil)
    #expect(JSONValue.array([])["a"] == nil && JSONValue.null.array == nil)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `what is written reads back the same`(number: UInt64) throws {
    var seed = Seed(number)
    for _ in 0..<50 {
      let value = JSONValue.random(&seed, depth: 7)
      let text = value.serialized
      #expect(try read(text) == value, "seed \(number): \(text)")
      #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `damaged documents are refused or read, never trapped on`(number: UInt64) {
    var seed = Seed(number)
    for _ in 0..<100 {
      var bytes = [UInt8](JSONValue.random(&seed, depth: 5).serialized.utf8)
      for _ in 0...seed.below(3) where !bytes.isEmpty {
        let at = seed.below(bytes.count)
        switch seed.below(3) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: seed.next())
        case 1: bytes.remove(at: at)
        default: bytes.removeSubrange(at...)
        }
      }
      _ = try? JSONValue.read(bytes)
    }
  }
}

extension JSONValue {
  fileprivate static func random(_ seed: inout Seed, depth: Int) -> JSONValue {
    switch seed.below(depth > 0 ? 7 : 5) {
    case 0: return .null
    case 1: return .bool(seed.once(in: 2))
    case 2: return .integer(Int64(bitPattern: seed.next()) >> Int64(seed.below(64)))
    case 3: return .number("\(seed.below(1000)).\(seed.below(1000))e-\(seed.below(300))")
    case 4: return .text(text(&seed))
    case 5: return .array((0..<seed.below(4)).map { _ in random(&seed, depth: depth - 1) })
    default:
      return .object(
        (0..<seed.below(4)).map { Member("\($0)" + text(&seed), random(&seed, depth: depth - 1)) })
    }
  }

  private static func text(_ seed: inout Seed) -> String {
    let ceilings: [UInt32] = [0x20, 0x80, 0x100, 0x3000, 0x1_0000, 0x11_0000]
    let scalars = (0..<seed.below(9)).map { _ -> Unicode.Scalar in
      let ceiling = ceilings[seed.below(ceilings.count)]
      return Unicode.Scalar(UInt32(truncatingIfNeeded: seed.next()) % ceiling) ?? "\u{2028}"
    }
    return String(String.UnicodeScalarView(scalars))
  }
}
