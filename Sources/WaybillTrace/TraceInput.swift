internal import WaybillHash
internal import WaybillModel

/// The bytes of a source with a look ahead, counted and hashed as they are used.
final class TraceInput {
  private static let pieceByteCount = 65_536

  private let source: TraceSource
  private let hasher = SHA256()
  private var buffer = ByteBuffer(capacity: 2 * pieceByteCount)
  private var start = 0
  private var isAtEnd = false
  /// Why reading ended early; nil when it has not.
  private(set) var failure: TraceError?
  /// How many bytes have been used.
  private(set) var offset: Int64 = 0

  init(_ source: TraceSource) { self.source = source }

  /// What is there and has not been used.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[start...]) }

  /// Reads until so many bytes are there; the count of them, which is smaller at the end. A failure
  /// is an end with a reason.
  func fill(_ count: Int) -> Int {
    while buffer.count - start < count, !isAtEnd {
      buffer.removeFirst(start)
      start = 0
      let room = max(TraceInput.pieceByteCount, count - buffer.count)
      let space = UnsafeMutableRawBufferPointer(start: buffer.spare(room), count: room)
      do throws(TraceError) {
        let read = try source.read(space)
        buffer.commit(read)
        isAtEnd = read == 0
      } catch {
        failure = error
        isAtEnd = true
      }
    }
    return min(count, buffer.count - start)
  }

  /// Marks bytes that are there as used.
  func use(_ count: Int) {
    hasher.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    start += count
    offset += Int64(count)
  }

  /// The SHA-256 of what was used since the last call.
  func digest() -> ContentHash { hasher.finish() }

  /// The unsigned integer at an index of what is there, the lowest byte first.
  func littleEndian(at index: Int) -> UInt32 {
    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
  }
}
