import Testing

@testable import WaybillEngine

@Suite struct MessageFramesTests {
  private func take(_ bytes: [UInt8], into frames: inout MessageFrames) {
    bytes.withUnsafeBytes { frames.take($0) }
  }

  @Test(arguments: [1, 2, 65_535, 65_536, 65_537, 131_072, 8 * 65_536])
  func `a message arrives whole however its bytes are cut`(count: Int) throws {
    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    let bytes = try #require(MessageFrames.encode(message))
    for piece in [1, 3, 4_096, 70_000, bytes.count] where count < 70_000 || piece > 3 {
      var frames = MessageFrames()
      var seen: [[UInt8]] = []
      // Two in a row, so that the end of one is followed by the beginning of the next.
      let all = bytes + bytes
      for start in stride(from: 0, to: all.count, by: piece) {
        take(Array(all[start..<min(start + piece, all.count)]), into: &frames)
        while let next = try frames.next() { seen.append(next) }
      }
      #expect(seen == [message, message])
    }
  }

  @Test func `what is empty or beyond the bound is not sent`() {
    #expect(MessageFrames.encode([]) == nil)
    #expect(MessageFrames.encode([UInt8](repeating: 0, count: 8 * 65_536 + 1)) == nil)
  }

  @Test(arguments: [
    [0, 0, 0, 0], [0, 1, 0, 1], [0xff, 0xff, 0xff, 0xff], Array("GET / HTTP/1.1\r\n".utf8),
  ])
  func `a length beyond the bound is refused before it is waited for`(bytes: [UInt8]) {
    var frames = MessageFrames()
    take(bytes, into: &frames)
    #expect(throws: MessageFrames.Damaged.self) { try frames.next() }
  }

  @Test func `a message of more frames than there may be is refused`() throws {
    var frames = MessageFrames()
    for _ in 0..<8 {
      take([0x80, 0, 0, 1, 7], into: &frames)
      #expect(try frames.next() == nil)
    }
    take([0, 0, 0, 1, 7], into: &frames)
    #expect(throws: MessageFrames.Damaged.self) { try frames.next() }
  }
}
