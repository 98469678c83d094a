import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

struct TraceWriterTests {
  let events = History().and(Samples.opened()).log

  @Test(arguments: [0, 1, 3, 9, 12])
  func `what was written is read back at every level`(level: Int) throws {
    let events = interleaved(uploads: 40, events: 2500)
    let packed = try pack(events, level: level)
    let reading = Reading(packed.bytes)
    #expect(reading.isWhole)
    #expect(reading.events == events)
    #expect(reading.receipts == [packed.receipt])
  }

  @Test func `a receipt says what the file is`() throws {
    let packed = try pack(events)
    #expect(packed.receipt.byteCount == Int64(packed.bytes.count))
    #expect(packed.receipt.digest == SHA256.hash(packed.bytes))
    #expect(packed.receipt.eventCount == 4)
    #expect(packed.receipt.first == GlobalPosition(1))
    #expect(packed.receipt.last == GlobalPosition(4))
    let lines = Forge.lines(packed.bytes)
    let content = lines.dropLast().map { $0 + "\n" }.joined()
    #expect(packed.receipt.linesDigest == SHA256.hash([UInt8](content.utf8)))
    #expect(lines.last == Forge.footer(of: lines.dropLast()))
  }

  @Test func `a trace without events is whole`() throws {
    let packed = try pack([])
    let reading = Reading(packed.bytes)
    #expect(reading.isWhole)
    #expect(reading.receipts == [packed.receipt])
    #expect(packed.receipt.eventCount == 0)
    #expect(reading.headers.count == 1)
  }

  @Test func `each run of positions carries the chain around it`() throws {
    let all = interleaved(uploads: 3, events: 12)
    var chain = EventChain(value: .zero)
    let values = [ContentHash.zero] + all.map { chain.advance(over: $0) }
    // Two of three uploads move: their events lie in runs between those of the third.
    let moved = all.filter { $0.upload != UploadLife(1).id }
    let packed = try pack(moved) { values[Int($0.value) - 1] }
    #expect(Reading(packed.bytes).isWhole)
    for (event, line) in zip(moved, Forge.lines(packed.bytes).dropFirst()) {
      let position = event.position.value
      let begins = !moved.contains { $0.position.value == position - 1 }
      let ends = !moved.contains { $0.position.value == position + 1 }
      let before = values[Int(position) - 1]
      let after = values[Int(position)]
      #expect(line.contains("\"chain_before\":\"\(before)\"") == begins)
      #expect(line.contains("\"chain\":\"\(after)\"") == ends)
      #expect(line.contains("\"chain") == (begins || ends))
    }
  }

  @Test func `a trace with cuts carries no chain`() throws {
    let packed = try pack(events, profile: "support")
    #expect(!Forge.lines(packed.bytes).contains { $0.contains("chain") })
    #expect(Reading(packed.bytes).isWhole)
  }

  @Test func `an event that may not stand there is refused and the trace goes on`() throws {
    var bytes: [UInt8] = []
    let header = TraceHeader(
      app: "t", ledgerFormat: 1, first: GlobalPosition(2), last: GlobalPosition(9))
    let writer = TraceWriter(header: header, to: TraceSink { bytes += Array($0) })
    func code(_ event: RecordedEvent, _ before: ContentHash?) -> TraceError.Code? {
      do throws(TraceError) {
        try writer.append(event, chainBefore: before)
        return nil
      } catch {
        return error.code
      }
    }
    func at(_ position: Int64) -> RecordedEvent { sample(position: position, .paused) }
    #expect(code(at(1), .zero) == .order)
    #expect(code(at(2), nil) == .chainMismatch)
    #expect(code(at(2), Samples.hash) == nil)
    #expect(code(at(2), Samples.hash) == .order)
    #expect(code(at(3), Samples.hash) == .chainMismatch)
    #expect(code(at(10), Samples.hash) == .order)
    var fields = EventFields()
    fields.payload = String(repeating: "\u{1}", count: 1 << 20)
    #expect(code(at(3).moved(to: 3, revision: 3, fields: fields), nil) == .tooLong)
    let reserved = RecordedEvent(
      position: GlobalPosition(3), id: EventID(high: 0, low: 0), upload: nil,
      revision: StreamRevision(1), kindName: "trace.footer", version: 1, time: Samples.time,
      causeName: "", launch: LaunchGeneration(1), compensates: nil, observation: nil,
      fields: EventFields())
    #expect(code(reserved, nil) == .reservedKind)
    #expect(code(at(3), nil) == nil)
    #expect(try writer.finish().eventCount == 2)
    let reading = Reading(bytes)
    #expect(reading.isWhole)
    #expect(reading.events.map(\.position.value) == [2, 3])
  }

  @Test func `frames hold a thousand events or a mebibyte of lines`() throws {
    let small = try pack(interleaved(uploads: 5, events: 2500))
    #expect(FoundIndex(small.bytes)?.counts == [1000, 1000, 500])
    var fields = EventFields()
    fields.payload = String(repeating: "x", count: 400_000)
    var large = (1...5).map {
      sample(position: $0, .paused).moved(to: $0, revision: $0, fields: fields)
    }
    fields.payload = String(repeating: "x", count: 4_000_000)
    large.append(large[0].moved(to: 6, revision: 6, fields: fields))
    large.append(sample(position: 7, .paused))
    let packed = try pack(large)
    #expect(FoundIndex(packed.bytes)?.counts == [2, 2, 1, 1, 1])
    let reading = Reading(packed.bytes)
    #expect(reading.isWhole)
    #expect(reading.events == large)
  }

  @Test func `the index is found from the end and leads to each frame`() throws {
    let events = interleaved(uploads: 5, events: 2500)
    let packed = try pack(events)
    let index = try #require(FoundIndex(packed.bytes))
    #expect(index.firsts == [1, 1001, 2001])
    #expect(index.lasts == [1000, 2000, 2500])
    for (number, offset) in index.offsets.enumerated() {
      let end = number + 1 < index.offsets.count ? index.offsets[number + 1] : index.start
      let lines = Forge.lines(Array(packed.bytes[offset..<end]))
      #expect(lines.count == index.counts[number] + (number == 0 ? 1 : 0) + (number == 2 ? 1 : 0))
      #expect(lines.contains { $0.contains("\"position\":\(index.firsts[number]),") })
    }
  }

  @Test func `a sink that fails ends the trace with its error`() throws {
    var room = 20_000
    let full = TraceError(.diskFull, "no room", remedy: "make some")
    let sink = TraceSink { bytes throws(TraceError) in
      room -= bytes.count
      if room < 0 { throw full }
    }
    let header = TraceHeader(
      app: "t", ledgerFormat: 1, first: GlobalPosition(1), last: GlobalPosition(9000))
    let writer = TraceWriter(header: header, to: sink)
    var failures = 0
    for event in interleaved(uploads: 5, events: 9000) {
      do throws(TraceError) {
        try writer.append(event, chainBefore: event.position.value == 1 ? .zero : nil)
      } catch {
        #expect(error == full)
        failures += 1
      }
    }
    #expect(failures > 1)
    #expect(throws: full) { try writer.finish() }
  }
}

/// The index of a trace as `schema/trace.md` lays it out, found from the end of the file.
struct FoundIndex {
  var start = 0
  var offsets: [Int] = []
  var firsts: [Int64] = []
  var lasts: [Int64] = []
  var counts: [Int] = []

  init?(_ bytes: [UInt8]) {
    func number<Number: FixedWidthInteger>(_ at: Int, _ type: Number.Type) -> Number {
      bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: type)) }
    }
    guard bytes.count > 24, bytes.suffix(4).elementsEqual("WBIX".utf8) else { return nil }
    let length = Int(number(bytes.count - 8, UInt32.self))
    guard number(bytes.count - 12, UInt32.self) == 1, length <= bytes.count else { return nil }
    let frames = Int(number(bytes.count - 16, UInt32.self))
    start = bytes.count - length
    guard number(start, UInt32.self) == 0x184d_2a50,
      Int(number(start + 4, UInt32.self)) == length - 8, length == 28 * frames + 24
    else { return nil }
    for frame in 0..<frames {
      let at = start + 8 + 28 * frame
      offsets.append(Int(number(at, UInt64.self)))
      firsts.append(number(at + 8, Int64.self))
      lasts.append(number(at + 16, Int64.self))
      counts.append(Int(number(at + 24, UInt32.self)))
    }
  }
}
