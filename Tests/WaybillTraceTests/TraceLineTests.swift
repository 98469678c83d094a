import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

/// Each event as its line, and back.
struct TraceLineTests {
  private static let goldenLines = "Tests/Golden/traces/samples.jsonl"

  /// One event of each kind, in a trace of fixed places and times.
  private static func samples() -> [RecordedEvent] {
    var revision: Int64 = 0
    var ownRevision: Int64 = 0
    return EventKind.allCases.enumerated().map { index, kind in
      if kind.isLedgerKind { ownRevision += 1 } else { revision += 1 }
      let position = Int64(index + 1)
      let time = Timestamp(microseconds: Samples.time.microseconds + position)
      let halves = UUIDv7.halves(time: time, random: UInt64(position) << 2)
      return RecordedEvent(
        position: GlobalPosition(position), id: EventID(high: halves.high, low: halves.low),
        upload: kind.isLedgerKind ? nil : Samples.upload,
        revision: StreamRevision(kind.isLedgerKind ? ownRevision : revision),
        kindName: kind.rawValue, version: 1, time: time,
        causeName: Cause.allCases[index % Cause.allCases.count].rawValue,
        launch: LaunchGeneration(3),
        compensates: kind == .partRevoked ? GlobalPosition(2) : nil,
        observation: kind == .partConfirmed ? ObservationKey("server ses-1/0") : nil,
        fields: Samples.fields(kind))
    }
  }

  @Test func `each kind of event has the line that was recorded`() throws {
    let packed = try pack(Self.samples())
    let text = String(decoding: Forge.unpack(packed.bytes), as: UTF8.self)
    Golden.check(text, against: Self.goldenLines)
  }

  /// Written once by the code that had format 1 first; every later version reads it.
  @Test func `the first trace of format 1 is still whole and says the same`() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/Tests/Golden/traces/v001\(TraceFormat.fileExtension)"
    if Golden.isRecording, !FileManager.default.fileExists(atPath: path) {
      try Data(try pack(Self.samples()).bytes).write(to: URL(fileURLWithPath: path))
    }
    let reading = Reading(try TraceInputFile(path: path).source)
    #expect(reading.isWhole)
    #expect(reading.events.count == 31)
    #expect(
      reading.receipts.first?.linesDigest.description
        == "4b07bdb676dabfb21eb2bd38909cfd20e8c5de449310efd1bb968c48d89146a0")
    #expect(reading.events.allSatisfy { $0.body != .unrecognized })
  }

  @Test func `each kind of event comes back as it was`() throws {
    let events = Self.samples()
    let reading = Reading(try pack(events).bytes)
    #expect(reading.isWhole)
    #expect(reading.events.map(\.exact) == events.map(\.exact))
    #expect(reading.events == events)
  }

  @Test func `every byte and every pair of hostile bytes in a name comes back`() throws {
    var names: [[UInt8]] = [[], Array(0...255), Array(repeating: 0xc3, count: 1_000_000)]
    names += (0...255).map { [UInt8($0)] }
    names += [
      [0xc2, 0x80], [0xc2, 0x9f], [0xc2, 0xa0], [0xe2, 0x80, 0xa7], [0xe2, 0x80, 0xa8],
    ]
    names += [[0xe2, 0x80, 0xa9], [0xe2, 0x80, 0xaa], [0xc2], [0xe2, 0x80], [0xed, 0xa0, 0x80]]
    names += ["\u{10ffff}", "e\u{301}", "é", "a\n\"b\\\u{7f}\u{2028}"].map { [UInt8]($0.utf8) }
    try expectExact(
      names.map { name in
        var fields = Samples.exported().event.fields
        fields.name = name
        return fields
      })
  }

  @Test func `text of any kind comes back byte for byte`() throws {
    let texts = [
      "", "a\0b", "\"\\/\u{8}\u{c}\n\r\t", "👩‍👩‍👧\u{10ffff}", "\u{2028}\u{2029}\u{85}\u{7f}",
      "e\u{301} é",
      "{\"a\":1, \"a\":[[[[]]]]}", "\\u0041", String(repeating: "\u{1}", count: 100_000), "1",
      "null",
      " \t leading and trailing \t ",
    ]
    try expectExact(
      texts.flatMap { text in
        [\EventFields.payload, \.code, \.reference].map { column in
          var fields = EventFields()
          fields[keyPath: column] = text
          return fields
        }
      })
  }

  @Test func `numbers and times at their limits come back`() throws {
    let edge = Int64(1) << 53
    // The first and the last microsecond RFC 3339 can spell, and their neighbours.
    let early: Int64 = -62_135_596_800_000_000
    let late: Int64 = 253_402_300_799_999_999
    let numbers = [
      .min, .min + 1, -edge - 1, -edge, -edge + 1, -1, 0, 1, 9, 10, 99, edge - 1, edge, edge + 1,
      early - 1, early, early + 1, late - 1, late, late + 1, .max - 1, .max,
    ]
    var events: [RecordedEvent] = []
    for (index, number) in numbers.enumerated() {
      var fields = EventFields()
      fields.part = number
      fields.bytes = number
      fields.attempt = number
      fields.until = number
      events.append(
        RecordedEvent(
          position: GlobalPosition(Int64(index + 1)),
          id: EventID(high: UInt64(bitPattern: number), low: .max), upload: nil,
          revision: StreamRevision(Int64(index + 1)), kindName: "future.kind",
          version: Int(number), time: Timestamp(microseconds: number), causeName: "?",
          launch: LaunchGeneration(number), compensates: GlobalPosition(number), observation: nil,
          fields: fields))
    }
    let packed = try pack(events)
    let reading = Reading(packed.bytes)
    #expect(reading.isWhole)
    #expect(reading.events.map(\.exact) == events.map(\.exact))
    let lines = Forge.lines(packed.bytes)
    #expect(lines[4].contains("\"part\":\"-9007199254740992\""))
    #expect(lines[5].contains("\"part\":-9007199254740991,"))
    #expect(lines[16].contains("\"ts\":\"0001-01-01T00:00:00.000000Z\""))
    #expect(lines[15].contains("\"ts_us\":\"-62135596800000001\""))
    #expect(lines[19].contains("\"until\":\"9999-12-31T23:59:59.999999Z\""))
    #expect(lines[20].contains("\"until_us\":\"253402300800000000\""))
  }

  @Test func `a kind nobody knows keeps every byte of its fields`() throws {
    var fields = EventFields()
    fields.payload = "{ \"b\" : 1e400,\"b\":\"\\u0000\",\n\"deep\":[[[[[[[[[[]]]]]]]]]] } trailing"
    fields.name = [0xff, 0x00]
    let event = RecordedEvent(
      position: GlobalPosition(1), id: EventID(high: 1, low: 2), upload: Samples.upload,
      revision: StreamRevision(1), kindName: "photo.\"tagged\"\u{1b}\u{e9}", version: 7,
      time: Samples.time, causeName: "a cause of the future", launch: LaunchGeneration(1),
      compensates: nil, observation: ObservationKey("κλειδί\0"), fields: fields)
    let reading = Reading(try pack([event]).bytes)
    #expect(reading.isWhole)
    #expect(reading.events.map(\.exact) == [event.exact])
    #expect(reading.events.first?.body == .unrecognized)
  }

  @Test func `no line holds a byte that a terminal or a reader of lines would obey`() throws {
    var fields = EventFields()
    fields.payload = String(
      String.UnicodeScalarView((0..<0x3000).compactMap { Unicode.Scalar($0) }))
    let content = Forge.unpack(try pack([event(fields, 1)]).bytes)
    let text = String(decoding: content, as: UTF8.self)
    for scalar in text.unicodeScalars where scalar != "\n" {
      #expect(scalar.properties.generalCategory != .control)
      #expect(scalar != "\u{2028}" && scalar != "\u{2029}")
    }
    #expect(text.utf8.filter { $0 == 0x0a }.count == 3)
  }

  private func event(_ fields: EventFields, _ position: Int64) -> RecordedEvent {
    sample(position: position, .paused).moved(
      to: position, revision: position, fields: fields)
  }

  private func expectExact(
    _ all: [EventFields], at location: SourceLocation = #_sourceLocation
  ) throws {
    let events = all.enumerated().map { event($1, Int64($0 + 1)) }
    let reading = Reading(try pack(events).bytes)
    #expect(reading.isWhole, "\(reading.damage?.description ?? "")", sourceLocation: location)
    #expect(reading.events.map(\.exact) == events.map(\.exact), sourceLocation: location)
  }
}

extension RecordedEvent {
  /// All stored values as bytes: Swift compares texts by meaning, a trace must keep their spelling.
  var exact: [[UInt8]] {
    [
      "\(position.value) \(id) \(upload?.description ?? "-") \(revision.value) \(version)",
      "\(time.microseconds) \(launch.value) \(compensates?.value ?? 0)", kindName, causeName,
      observation?.text ?? "-",
      "\(fields.part ?? -7) \(fields.bytes ?? -7) \(fields.attempt ?? -7) \(fields.until ?? -7)",
      fields.code ?? "-", fields.reference ?? "-", fields.hash?.description ?? "-",
      fields.payload ?? "-",
    ].map { [UInt8]($0.utf8) } + [fields.name ?? [1, 2, 3]]
  }
}

extension Exported {
  var event: UploadEvent { .exported(self) }
}
