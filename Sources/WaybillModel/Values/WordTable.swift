/// Finds a word of a closed list by its bytes, without making a string of them first.
///
/// Each word is kept as 32 bytes filled up with zeros, so that a look is one hash and one
/// comparison; all words of this house are shorter.
struct WordTable<Word: CaseIterable & RawRepresentable & Sendable>: Sendable
where Word.RawValue == String {
  private typealias Key = SIMD4<UInt64>

  private var slots: [(key: Key, word: Word)?] = Array(repeating: nil, count: 128)

  init() {
    for word in Word.allCases {
      let bytes = [UInt8](word.rawValue.utf8)
      guard let key = bytes.withUnsafeBytes({ Self.key($0) }) else {
        preconditionFailure("the word \(word.rawValue) is longer than 32 bytes")
      }
      var slot = Self.slot(key)
      while slots[slot] != nil { slot = (slot + 1) % slots.count }
      slots[slot] = (key, word)
    }
  }

  subscript(bytes: UnsafeRawBufferPointer) -> Word? {
    guard let key = Self.key(bytes) else { return nil }
    var slot = Self.slot(key)
    while let entry = slots[slot] {
      if entry.key == key { return entry.word }
      slot = (slot + 1) % slots.count
    }
    return nil
  }

  /// nil for what can be no word: too long, or with a zero byte, which would look like filling.
  private static func key(_ bytes: UnsafeRawBufferPointer) -> Key? {
    guard bytes.count <= 32, bytes.last != 0 else { return nil }
    var key = Key()
    withUnsafeMutableBytes(of: &key) { $0.copyMemory(from: bytes) }
    return key
  }

  private static func slot(_ key: Key) -> Int {
    let mixed = (key[0] &+ key[1] &* 31 &+ key[2] &* 961) &* 0x9e37_79b9_7f4a_7c15
    return Int(truncatingIfNeeded: mixed >> 57)
  }
}

extension EventKind {
  private static let table = WordTable<EventKind>()

  /// The kind with that stored name in UTF-8; nil when this code does not know it.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    guard let kind = EventKind.table[bytes] else { return nil }
    self = kind
  }
}

extension Cause {
  private static let table = WordTable<Cause>()

  /// The cause with that stored name in UTF-8; nil when this code does not know it.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    guard let cause = Cause.table[bytes] else { return nil }
    self = cause
  }
}

extension StateWord {
  private static let table = WordTable<StateWord>()

  /// The state with that stored word in UTF-8; nil when this code does not know it.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    guard let word = StateWord.table[bytes] else { return nil }
    self = word
  }
}
