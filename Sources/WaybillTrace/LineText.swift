internal import WaybillModel

/// The pieces of a JSON line, written byte by byte.
extension ByteBuffer {
  /// The comma, key and colon before a value. The first key of a line stands behind its brace.
  mutating func append(key: TraceKey) {
    let name = key.name
    let length = name.utf8CodeUnitCount
    let out = spare(length + 4)
    out[0] = UInt8(ascii: ",")
    out[1] = UInt8(ascii: "\"")
    (out + 2).update(from: name.utf8Start, count: length)
    out[length + 2] = UInt8(ascii: "\"")
    out[length + 3] = UInt8(ascii: ":")
    commit(length + 4)
  }

  /// An integer as a number, or as a string where readers that count in doubles would round it.
  mutating func append(json number: Int64) {
    let isExact = number.magnitude < 1 << 53
    if !isExact { append(UInt8(ascii: "\"")) }
    append(decimal: number)
    if !isExact { append(UInt8(ascii: "\"")) }
  }

  private mutating func append(decimal number: Int64) {
    let out = spare(20)
    var rest = number.magnitude
    var length = number < 0 ? 2 : 1
    while rest > 9 {
      rest /= 10
      length += 1
    }
    if number < 0 { out[0] = UInt8(ascii: "-") }
    rest = number.magnitude
    var at = length
    repeat {
      at -= 1
      out[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    commit(length)
  }

  /// Text as a JSON string.
  mutating func append(json text: String) {
    var text = text
    text.withUTF8 { append(json: UnsafeRawBufferPointer($0)) }
  }

  /// Bytes that are valid UTF-8 as a JSON string on one line, the way `JSONValue` writes one: what
  /// a terminal or a line reader would take as a command is escaped, all else stands as it is.
  mutating func append(json text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    var plain = 0
    var at = 0
    while at < text.count {
      let byte = text[at]
      if byte >= 0x20, byte < 0x7f, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        at += 1
        continue
      }
      guard let (scalar, length) = ByteBuffer.escaped(text, at) else {
        at += 1
        continue
      }
      append(UnsafeRawBufferPointer(rebasing: text[plain..<at]))
      append(escape: scalar)
      at += length
      plain = at
    }
    append(UnsafeRawBufferPointer(rebasing: text[plain..<at]))
    append(UInt8(ascii: "\""))
  }

  /// The scalar at a byte and its length, if it is one that must be escaped.
  private static func escaped(
    _ text: UnsafeRawBufferPointer, _ at: Int
  ) -> (scalar: UInt16, length: Int)? {
    let byte = text[at]
    if byte < 0x80 { return (UInt16(byte), 1) }
    if byte == 0xc2, at + 1 < text.count, text[at + 1] < 0xa0 {
      return (UInt16(text[at + 1]), 2)
    }
    if byte == 0xe2, at + 2 < text.count, text[at + 1] == 0x80, text[at + 2] & 0xfe == 0xa8 {
      return (0x2000 | UInt16(text[at + 2] & 0x3f), 3)
    }
    return nil
  }

  private mutating func append(escape scalar: UInt16) {
    append(UInt8(ascii: "\\"))
    switch scalar {
    case 0x22, 0x5c: append(UInt8(scalar))
    case 0x0a: append(UInt8(ascii: "n"))
    case 0x0d: append(UInt8(ascii: "r"))
    case 0x09: append(UInt8(ascii: "t"))
    default:
      append(UInt8(ascii: "u"))
      let out = UnsafeMutableRawPointer(spare(4))
      ByteBuffer.store(low: ByteBuffer.hex(UInt32(scalar)), out)
      commit(4)
    }
  }

  /// A SHA-256 as a JSON string of 64 hexadecimal digits.
  mutating func append(json hash: ContentHash) {
    let out = UnsafeMutableRawPointer(spare(66))
    out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    hash.withBytes { bytes in
      for word in 0..<8 {
        let number = UInt32(
          bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * word, as: UInt32.self))
        ByteBuffer.store(ByteBuffer.hex(number), out + 1 + 8 * word)
      }
    }
    out.storeBytes(of: UInt8(ascii: "\""), toByteOffset: 65, as: UInt8.self)
    commit(66)
  }

  /// A UUID as a JSON string of 36 characters.
  mutating func append(json high: UInt64, _ low: UInt64) {
    append("\"00000000-0000-0000-0000-000000000000\"")
    let out = UnsafeMutableRawPointer(spare(0)) - 37
    let middle = ByteBuffer.hex(UInt32(truncatingIfNeeded: high))
    let next = ByteBuffer.hex(UInt32(truncatingIfNeeded: low >> 32))
    ByteBuffer.store(ByteBuffer.hex(UInt32(truncatingIfNeeded: high >> 32)), out)
    ByteBuffer.store(low: middle >> 32, out + 9)
    ByteBuffer.store(low: middle, out + 14)
    ByteBuffer.store(low: next >> 32, out + 19)
    ByteBuffer.store(low: next, out + 24)
    ByteBuffer.store(ByteBuffer.hex(UInt32(truncatingIfNeeded: low)), out + 28)
  }

  /// The eight digits of a number in lower-case hexadecimal, the first in the highest byte.
  ///
  /// All eight at once: each half byte gets a byte of its own, and those above nine move on to the
  /// letters.
  private static func hex(_ number: UInt32) -> UInt64 {
    var nibbles = UInt64(number)
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f
    let areLetters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return nibbles + 0x3030_3030_3030_3030 + areLetters * 39
  }

  private static func store(_ digits: UInt64, _ out: UnsafeMutableRawPointer) {
    out.storeBytes(of: digits.bigEndian, as: UInt64.self)
  }

  /// Stores the last four of eight digits.
  private static func store(low digits: UInt64, _ out: UnsafeMutableRawPointer) {
    out.storeBytes(of: UInt32(truncatingIfNeeded: digits).bigEndian, as: UInt32.self)
  }

  /// A moment of the years 1 to 9999 as RFC 3339 spells it, in UTC with six decimals.
  mutating func append(json date: CalendarTime, microsecond: Int64) {
    let out = spare(29)
    out[0] = UInt8(ascii: "\"")
    ByteBuffer.put(date.year, digits: 4, then: UInt8(ascii: "-"), out + 1)
    ByteBuffer.put(date.month, digits: 2, then: UInt8(ascii: "-"), out + 6)
    ByteBuffer.put(date.day, digits: 2, then: UInt8(ascii: "T"), out + 9)
    ByteBuffer.put(date.hour, digits: 2, then: UInt8(ascii: ":"), out + 12)
    ByteBuffer.put(date.minute, digits: 2, then: UInt8(ascii: ":"), out + 15)
    ByteBuffer.put(date.second, digits: 2, then: UInt8(ascii: "."), out + 18)
    ByteBuffer.put(microsecond, digits: 6, then: UInt8(ascii: "Z"), out + 21)
    out[28] = UInt8(ascii: "\"")
    commit(29)
  }

  private static func put(
    _ number: Int64, digits: Int, then mark: UInt8, _ out: UnsafeMutablePointer<UInt8>
  ) {
    var rest = number
    for place in stride(from: digits - 1, through: 0, by: -1) {
      out[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    out[digits] = mark
  }
}
