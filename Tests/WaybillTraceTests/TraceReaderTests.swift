import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

/// What a reader says of each kind of damage, and that it keeps what is good.
struct TraceReaderTests {
  /// The lines of a sound trace of four events, without the footer.
  static func lines() throws -> [String] {
    Array(Forge.lines(try pack(History().and(Samples.opened()).log).bytes).dropLast())
  }

  private func reading(_ lines: [String], footer: String? = nil) -> Reading {
    Reading(Forge.trace(lines, footer: footer))
  }

  // MARK: What the file is

  @Test func `a file that is no trace is told apart from a damaged one`() throws {
    #expect(Reading([]).damage?.code == .empty)
    #expect(Reading([0x04]).damage?.code == .truncated)
    #expect(Reading([0x05]).damage?.code == .notLZ4)
    #expect(Reading([UInt8]("SQLite format 3".utf8)).damage?.code == .notLZ4)
    #expect(Reading(Forge.frame([UInt8]("hello\n".utf8))).damage?.code == .notATrace)
    #expect(Reading(Forge.frame([UInt8]("hello".utf8))).damage?.code == .notATrace)
    #expect(Reading(Forge.frame([UInt8]("{\"kind\":\"x\"}\n".utf8))).damage?.code == .notATrace)
    #expect(Reading(Forge.skippable([1, 2, 3])).damage?.code == .notATrace)
    let zeros = [UInt8](repeating: 0, count: 6 << 20)
    #expect(Reading(Forge.frame(zeros)).damage?.code == .notATrace)
  }

  @Test func `a newer format is named as such`() throws {
    var lines = try Self.lines()
    lines[0] = lines[0].replacing("\"format\":1", with: "\"format\":2,\"strange\":true")
    let damage = try #require(reading(lines).damage)
    #expect(damage.code == .newerFormat)
    #expect(damage.remedy.contains("newer version"))
  }

  @Test func `a source that fails is not taken for a short file`() throws {
    let bytes = try pack(interleaved(uploads: 9, events: 2500)).bytes
    let end = bytes.count * 2 / 3
    var at = 0
    let reading = Reading(
      TraceSource { buffer throws(TraceError) in
        if at == end { throw TraceError(.inputOutput, "the disk is on fire") }
        let count = min(end - at, buffer.count)
        buffer.copyBytes(from: bytes[at..<(at + count)])
        at += count
        return count
      })
    #expect(reading.damage?.code == .inputOutput)
    #expect(reading.damage?.message == "the disk is on fire")
    #expect(reading.events.count == 1000)
  }

  // MARK: Header and footer

  /// Replacements in the header that make it none of this format.
  static let badHeaders: [(String, String)] = [
    ("\"v\":1,", ""), ("\"v\":1", "\"v\":2"), ("\"format\":1", "\"format\":\"one\""),
    ("\"format\":1", "\"format\":1,\"format\":1"), ("\"format\":1", "\"format\":0"),
    ("\"profile\":\"raw\",", ""), ("\"cuts\":[]", "\"cuts\":[1]"), ("\"cuts\":[]", "\"cuts\":\"\""),
    ("\"cuts\":[]", "\"cuts\":[[]]"), ("\"cuts\":[],", ""), ("\"app\":\"test 1.0\",", ""),
    ("\"app\":", "\"device\":7,\"app\":"), ("\"ledger_format\":1,", ""), ("4}", "4"),
    ("\"first_position\":1", "\"first_position\":1.5"),
  ]

  @Test(arguments: badHeaders.indices)
  func `a header that is not of this format makes no trace`(index: Int) throws {
    var lines = try Self.lines()
    let (old, new) = Self.badHeaders[index]
    let header = lines[0].replacing(old, with: new, maxReplacements: 1)
    try #require(header != lines[0], "\(old) does not stand in the header")
    lines[0] = header
    #expect(reading(lines).damage?.code == .notATrace, "\(header)")
    let second = Reading(try pack([]).bytes + Forge.trace(lines))
    #expect(second.damage?.code == .badLine)
    #expect(second.receipts.count == 1)
  }

  @Test func `a trace without its header or footer is named`() throws {
    let lines = try Self.lines()
    let headless = reading(Array(lines.dropFirst()))
    #expect(headless.damage?.code == .missingHeader)
    #expect(headless.events.isEmpty)
    let footless = Reading(Forge.frame(lines: lines))
    #expect(footless.damage?.code == .missingFooter)
    #expect(footless.events.count == 4)
    #expect(footless.damage?.lastPosition == GlobalPosition(4))
    let next = Reading(Forge.frame(lines: lines) + Forge.trace(lines))
    #expect(next.damage?.code == .missingFooter)
    #expect(next.events.count == 4)
  }

  @Test func `a footer that says otherwise is named`() throws {
    let lines = try Self.lines()
    let footers = [
      (Forge.footer(of: lines, count: 3), TraceFinding.Code.wrongCount),
      (Forge.footer(of: lines, last: 5), .wrongCount),
      (Forge.footer(of: lines, digest: Samples.hash), .wrongDigest),
      ("{\"kind\":\"trace.footer\",\"v\":1,\"count\":4}", .badLine),
      (Forge.footer(of: lines).replacing("\"v\":1", with: "\"v\":2"), .badLine),
      (Forge.footer(of: lines).replacing("\"v\":1,", with: ""), .badLine),
    ]
    for (footer, code) in footers {
      let reading = reading(lines, footer: footer)
      #expect(reading.damage?.code == code)
      #expect(reading.events.count == 4)
      #expect(reading.damage?.line == 6)
      #expect(reading.receipts.isEmpty)
    }
  }

  @Test func `lines where none may stand are named`() throws {
    let lines = try Self.lines()
    let footer = Forge.footer(of: lines)
    let behind = Reading(Forge.frame(lines: lines + [footer, lines[4]]))
    #expect(behind.damage?.code == .misplacedLine)
    #expect(behind.events.count == 4)
    let unknown = reading(lines + ["{\"kind\":\"trace.middle\",\"v\":1}"])
    #expect(unknown.damage?.code == .badLine)
    let cut = Reading(Forge.frame([UInt8](lines.joined(separator: "\n").utf8)))
    #expect(cut.damage?.code == .badLine)
    #expect(cut.events.count == 3)
  }

  // MARK: Lines

  /// Replacements in the line of an event that make it no line of this format.
  static let badLines: [(String, String)] = [
    ("{\"kind\"", "\"kind\""), ("{\"kind\"", "{\"kinder\""), ("\"v\":1", "\"v\":1,\"v\":1"),
    ("\"v\":1,", ""), ("\"v\":1", "\"v\":true"), ("\"v\":1", "\"v\":1.0"), ("\"v\":1", "\"v\":1e0"),
    ("\"v\":1", "\"v\":null"), ("\"v\":1", "\"v\":[1]"), ("\"v\":1", "\"v\":{}"),
    ("\"v\":1", "\"v\":01"), ("\"v\":1", "\"v\":-"), ("\"v\":1", "\"v\":\"+1\""),
    ("\"v\":1", "\"v\":\"\""), ("\"v\":1", "\"v\":9223372036854775808"), ("\"v\":1", "\"v\": 1"),
    ("\"v\":1", "\"v\":1,\"new\":[1]"), ("\"v\":1", "\"v\":1,\"new\":\"\t\""),
    ("\"v\":1,", "\"v\":1,,"),
    ("\"position\":3", "\"position\":\"three\""), ("\"position\":3,", ""),
    ("\"event_id\":\"", "\"event_id\":\"0"), ("\"event_id\":\"0", "\"event_id\":\"G"),
    ("\"event_id\":\"0", "\"event_id\":\"A"), ("\"event_id\"", "\"event\""),
    ("\"upload_id\":\"01a2", "\"upload_id\":\"01-2"),
    ("\"upload_id\":\"", "\"upload_id\":5,\"x\":\""),
    ("\"revision\":3,", ""), ("\"revision\":3", "\"revision\":\"3.0\""),
    ("\"ts\":\"2026-11", "\"ts\":\"2026-13"), ("\"ts\":\"2026-11", "\"ts\":\"2026-1x"),
    (".000000Z\"", ".00000Z\""), (".000000Z\"", ".000000+00:00\""),
    ("\"ts\":", "\"ts_us\":5,\"ts\":"),
    ("\"ts\":", "\"time\":"), ("\"cause\":\"command\",", ""),
    ("\"cause\":\"command\"", "\"cause\":1"),
    ("\"launch\":1", "\"launch\":\"\\u0031x\""), ("\"launch\":1,", ""),
    ("\"reference\":\"", "\"reference\":\"\\x"), ("\"reference\":\"", "\"reference\":\"\\ud800"),
    ("\"reference\":\"", "\"reference\":\"\\u12"),
    ("\"reference\":\"op-1\"", "\"reference\":\"op-1"),
    ("\"reference\":", "\"hash\":\"abc\",\"reference\":"),
    ("\"reference\":", "\"name\":\"a\",\"name_base64\":\"YQ==\",\"reference\":"),
    ("\"reference\":", "\"name_base64\":\"YQ=\",\"reference\":"),
    ("\"reference\":", "\"name_base64\":\"YR==\",\"reference\":"),
    ("\"reference\":", "\"name_base64\":\"Y===\",\"reference\":"),
    ("\"reference\":", "\"name_base64\":\"YQ==YQ==\",\"reference\":"),
    ("\"reference\":", "\"name_base64\":\"Y Q=\",\"reference\":"),
    ("\"reference\":", "\"part\":\"9223372036854775808\",\"reference\":"), ("}\"}", "}\"}}"),
    ("}\"}", "}\""), ("}\"}", "}\"},"), ("}\"}", "}\"} "), ("}\"}", "}\"}\r"),
    ("{\"kind\":\"upload.queued\"", "{\"kind\":\"trace.queued\""),
  ]

  @Test(arguments: badLines.indices)
  func `a line that is not of this format is named with its number`(index: Int) throws {
    var lines = try Self.lines()
    let (old, new) = Self.badLines[index]
    let line = lines[3].replacing(old, with: new, maxReplacements: 1)
    try #require(line != lines[3], "\(old) does not stand in the line")
    lines[3] = line
    let reading = reading(lines)
    #expect(reading.damage?.code == .badLine, "\(line)")
    #expect(reading.damage?.line == 4)
    #expect(reading.damage?.lastPosition == GlobalPosition(2))
    #expect(reading.damage?.eventCount == 2)
    #expect(reading.events.count == 2)
  }

  @Test func `bytes that are no text are named`() throws {
    let lines = try Self.lines()
    var content = [UInt8]((lines + [Forge.footer(of: lines)]).map { $0 + "\n" }.joined().utf8)
    let accent = try #require(content.firstIndex(of: 0xc3))
    content[accent] = 0xff
    #expect(Reading(Forge.frame(content)).damage?.code == .badLine)
    content[accent] = 0
    #expect(Reading(Forge.frame(content)).damage?.code == .badLine)
    #expect(reading(lines + [""]).damage?.code == .badLine)
    let long = "{\"kind\":\"" + String(repeating: "x", count: 5 << 20) + "\"}"
    #expect(reading(lines + [long]).damage?.code == .oversizedFrame)
  }

  @Test func `keys nobody knows yet are passed over`() throws {
    var lines = try Self.lines()
    lines[0] = lines[0].replacing("\"app\"", with: "\"color\":[\"red\"],\"app\"")
    lines[2] = lines[2].replacing("\"cause\"", with: "\"color\":\"red\",\"depth\":-3,\"cause\"")
    let reading = reading(lines + [])
    #expect(reading.damage == nil)
    #expect(reading.events == History().and(Samples.opened()).log)
  }

  @Test func `integers as strings and keys in any order are read`() throws {
    var lines = try Self.lines()
    lines[1] = lines[1].replacing("\"position\":1,", with: "")
      .replacing("\"bytes\":20000000", with: "\"bytes\":\"20000000\",\"position\":\"1\"")
    let reading = reading(lines)
    #expect(reading.damage == nil)
    #expect(reading.events == History().and(Samples.opened()).log)
  }

  // MARK: Order and chain

  @Test func `positions that do not grow or leave the range are named`() throws {
    func code(_ positions: [Int64]) throws -> TraceFinding.Code? {
      let events = positions.enumerated().map { index, position in
        sample(position: position, revision: Int64(index + 1), .paused)
      }
      // Written in order one by one, so that only the order of the lines is wrong.
      var lines: [String] = []
      for event in events {
        let packed = try pack([event])
        if lines.isEmpty {
          lines = [
            Forge.lines(packed.bytes)[0].replacing(
              "_position\":\(positions[0])", with: "_position\":1")
          ]
          lines[0] = lines[0].replacing("last_position\":1", with: "last_position\":9")
        }
        lines.append(Forge.lines(packed.bytes)[1])
      }
      return reading(lines).damage?.code
    }
    #expect(try code([2, 4, 9]) == nil)
    #expect(try code([2, 4, 4]) == .wrongPosition)
    #expect(try code([4, 2]) == .wrongPosition)
    #expect(try code([2, 10]) == .wrongPosition)
  }

  @Test func `a gap in the revisions of a stream is named`() throws {
    func damage(_ revisions: [Int64]) throws -> TraceFinding? {
      let events = revisions.enumerated().map { index, revision in
        sample(position: Int64(index + 1), revision: revision, .paused)
      }
      return Reading(try pack(events).bytes).damage
    }
    #expect(try damage([7, 8, 9]) == nil)
    #expect(try damage([1, 2, 4])?.code == .revisionGap)
    #expect(try damage([1, 2, 4])?.lastPosition == GlobalPosition(2))
    #expect(try damage([1, 1])?.code == .revisionGap)
    #expect(try damage([.max, .min])?.code == nil)
  }

  @Test func `a gap is found after many other streams have spoken`() throws {
    let count: Int64 = 33_000
    var events = (1...count).map {
      sample(position: $0, upload: UploadLife(UInt64($0), to: .exported).id, revision: 1, .paused)
    }
    let early = UploadLife(10_000, to: .exported).id
    events.append(sample(position: count + 1, upload: early, revision: 3, .paused))
    let damage = Reading(try pack(events, level: 0).bytes).damage
    #expect(damage?.code == .revisionGap)
    #expect(damage?.lastPosition == GlobalPosition(count))
  }

  @Test func `a chain that does not fit is named`() throws {
    let moved = [2, 3, 4, 7, 8].enumerated().map { index, position in
      sample(position: Int64(position), revision: Int64(index + 1), .paused)
    }
    let lines = Array(Forge.lines(try pack(moved).bytes).dropLast())
    func code(_ change: (inout [String]) -> Void) -> TraceFinding.Code? {
      var changed = lines
      change(&changed)
      return reading(changed).damage?.code
    }
    #expect(code { _ in } == nil)
    let before = #/,"chain_before":"[0-9a-f]{64}"/#
    let after = #/,"chain":"[0-9a-f]{64}"/#
    #expect(code { $0[4] = $0[4].replacing(before, with: "") } == .badLine)
    #expect(code { $0[3] = $0[3].replacing(after, with: "") } == .chainMismatch)
    #expect(code { $0[5] = $0[5].replacing(after, with: "") } == .chainMismatch)
    #expect(
      code { $0[2] = $0[2].replacing("}", with: ",\"chain\":\"\(Samples.hash)\"}") }
        == .chainMismatch)
    #expect(
      code { $0[2] = $0[2].replacing("}", with: ",\"chain_before\":\"\(Samples.hash)\"}") }
        == .chainMismatch)
    #expect(
      code { $0[2] = $0[2].replacing("\"launch\":1", with: "\"launch\":2") } == .chainMismatch)
    #expect(
      code { $0[1] = $0[1].replacing(before, with: ",\"chain_before\":\"\(Samples.hash)\"") }
        == .chainMismatch)
    let first = try pack([sample(position: 1, .paused)]) { _ in Samples.hash }
    #expect(Reading(first.bytes).damage?.code == .chainMismatch)
  }

  // MARK: Verification

  @Test func `a verification gives the receipts or the first thing that is wrong`() throws {
    let packed = try pack(interleaved(uploads: 3, events: 40))
    var positions: [Int64] = []
    let whole = TraceVerification(.bytes(packed.bytes)) { positions.append($0.position.value) }
    #expect(whole.isWhole)
    #expect(whole.receipts == [packed.receipt])
    #expect(whole.eventCount == 40)
    #expect(positions == Array(1...40))
    let cut = TraceVerification(.bytes(Array(packed.bytes.dropLast())))
    #expect(cut.finding?.code == .truncated)
    #expect(cut.eventCount == 40)
    let index = try #require(FoundIndex(packed.bytes))
    let bare = TraceVerification(.bytes(Array(packed.bytes[..<index.start])))
    #expect(bare.finding?.code == .missingIndex)
    #expect(!bare.isWhole)
  }

  @Test func `a finding says what, where, what is good and what to do on one line`() throws {
    let packed = try pack(interleaved(uploads: 3, events: 2500))
    let reading = Reading(Array(packed.bytes.dropLast(1000)))
    let damage = try #require(reading.damage)
    #expect(damage.offset == Int64(packed.bytes.count - 1000))
    #expect(
      damage.description
        == "the file ends within a frame (byte \(packed.bytes.count - 1000)); 2000 events read, the"
        + " last at position 2000; what was read before it is good; get the file again from where"
        + " it came")
    #expect(reading.events.count == 2000)
  }

  @Test func `a reader that has met damage says so again`() throws {
    let bytes = try pack(interleaved(uploads: 3, events: 40)).bytes.dropLast(40)
    let reader = TraceReader(.bytes(Array(bytes)))
    var findings: [TraceFinding] = []
    for _ in 0..<60 {
      do throws(TraceFinding) { _ = try reader.next() } catch { findings.append(error) }
    }
    #expect(findings.count > 10)
    #expect(Set(findings.map(\.description)).count == 1)
  }
}
