import Testing
import WaybillModel
import WaybillTesting

struct FileNameTests {
  @Test func `every control character is spelled out`() {
    for value in [UInt32](0x00...0x1f) + [0x7f] + [UInt32](0x80...0x9f) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let shown = FileName("a\(scalar)b").display
      #expect(shown.hasPrefix("a\\") && shown.hasSuffix("b"))
      #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7f })
    }
    #expect(FileName("\u{1b}[31m").display == "\\x1b[31m")
    #expect(FileName("a\r\nX-Evil: 1.jpg").display == "a\\r\\nX-Evil: 1.jpg")
    #expect(FileName("\u{9b}").display == "\\u{9b}")
  }

  @Test(
    arguments: [
      0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068,
      0x2069,
      0x2028, 0x2029, 0xfeff, 0x00ad, 0x200b, 0xe0041, 0xe000, 0xffff,
    ] as [UInt32])
  func `what changes direction or cannot be seen is spelled out`(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let digits = String(value, radix: 16)
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    #expect(FileName("x\(scalar)y").display == "x\\u{\(zeros)\(digits)}y")
    #expect(EscapedText.escape("\(scalar)") == "\\u{\(zeros)\(digits)}")
  }

  @Test(
    arguments: [
      ([0xff], "\\xff"), ([0xc3], "\\xc3"), ([0xc3, 0x28], "\\xc3("),
      ([0xe2, 0x82], "\\xe2\\x82"), ([0xe2, 0x82, 0x41], "\\xe2\\x82A"),
      ([0xf0, 0x9f, 0x98], "\\xf0\\x9f\\x98"), ([0xc0, 0xaf], "\\xc0\\xaf"),
      ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"), ([0xf4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"),
      ([0x80, 0xc3, 0xa9], "\\x80é"),
      ([0xf8, 0x88, 0x80, 0x80, 0x80], "\\xf8\\x88\\x80\\x80\\x80"),
    ] as [([UInt8], String)])
  func `bytes that are not UTF-8 are shown one by one`(bytes: [UInt8], shown: String) {
    let name = FileName(bytes: bytes)
    #expect(name.display == shown)
    #expect(name.text == nil)
    #expect(name.bytes == bytes)
    #expect(name.repaired.contains("\u{fffd}"))
  }

  @Test(arguments: ["café.heic", "cafe\u{301}.heic", "写真 1.jpg", "👨‍👩‍👧.png", "a'b\"c", ""])
  func `ordinary names are shown as they are`(text: String) {
    #expect(FileName(text).display.utf8.elementsEqual(text.utf8))
    #expect(FileName(text).text?.utf8.elementsEqual(text.utf8) == true)
  }

  // Case D02.
  @Test func `names in two Unicode forms are two names`() {
    #expect(FileName("caf\u{e9}") != FileName("cafe\u{301}"))
  }

  @Test func `different bytes are never shown alike`() {
    var seed = Seed(41)
    var shown: [String: [UInt8]] = [:]
    let alphabet: [UInt8] = [
      0x5c, 0x78, 0x66, 0x6e, 0x75, 0x7b, 0x7d, 0xff, 0x0a, 0xe2, 0x80, 0xae,
    ]
    for _ in 0..<20_000 {
      let bytes = (0..<seed.below(7)).map { _ in alphabet[seed.below(alphabet.count)] }
      let display = FileName(bytes: bytes).display
      #expect(shown[display] ?? bytes == bytes)
      shown[display] = bytes
    }
  }
}
