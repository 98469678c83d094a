/// Bytes as text, three bytes in four characters, padded (RFC 4648 section 4).
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String {
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
}

extension ContentHash {
  /// The 32 bytes in base64, 44 characters: the form a `Content-Digest` has between its colons.
  public var base64: String { Base64.encode(bytes) }
}
