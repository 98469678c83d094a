/// Cuts messages into frames and puts them together again.
///
/// A frame is four bytes, its length in network order, and that many bytes. The highest bit of the
/// length says that the message goes on in the next frame. Everything is bounded before it is kept.
struct MessageFrames {
  /// The most bytes of a frame.
  static let maximumFrameBytes = 65_536
  /// The most frames of a message: the largest reply there can be fits in.
  static let maximumFrames = 8

  /// What arrived is no message of ours.
  struct Damaged: Error {}

  private static let goesOn: UInt32 = 1 << 31

  private var bytes: [UInt8] = []
  private var start = 0
  private var message: [UInt8] = []
  private var frames = 0

  /// The frames of one message; nil when it is empty or too long.
  static func encode(_ message: [UInt8]) -> [UInt8]? {
    guard 1...(maximumFrameBytes * maximumFrames) ~= message.count else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(message.count + 4 * maximumFrames)
    for start in stride(from: 0, to: message.count, by: maximumFrameBytes) {
      let end = min(start + maximumFrameBytes, message.count)
      let length = UInt32(end - start) | (end < message.count ? goesOn : 0)
      withUnsafeBytes(of: length.bigEndian) { out.append(contentsOf: $0) }
      out.append(contentsOf: message[start..<end])
    }
    return out
  }

  /// Takes bytes as they arrive.
  mutating func take(_ new: UnsafeRawBufferPointer) { bytes.append(contentsOf: new) }

  /// The next whole message; nil until more has arrived.
  mutating func next() throws(Damaged) -> [UInt8]? {
    while bytes.count - start >= 4 {
      let head = bytes[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let length = Int(head & ~MessageFrames.goesOn)
      guard 1...MessageFrames.maximumFrameBytes ~= length, frames < MessageFrames.maximumFrames
      else { throw Damaged() }
      guard bytes.count - start - 4 >= length else { break }
      message.append(contentsOf: bytes[(start + 4)..<(start + 4 + length)])
      start += 4 + length
      frames += 1
      guard head & MessageFrames.goesOn == 0 else { continue }
      defer {
        message = []
        frames = 0
      }
      return message
    }
    bytes.removeFirst(start)
    start = 0
    return nil
  }
}
