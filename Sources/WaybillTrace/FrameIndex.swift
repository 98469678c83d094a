internal import WaybillHash
internal import WaybillModel

/// The skippable LZ4 frame behind a trace that says where each of its frames begins.
///
/// It is last, and its own end says how long it is, so that a reader finds it from the end of the
/// file. `schema/trace.md` has its layout.
enum FrameIndex {
  /// What the frame begins with: the first of the numbers that LZ4 leaves to others.
  static let magic: UInt32 = 0x184d_2a50
  /// All numbers a skippable frame may begin with.
  static let skippableMagics: ClosedRange<UInt32> = 0x184d_2a50...0x184d_2a5f
  /// What a frame with content begins with.
  static let dataMagic: UInt32 = 0x184d_2204

  /// Whether the few bytes that are left could go on as a frame.
  static func beginsMagic(_ bytes: UnsafeRawBufferPointer) -> Bool {
    [dataMagic, magic].contains { magic in
      withUnsafeBytes(of: magic.littleEndian) { $0.starts(with: bytes) }
    }
  }

  /// The shape of the index this code writes.
  static let version: UInt32 = 1
  /// Magic and length, which every skippable frame begins with.
  static let headByteCount = 8
  /// Count, version, length and word, which an index ends with.
  static let tailByteCount = 16

  /// What is said of one frame.
  struct Entry: Equatable {
    /// Where the frame begins, counted from the first byte of its trace.
    var offset: Int64
    /// The position of its first event; 0 without events.
    var first: Int64 = 0
    /// The position of its last event; 0 without events.
    var last: Int64 = 0
    /// How many events it holds.
    var eventCount: UInt32 = 0

    /// How many bytes an entry takes.
    static let byteCount = 28

    /// Takes one more event in.
    mutating func add(_ position: GlobalPosition) {
      if eventCount == 0 { first = position.value }
      last = position.value
      eventCount += 1
    }

    func write(to out: inout ByteBuffer) {
      out.append(littleEndian: UInt64(bitPattern: offset))
      out.append(littleEndian: first)
      out.append(littleEndian: last)
      out.append(littleEndian: eventCount)
    }
  }

  /// How many bytes the payload of the index of so many frames has.
  static func payloadByteCount(frames: Int) -> Int { frames * Entry.byteCount + tailByteCount }

  /// Adds the head of the index of so many frames; the entries follow it.
  static func head(frames: Int, to out: inout ByteBuffer) {
    out.append(littleEndian: magic)
    out.append(littleEndian: UInt32(payloadByteCount(frames: frames)))
  }

  /// Adds the end of the index of so many frames.
  static func tail(frames: Int, to out: inout ByteBuffer) {
    out.append(littleEndian: UInt32(frames))
    out.append(littleEndian: version)
    out.append(littleEndian: UInt32(payloadByteCount(frames: frames) + headByteCount))
    out.append("WBIX")
  }
}
