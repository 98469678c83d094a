/// Bytes put one behind the other into memory that is used again and again.
///
/// A writer of millions of lines makes no array and no string for any of them.
struct ByteBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// What was put in, until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Memory behind the bytes for `room` more; `commit` then says how many of them are good.
  mutating func spare(_ room: Int) -> UnsafeMutablePointer<UInt8> {
    if capacity - count < room { grow(room) }
    return base + count
  }

  mutating func commit(_ added: Int) {
    precondition(added <= capacity - count, "more bytes are said to be there than had room")
    count += added
  }

  mutating func removeAll() { count = 0 }

  /// Takes away all bytes from an index on.
  mutating func truncate(to length: Int) {
    precondition(length <= count, "a buffer is only cut at a byte it has")
    count = length
  }

  /// Takes away bytes at the front, and moves the rest there.
  mutating func removeFirst(_ taken: Int) {
    precondition(taken <= count, "no more bytes are taken than there are")
    base.update(from: base + taken, count: count - taken)
    count -= taken
  }

  mutating func append(_ byte: UInt8) {
    spare(1).pointee = byte
    count += 1
  }

  mutating func append(_ text: StaticString) {
    spare(text.utf8CodeUnitCount).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    UnsafeMutableRawPointer(spare(bytes.count)).copyMemory(
      from: start, byteCount: bytes.count)
    count += bytes.count
  }

  private mutating func grow(_ room: Int) {
    let enough = max(capacity * 2, count + room)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: enough)
    moved.update(from: base, count: count)
    base.deallocate()
    base = moved
    capacity = enough
  }
}

extension ByteBuffer {
  /// An integer of so many bytes, the lowest first.
  mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    withUnsafeBytes(of: number.littleEndian) { append($0) }
  }
}
