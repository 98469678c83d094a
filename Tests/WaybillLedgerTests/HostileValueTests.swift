import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Values from outside at their limits: names, times, numbers, text.
struct HostileValueTests {
  let temporary = TemporaryLedger()

  private static let names: [[UInt8]] = [
    [], [0], [0x61, 0, 0x62], [0xff, 0xfe], [UInt8]("a/../../b\n\u{1b}[31m\u{202e}".utf8),
    [UInt8]("e\u{301}é".utf8), [UInt8]("cafe\u{301}".utf8), [UInt8]("caf\u{e9}".utf8),
    [UInt8]("CAF\u{c9}".utf8), [UInt8](repeating: 0xc3, count: 1_000_000),
    [UInt8]("'; DROP TABLE events; --".utf8),
  ]

  // M8
  @Test func `names come back byte for byte`() async throws {
    let ledger = try await temporary.open()
    for (number, name) in Self.names.enumerated() {
      let life = UploadLife(UInt64(number), to: .queued, name: FileName(bytes: name))
      try await life.append(to: ledger)
    }
    let listed = try await ledger.reader.queue().rows.map(\.fileName.bytes)
    #expect(listed == Self.names)
    await ledger.close()
    let reader = try await temporary.reader()
    for (number, name) in Self.names.enumerated() {
      let upload = try await reader.upload(UploadLife(UInt64(number)).id)
      #expect(upload?.copy?.name.bytes == name)
    }
    await reader.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `text with a null byte, quotes or emoji comes back whole`() async throws {
    let ledger = try await temporary.open()
    for (index, text) in ["a\0b", "\"\\\u{8}", "👩‍👩‍👧\u{10ffff}", "\u{2028}"].enumerated() {
      let life = UploadLife(UInt64(index), to: .exported)
      try await life.append(to: ledger)
      let intent = Intent(destination: text, operation: IdempotencyKey("k\(text)"))
      let events = [
        ProposedEvent(.hashed(Hashed(hash: life.hash)), cause: .command),
        ProposedEvent(
          .queued(Queued(intent: intent)), cause: .command, observation: ObservationKey(text)),
      ]
      try await ledger.append(events, to: life.id, expecting: .any)
      let read = try await ledger.reader.upload(life.id)
      #expect(read?.intent == intent)
      #expect(try await ledger.reader.events(EventQuery()).last?.observation?.text == text)
    }
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test(arguments: [Int64.min + 1_000_000, -1, 0, 4_294_967_296_000_000, Int64.max])
  func `a clock may say anything`(microseconds: Int64) async throws {
    let time = Timestamp(microseconds: microseconds)
    let ledger = try await Ledger.open(
      directory: temporary.directory, options: LedgerOptions(clock: { time }))
    let events = try await UploadLife(1).append(to: ledger)
    #expect(events.allSatisfy { $0.time == time })
    await ledger.close()
    #expect(try await temporary.findings() == [])
    #expect(try rows(temporary.database, "SELECT count(*) FROM event_log") == ["12"])
  }

  @Test func `a clock that steps back does not change the order`() async throws {
    let first = try await temporary.open(time: Timestamp(seconds: 2_000_000_000))
    try await UploadLife(1).append(to: first)
    await first.close()
    let second = try await temporary.open(time: Timestamp(seconds: 1_000_000_000))
    try await UploadLife(2).append(to: second)
    #expect(
      try await second.reader.queue().rows.map(\.id) == [UploadLife(1).id, UploadLife(2).id])
    await second.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `the largest lengths and times are stored and counted without overflow`() async throws
  {
    let ledger = try await temporary.open()
    for number: UInt64 in 1...3 {
      let id = UploadLife(number).id
      let exported = Exported(
        file: StagedFileID(id), name: FileName("huge"), byteCount: .max, source: .file,
        captured: Timestamp(microseconds: .min))
      try await ledger.append(
        [ProposedEvent(.exported(exported), cause: .command)], to: id, expecting: .none)
    }
    let counts = try await ledger.reader.counts()
    #expect(counts[.savedLocally] == 3)
    #expect(counts.totalBytes == .max)
    #expect(try await ledger.reader.queue().rows.map(\.byteCount) == [.max, .max, .max])
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `progress beyond a part counts as the whole part`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    let first = try #require(try await ledger.upload(life.id).flights.first)
    let sent = PartSent(part: PartNumber(1), attempt: 1, byteCount: UploadLife.partSize)
    try await ledger.append(
      [ProposedEvent(.partSent(sent), cause: .command)], to: life.id, expecting: .any)
    let flights = try await ledger.upload(life.id).flights
    #expect(flights.count == 2)
    await ledger.note(progress: Dictionary(uniqueKeysWithValues: flights.map { ($0, Int64.max) }))
    #expect(try await ledger.reader.queue().rows[0].bytesSent == 2 * UploadLife.partSize)
    #expect(try await ledger.reader.counts().sentBytes == 2 * UploadLife.partSize)
    await ledger.note(progress: [first: .min])
    #expect(try await ledger.reader.queue().rows[0].bytesSent == UploadLife.partSize)
    await ledger.close()
  }

  @Test func `progress of a part that is no longer on its way is not noted`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    let flight = try #require(try await ledger.upload(life.id).flights.first)
    await ledger.note(progress: [flight: 10])
    #expect(try await ledger.reader.queue().rows[0].bytesSent == 10)
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: life.id,
      expecting: .any)
    #expect(try rows(temporary.database, "SELECT count(*) FROM progress") == ["0"])
    await ledger.note(progress: [flight: 20])
    #expect(try rows(temporary.database, "SELECT count(*) FROM progress") == ["0"])
    await ledger.close()
  }

  @Test func `a damaged row of the queue is shown within bounds`() async throws {
    try await temporary.seed([UploadLife(1, to: .sending)])
    try rows(
      temporary.database,
      "UPDATE queue SET confirmed = 9223372036854775807, in_flight = 9223372036854775807;"
        + " INSERT INTO progress VALUES (1, 0, 9223372036854775807), (1, 1, 9223372036854775807);"
        + " UPDATE upload_states SET in_flight = -9223372036854775807")
    let reader = try await temporary.reader()
    let row = try #require(try await reader.queue().rows.first)
    #expect(row.bytesSent == row.byteCount)
    _ = try await reader.counts()
    await reader.close()
    #expect(try await temporary.findings() == ["projection_differs"])
  }

  @Test func `a log at the last number refuses to grow`() async throws {
    try await temporary.seed([UploadLife(1)])
    try rows(
      temporary.database,
      "INSERT INTO events (position, event_id, stream, revision, kind, version, recorded_at,"
        + " cause, launch, chain) VALUES (9223372036854775807, randomblob(16), 1,"
        + " 9223372036854775807, 'x', 1, 0, 'server', 1, zeroblob(32))")
    #expect(await code { _ = try await temporary.open() } != nil)
    #expect(try await temporary.findings().isSuperset(of: ["gap", "chain_mismatch"]))
  }

  @Test func `a page of any size is bounded`() async throws {
    try await temporary.seed((0..<5).map { UploadLife($0, to: .queued) })
    let reader = try await temporary.reader()
    for limit in [Int.min, -1, 0] {
      #expect(try await reader.queue(limit: limit).rows.count == 1)
      #expect(try await reader.events(EventQuery(), limit: limit).count == 1)
      #expect(try await reader.uploads(withPrefix: "0", limit: limit).count == 1)
    }
    #expect(try await reader.queue(limit: .max).rows.count == 5)
    #expect(try await reader.uploads(withPrefix: "0", limit: .max).count == 5)
    await reader.close()
  }
}
