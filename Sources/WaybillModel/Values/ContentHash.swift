/// The SHA-256 of some bytes (FIPS 180-4): 32 bytes, compared and stored as such.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Makes a hash from exactly 32 bytes; the caller has made sure of the count.
  public init(unchecked bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == 32, "a SHA-256 value has 32 bytes, not \(bytes.count)")
    func word(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }
    words = (word(0), word(1), word(2), word(3))
  }

  /// Makes a hash from bytes; nil unless there are 32.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self = bytes.withUnsafeBytes { ContentHash(unchecked: $0) }
  }

  /// Reads 64 hexadecimal digits, in either case; nil for anything else.
  public init?(hex text: String) {
    guard text.utf8.count == 64 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = Hex.value(digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    self.init(bytes)
  }

  /// The value before the first event of a chain: 32 zero bytes.
  public static let zero = [UInt8](repeating: 0, count: 32).withUnsafeBytes {
    ContentHash(unchecked: $0)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
  }

  /// Calls `body` with the 32 bytes without making an array.
  public func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    let big = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
    return withUnsafeBytes(of: big, body)
  }

  /// 64 hexadecimal digits in lower case.
  public var description: String {
    withBytes { bytes in
      String(unsafeUninitializedCapacity: 64) { out in
        for (index, byte) in bytes.enumerated() {
          out[2 * index] = Hex.digit(byte >> 4)
          out[2 * index + 1] = Hex.digit(byte & 0xf)
        }
        return 64
      }
    }
  }

  /// Equal when all 32 bytes are.
  public static func == (left: ContentHash, right: ContentHash) -> Bool {
    left.words == right.words
  }

  /// Feeds the first eight bytes, which are as random as all of them.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
