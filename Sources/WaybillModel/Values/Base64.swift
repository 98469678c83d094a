/// Bytes as text, three bytes in four characters, padded (RFC 4648 section 4).
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        let sextet = Int(bits >> UInt32(18 - 6 * place) & 0x3f)
        out.append(place <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Reads what `encode` writes, and nothing else: nil for another alphabet, missing padding or
  /// bits that stand for nothing.
  package static func decode(_ text: String) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count / 4 * 3)
    var bits: UInt32 = 0
    var sextets = 0
    var padding = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "=") {
        padding += 1
      } else {
        guard padding == 0, let value = sextet(byte) else { return nil }
        bits = bits << 6 | value
      }
      sextets += 1
      if sextets == 4 {
        guard padding <= 2 else { return nil }
        bits <<= UInt32(6 * padding)
        guard bits & (1 << UInt32(8 * padding) - 1) == 0 else { return nil }
        for place in 0..<(3 - padding) { out.append(UInt8(bits >> UInt32(16 - 8 * place) & 0xff)) }
        bits = 0
        sextets = 0
        if padding > 0 { padding = 3 }
      }
    }
    return sextets == 0 ? out : nil
  }

  private static func sextet(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

extension ContentHash {
  /// The 32 bytes in base64, 44 characters: the form a `Content-Digest` has between its colons.
  public var base64: String { Base64.encode(bytes) }
}
