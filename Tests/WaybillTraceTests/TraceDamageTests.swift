import Testing
import WaybillModel
import WaybillTesting
import WaybillTrace

/// Every cut, every flipped bit, and many random changes: the reader ends, gives no wrong event,
/// and calls nothing whole that is not.
struct TraceDamageTests {
  /// A small trace in several frames, and how many events stand in the frames before each end.
  private struct Small {
    var events: [RecordedEvent]
    var bytes: [UInt8] = []
    var ends: [(byte: Int, events: Int)] = []

    init(frames: Int, perFrame: Int) throws {
      events = interleaved(uploads: 3, events: frames * perFrame)
      let lines = Forge.lines(try pack(events).bytes)
      var entries: [UInt8] = []
      for frame in 0..<frames {
        var part = Array(lines[(1 + frame * perFrame)...].prefix(perFrame))
        if frame == 0 { part.insert(lines[0], at: 0) }
        if frame == frames - 1 { part.append(lines[lines.count - 1]) }
        let first = Int64(frame * perFrame + 1)
        entries += Forge.littleEndian(UInt64(bytes.count)) + Forge.littleEndian(first)
        entries += Forge.littleEndian(first + Int64(perFrame) - 1)
        entries += Forge.littleEndian(UInt32(perFrame))
        bytes += Forge.frame(lines: part)
        ends.append((bytes.count, (frame + 1) * perFrame))
      }
      let length = UInt32(entries.count + 24)
      entries += Forge.littleEndian(UInt32(frames)) + Forge.littleEndian(UInt32(1))
      entries += Forge.littleEndian(length) + [UInt8]("WBIX".utf8)
      bytes += Forge.skippable(entries)
    }

    /// Whether what was read is a front of the events, and whole only when it is all of them.
    func agrees(_ reading: Reading) -> Bool {
      reading.events.count <= events.count
        && reading.events == Array(events[..<reading.events.count])
        && (!reading.isWhole || reading.events.count == events.count)
    }
  }

  @Test func `no cut of a trace is whole, and frames before the cut are kept`() throws {
    let small = try Small(frames: 3, perFrame: 4)
    #expect(Reading(small.bytes).isWhole)
    for length in 0..<small.bytes.count {
      let reading = Reading(Array(small.bytes[..<length]))
      #expect(!reading.isWhole, "cut at \(length)")
      #expect(small.agrees(reading), "cut at \(length)")
      let kept = small.ends.last { $0.byte <= length }?.events ?? 0
      #expect(reading.events.count >= kept, "cut at \(length)")
      if let damage = reading.damage {
        #expect(damage.offset == Int64(length))
        #expect(damage.eventCount == Int64(reading.events.count))
        #expect(damage.lastPosition == reading.events.last?.position)
      } else {
        #expect(reading.remarks.map(\.code) == [.missingIndex])
        #expect(length == small.ends.last?.byte)
      }
    }
  }

  @Test func `no flipped bit gives a wrong event, and each is noticed`() throws {
    let small = try Small(frames: 2, perFrame: 3)
    for place in small.bytes.indices {
      for bit in 0..<8 {
        var bytes = small.bytes
        bytes[place] ^= 1 << bit
        let reading = Reading(bytes)
        #expect(small.agrees(reading), "bit \(bit) of byte \(place)")
        #expect(!reading.isWhole, "bit \(bit) of byte \(place)")
      }
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `random changes of a file never stop the reader nor fool it`(seed: UInt64) throws {
    var random = Seed(seed)
    let small = try Small(frames: 3, perFrame: 3)
    for round in 0..<400 {
      var bytes = small.bytes
      for _ in 0...random.below(4) { change(&bytes, &random) }
      let reading = Reading(bytes)
      // Frames may have been doubled or dropped whole: then the lines are right, and their order
      // is what gives the change away.
      if reading.isWhole, bytes != small.bytes {
        #expect(reading.events.count % small.events.count == 0, "seed \(seed), round \(round)")
      } else if bytes != small.bytes {
        #expect(!reading.isWhole, "seed \(seed), round \(round)")
      }
      #expect(
        zip(reading.events, small.events + small.events).allSatisfy { $0 == $1 }
          || reading.receipts.isEmpty, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `random changes of the lines below sound frames are all noticed`(seed: UInt64) throws {
    var random = Seed(seed &+ 1000)
    let small = try Small(frames: 1, perFrame: 6)
    let content = Forge.unpack(small.bytes)
    for round in 0..<400 {
      var changed = content
      for _ in 0...random.below(3) { change(&changed, &random) }
      guard changed != content, !changed.isEmpty else { continue }
      let reading = Reading(Forge.frame(changed))
      #expect(reading.damage != nil, "seed \(seed), round \(round)")
      #expect(reading.receipts.isEmpty, "seed \(seed), round \(round)")
    }
  }

  private func change(_ bytes: inout [UInt8], _ random: inout Seed) {
    guard !bytes.isEmpty else { return }
    let place = random.below(bytes.count)
    let length = min(1 + random.below(random.once(in: 4) ? 400 : 8), bytes.count - place)
    switch random.below(6) {
    case 0: bytes[place] ^= 1 << UInt8(random.below(8))
    case 1: bytes[place] = UInt8(random.below(256))
    case 2: bytes.removeSubrange(place..<(place + length))
    case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: random.below(bytes.count))
    case 4: bytes.insert(UInt8(random.below(256)), at: place)
    default:
      for index in place..<(place + length) { bytes[index] = UInt8(random.below(256)) }
    }
  }
}
