import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

/// The measured traps of LZ4 frames (M10 to M13) and the faults of others (X rows), as outcomes.
struct TraceFrameTests {
  let events = interleaved(uploads: 7, events: 2500)

  // M10, X01, X02
  @Test(arguments: [1, 4, 5, 8])
  func `a last frame cut by a few bytes is not whole though all its lines come out`(cut: Int) throws
  {
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    let reading = Reading(Array(packed.bytes[..<(index.start - cut)]))
    #expect(reading.damage?.code == .truncated)
    #expect(reading.events == events)
    #expect(reading.receipts.isEmpty)
  }

  // M11
  @Test func `a flipped bit in a block is found before any wrong event comes out`() throws {
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    for bit in 0..<8 {
      var bytes = packed.bytes
      bytes[index.offsets[1] + 5000] ^= 1 << bit
      let reading = Reading(bytes)
      #expect(reading.damage?.code == .damagedFrame)
      #expect(reading.damage?.lastPosition == GlobalPosition(1000))
      #expect(reading.events == Array(events[..<1000]))
    }
  }

  /// Events whose payloads LZ4 cannot shrink, so that it stores their blocks as they are.
  private func incompressible(_ count: Int64, byteCount: Int) -> [RecordedEvent] {
    var seed = Seed(11)
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-".utf8)
    return (1...count).map { (position: Int64) in
      var fields = EventFields()
      fields.payload = String(
        decoding: (0..<byteCount).map { _ in letters[seed.below(64)] }, as: UTF8.self)
      return sample(position: position, .paused).moved(
        to: position, revision: position, fields: fields)
    }
  }

  @Test func `blocks before a damaged one are kept, also those that did not shrink`() throws {
    let events = incompressible(10, byteCount: 100_000)
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    #expect(index.counts == [10])
    #expect(index.start > 1_000_000, "the blocks should have been stored as they are")
    // Four blocks of 262,144 bytes, the last one shorter; two lines end in the first.
    for (place, least) in [(20_000, 0), (300_000, 2), (index.start - 9, 7)] {
      var bytes = packed.bytes
      bytes[place] ^= 0x10
      let flipped = Reading(bytes)
      #expect(flipped.damage?.code == .damagedFrame)
      #expect(flipped.events == Array(events[..<flipped.events.count]))
      #expect((least..<10).contains(flipped.events.count))
      let cut = Reading(Array(packed.bytes[..<place]))
      #expect(cut.damage?.code == .truncated)
      #expect(cut.events == Array(events[..<cut.events.count]))
      #expect((least..<10).contains(cut.events.count))
    }
  }

  @Test func `a cut block that was stored as it is gives nothing of what it was not checked for`()
    throws
  {
    var bytes = try pack(incompressible(2, byteCount: 120_000)).bytes
    bytes[50_000] ^= 1
    for end in [30_000, 60_000, 150_000, 230_000] {
      let reading = Reading(Array(bytes[..<end]))
      #expect(reading.damage?.code == .truncated)
      #expect(reading.events.isEmpty)
    }
  }

  @Test func `a frame without any checksum is not relied on`() throws {
    let frame = Forge.frame(Forge.unpack(try pack(events).bytes), checks: .none)
    #expect(Reading(frame).damage?.code == .damagedFrame)
    #expect(Reading(frame).events.isEmpty)
  }

  @Test func `a frame whose blocks have no checksums counts only when it is whole`() throws {
    let frame = Forge.frame(Forge.unpack(try pack(events).bytes), checks: .content)
    let whole = Reading(frame)
    #expect(whole.damage == nil)
    #expect(whole.events == events)
    #expect(whole.remarks.map(\.code) == [.missingIndex])
    let cut = Reading(Array(frame.dropLast(1)))
    #expect(cut.damage?.code == .truncated)
    #expect(cut.events.isEmpty)
    for place in [frame.count / 3, frame.count / 2] {
      var bytes = frame
      bytes[place] ^= 1
      let flipped = Reading(bytes)
      #expect(flipped.damage?.code == .damagedFrame)
      #expect(flipped.events.isEmpty)
    }
  }

  // M12
  @Test func `traces behind one another are read as one after the other`() throws {
    let second = interleaved(uploads: 2, events: 10)
    let one = try pack(events)
    let two = try pack(second)
    let reading = Reading(one.bytes + two.bytes + one.bytes)
    #expect(reading.isWhole)
    #expect(reading.headers.count == 3)
    #expect(reading.events == events + second + events)
    #expect(reading.receipts == [one.receipt, two.receipt, one.receipt])
  }

  // M12
  @Test func `what is no frame behind a frame is named with the count of events`() throws {
    let packed = try pack(events)
    for junk in [
      [UInt8]("junk!".utf8), [0], [0, 0, 0, 0], [UInt8](repeating: 0xff, count: 70_000),
    ] {
      let reading = Reading(packed.bytes + junk)
      #expect(reading.damage?.code == .junk)
      #expect(reading.damage?.offset == Int64(packed.bytes.count))
      #expect(reading.damage?.description.contains("2500 events read") == true)
      #expect(reading.events == events)
      #expect(reading.receipts == [packed.receipt])
    }
    let index = try #require(FoundIndex(packed.bytes))
    let between =
      packed.bytes[..<index.offsets[1]] + [1, 2, 3, 4] + packed.bytes[index.offsets[1]...]
    #expect(Reading(Array(between)).damage?.code == .junk)
    #expect(Reading(Array(between)).events.count == 1000)
  }

  // M12
  @Test func `frames that hold no lines are named and nothing is lost`() throws {
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    let middle = index.offsets[1]
    let strays = [Forge.skippable([]), Forge.skippable([1, 2, 3], magic: 0x184d_2a5f)]
    for stray in strays {
      let first = Reading(stray + packed.bytes)
      #expect(first.damage == nil)
      #expect(first.remarks.map(\.code) == [.strayFrame])
      #expect(first.remarks.first?.offset == 0)
      #expect(first.events == events)
      #expect(first.receipts == [packed.receipt])
      let between = Reading(packed.bytes[..<middle] + stray + packed.bytes[middle...])
      #expect(between.damage == nil)
      #expect(between.remarks.map(\.code) == [.strayFrame, .wrongIndex])
      #expect(between.events == events)
    }
    let empty = Reading(Forge.frame([]) + packed.bytes)
    #expect(empty.damage == nil)
    #expect(empty.remarks.first?.code == .strayFrame)
    #expect(empty.events == events)
  }

  @Test func `an endless row of frames without lines ends the reading`() throws {
    let strays = (0..<100).flatMap { _ in Forge.skippable([]) }
    let reading = Reading(strays + (try pack(events).bytes))
    #expect(reading.damage?.code == .strayFrame)
    #expect(reading.remarks.count == 16)
  }

  @Test func `an index that is absent, wrong or of other frames takes nothing away`() throws {
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    let bare = Array(packed.bytes[..<index.start])
    #expect(Reading(bare).remarks.map(\.code) == [.missingIndex])
    #expect(Reading(bare).events == events)
    #expect(Reading(bare).receipts.map(\.byteCount) == [Int64(bare.count)])
    let two = Reading(bare + packed.bytes)
    #expect(two.remarks.map(\.code) == [.missingIndex])
    #expect(two.events == events + events)
    let other = try pack(Array(events[..<1500]))
    let foreign = other.bytes[FoundIndex(other.bytes)!.start...]
    #expect(Reading(bare + foreign).remarks.map(\.code) == [.wrongIndex])
  }

  @Test func `each flipped bit of an index is noticed, and nothing is lost`() throws {
    let events = Array(events[..<20])
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    for place in (index.start + 8)..<packed.bytes.count {
      for bit in 0..<8 {
        var bytes = packed.bytes
        bytes[place] ^= 1 << bit
        let reading = Reading(bytes)
        #expect(reading.remarks.map(\.code) == [.wrongIndex])
        #expect(reading.damage == nil)
        #expect(reading.events == events)
      }
    }
  }

  // X04
  @Test(arguments: [-1, 1, 100])
  func `a frame that lies about its size is refused`(by: Int) throws {
    let lines = try TraceReaderTests.lines()
    let content = [UInt8]((lines + [Forge.footer(of: lines)]).map { $0 + "\n" }.joined().utf8)
    let reading = Reading(Forge.frame(content, declared: content.count + by))
    #expect(reading.damage?.code == .damagedFrame)
    #expect(reading.receipts.isEmpty)
  }

  // M13, X06
  @Test func `a small file that unpacks to much is stopped at the bound`() throws {
    let lines = try TraceReaderTests.lines()
    let zeros = Forge.frame([UInt8](repeating: 0x20, count: 64 << 20), blockSize: 7)
    #expect(zeros.count < 300_000)
    let reading = Reading(Forge.frame(lines: lines) + zeros)
    #expect(reading.damage?.code == .oversizedFrame)
    #expect(reading.events.count == 4)
    let frame = Forge.frame([UInt8](repeating: 0x20, count: 64 << 20), declared: 5, blockSize: 7)
    #expect(Reading(Forge.frame(lines: lines) + frame).damage?.code == .oversizedFrame)
  }

  @Test func `a reader takes as much as it was told and no more`() throws {
    let packed = try pack(events)
    let few = Reading(packed.bytes, limits: TraceLimits(byteCount: .max, eventCount: 1700))
    #expect(few.damage?.code == .limitReached)
    #expect(few.events == Array(events[..<1700]))
    let size = Int64(Forge.unpack(packed.bytes).count)
    #expect(Reading(packed.bytes, limits: TraceLimits(byteCount: size, eventCount: 2500)).isWhole)
    let short = Reading(packed.bytes, limits: TraceLimits(byteCount: size - 1, eventCount: 2500))
    #expect(short.damage?.code == .limitReached)
    #expect(short.events == Array(events[..<short.events.count]))
    let tiny = Reading(packed.bytes, limits: TraceLimits(byteCount: 100_000, eventCount: 2500))
    #expect(tiny.damage?.code == .limitReached)
    #expect(tiny.receipts.isEmpty)
  }
}
