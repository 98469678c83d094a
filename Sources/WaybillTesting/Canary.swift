internal import WaybillModel

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A made-up secret that a test plants, and looks for in everything that was written.
///
/// A secret that leaks seldom leaks as it is: it is looked for in each of the forms in which
/// writers of logs, URLs and documents put text down. Compressed bytes hide all of them, so
/// decompress first.
public struct Canary: Sendable {
  /// A form a text can be written down in.
  public enum Form: String, Sendable, CaseIterable {
    /// As it is.
    case utf8
    /// Two bytes a unit, low byte first.
    case utf16LittleEndian
    /// Two bytes a unit, high byte first.
    case utf16BigEndian
    /// Digits of base 16, in lower case.
    case hexLower
    /// Digits of base 16, in upper case.
    case hexUpper
    /// Percent signs for what a URL does not carry as it is (RFC 3986 section 2.3).
    case url
    /// Percent signs for every byte.
    case urlWhole
    /// Backslashes for what a JSON text does not carry as it is (RFC 8259 section 7).
    case json
    /// `\u00XX` for every unit.
    case jsonWhole
    /// Base 64 (RFC 4648 section 4), beginning at a group of three bytes.
    case base64
    /// Base 64 behind one byte of something else.
    case base64BehindOne
    /// Base 64 behind two bytes of something else.
    case base64BehindTwo
  }

  /// The secret, at least 12 characters long, so that no form of it is found by chance.
  public let text: String

  /// Plants nothing by itself: it is the text that is planted.
  public init(_ text: String) {
    precondition(text.utf8.count >= 12, "a short secret is found by chance")
    self.text = text
  }

  /// The forms in which the secret stands in some bytes; none is the wish. Takes one pass for
  /// each form.
  public func forms(in bytes: [UInt8]) -> [Form] {
    Form.allCases.filter { form in
      needle(form).withUnsafeBytes { needle in
        bytes.withUnsafeBytes { Canary.contains(needle, in: $0) }
      }
    }
  }

  private static func contains(
    _ needle: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard var place = bytes.baseAddress, let first = needle.baseAddress else { return false }
    let end = place + bytes.count
    while end - place >= needle.count,
      let found = memchr(place, Int32(needle[0]), end - place - needle.count + 1)
    {
      if memcmp(found, first, needle.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }

  /// The bytes of the secret in one form.
  public func needle(_ form: Form) -> [UInt8] {
    let bytes = [UInt8](text.utf8)
    switch form {
    case .utf8: return bytes
    case .utf16LittleEndian: return text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    case .utf16BigEndian: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    case .hexLower: return bytes.flatMap { Canary.hex($0, isUpper: false).utf8 }
    case .hexUpper: return bytes.flatMap { Canary.hex($0, isUpper: true).utf8 }
    case .url:
      return bytes.flatMap { byte -> [UInt8] in
        Canary.isUnreserved(byte) ? [byte] : Array("%\(Canary.hex(byte, isUpper: true))".utf8)
      }
    case .urlWhole: return bytes.flatMap { "%\(Canary.hex($0, isUpper: true))".utf8 }
    case .json:
      return [UInt8](JSONValue.text(text).serialized.utf8.dropFirst().dropLast())
    case .jsonWhole:
      return text.utf16.flatMap { unit in
        let halves = [UInt8(unit >> 8), UInt8(unit & 0xff)]
        return "\\u\(halves.map { Canary.hex($0, isUpper: false) }.joined())".utf8
      }
    case .base64: return Canary.base64(bytes, behind: 0)
    case .base64BehindOne: return Canary.base64(bytes, behind: 1)
    case .base64BehindTwo: return Canary.base64(bytes, behind: 2)
    }
  }
}

extension Canary {
  /// The characters that stand for the secret whatever stands around it.
  private static func base64(_ bytes: [UInt8], behind count: Int) -> [UInt8] {
    let text = Base64.encode([UInt8](repeating: 0, count: count) + bytes)
    let first = (count * 8 + 5) / 6
    let last = (count + bytes.count) * 8 / 6
    return Array(Array(text.utf8)[first..<last])
  }

  private static func hex(_ byte: UInt8, isUpper: Bool) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: isUpper)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
      UInt8(ascii: "."), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
