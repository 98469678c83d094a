#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Random bits of the system, 32 words a call: a call for each event would cost as much as hashing
/// the event.
struct RandomBits {
  // 256 bytes, the most getentropy(3) gives at once.
  private static let wordCount = 32
  private var words: [UInt64] = []

  mutating func next() -> UInt64 {
    if words.isEmpty { fill() }
    return words.removeLast()
  }

  private mutating func fill() {
    words = [UInt64](repeating: 0, count: RandomBits.wordCount)
    let code = words.withUnsafeMutableBytes { buffer in
      buffer.baseAddress.map { getentropy($0, buffer.count) } ?? -1
    }
    precondition(code == 0, "the system gives no random bits (error \(errno))")
  }
}
