/// The name a person's file had, byte for byte. Data only: it never builds a path.
public struct FileName: Hashable, Sendable {
  /// The bytes as the file system gave them; not always valid UTF-8.
  public let bytes: [UInt8]

  /// Makes a name from its bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// Makes a name from text.
  public init(_ text: String) { bytes = [UInt8](text.utf8) }

  /// The name as text when it is valid UTF-8; nil otherwise.
  public var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The name for machines: the text itself, with bytes that are not UTF-8 as U+FFFD.
  public var repaired: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes in hexadecimal, for names that are not valid UTF-8.
  public var hex: String { bytes.map { EscapedText.hex(UInt32($0), width: 2) }.joined() }

  /// The name on one line of a terminal: control and direction-changing characters become
  /// `\x1b` or `\u{202e}`, a backslash doubles, and bytes that are not UTF-8 become `\xff`.
  public var display: String {
    var out = ""
    var rest = bytes[...]
    while !rest.isEmpty {
      if let (scalar, length) = FileName.firstScalar(of: rest) {
        out += EscapedText.escape(scalar)
        rest = rest.dropFirst(length)
      } else if let byte = rest.popFirst() {
        out += "\\x\(EscapedText.hex(UInt32(byte), width: 2))"
      }
    }
    return out
  }

  /// The first Unicode scalar of UTF-8 bytes and its length, or nil if they do not begin with one.
  private static func firstScalar(of bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
    var decoder = UTF8()
    var iterator = bytes.prefix(4).makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    return (scalar, UTF8.width(scalar))
  }
}

/// Text from outside made safe for one line of a terminal. The only such function in the house.
public enum EscapedText {
  /// Escapes a whole text, scalar by scalar.
  public static func escape(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += escape($1) }
  }

  /// Escapes one scalar: C0, DEL, C1, line separators and every format control (category Cf,
  /// which holds the direction controls of Unicode UAX #9) are spelled out; `\` is doubled.
  public static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": return "\\\\"
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    case "\u{200d}": return String(Character(scalar))  // joins emoji, changes no direction
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control:
      return scalar.value < 0x80
        ? "\\x\(hex(scalar.value, width: 2))" : "\\u{\(hex(scalar.value, width: 2))}"
    case .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
      return "\\u{\(hex(scalar.value, width: 4))}"
    default: return String(Character(scalar))
    }
  }

  static func hex(_ value: UInt32, width: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
