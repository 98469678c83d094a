/// The 36-character text form of a UUID (RFC 9562 section 4), shared by every 128-bit identifier.
enum UUIDText {
  static func write(_ high: UInt64, _ low: UInt64) -> String {
    String(unsafeUninitializedCapacity: 36) { out in
      var at = 0
      for index in 0..<32 {
        if index == 8 || index == 12 || index == 16 || index == 20 {
          out[at] = UInt8(ascii: "-")
          at += 1
        }
        let half = index < 16 ? high : low
        let digit = UInt8((half >> UInt64(60 - 4 * (index % 16))) & 0xf)
        out[at] = Hex.digit(digit)
        at += 1
      }
      return at
    }
  }

  static func read(_ text: String) -> (high: UInt64, low: UInt64)? {
    var halves: (UInt64, UInt64) = (0, 0)
    var digits = 0
    var at = 0
    for byte in text.utf8 {
      if at == 8 || at == 13 || at == 18 || at == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else {
        guard digits < 32, let value = Hex.value(byte) else { return nil }
        if digits < 16 {
          halves.0 = halves.0 << 4 | UInt64(value)
        } else {
          halves.1 = halves.1 << 4 | UInt64(value)
        }
        digits += 1
      }
      at += 1
    }
    return at == 36 ? halves : nil
  }
}

/// Hexadecimal digits, lower case when written and either case when read.
enum Hex {
  static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
