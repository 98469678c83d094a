import Foundation
import Testing
import WaybillHash
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Ended uploads leave the log, and what must still be answered about them is.
struct RetentionTests {
  let temporary = TemporaryLedger()

  private static let all = RetentionPolicy(ageSeconds: 0)
  private static let segment = SegmentStandIn()

  /// Three committed uploads whose streams interleave, one cancelled, one duplicate and two that go
  /// on; all that ended have released their copies.
  private func seed(_ ledger: Ledger) async throws {
    let lives = (1...3).map { UploadLife($0) }
    for index in lives[0].events.indices {
      for life in lives {
        try await ledger.append([life.events[index]], to: life.id, expecting: .any)
      }
    }
    try await UploadLife(4, to: .sending).append(to: ledger)
    try await add([.cancelled(Cancelled(reason: .user))], 4, ledger)
    try await UploadLife(5, to: .exported).append(to: ledger)
    try await add(
      [
        .hashed(Hashed(hash: UploadLife(5).hash)),
        .deduplicated(Deduplicated(original: .remote(RemoteID("elsewhere")))),
      ], 5, ledger)
    for number in 1...5 { try await add([.copyReleased], UInt64(number), ledger) }
    try await UploadLife(6, to: .sending).append(to: ledger)
    try await UploadLife(7).append(to: ledger)  // its copy is still to be released
  }

  private func add(_ events: [UploadEvent], _ number: UInt64, _ ledger: Ledger) async throws {
    try await ledger.append(
      events.map { ProposedEvent($0, cause: .command) }, to: UploadLife(number).id, expecting: .any)
  }

  private func selection(_ ledger: Ledger) async throws -> ArchiveSelection {
    try await ledger.reader.archivable(Self.all, now: SystemClock.now)
  }

  /// Archives what may go, with a file in the place of its segment.
  private func archive(_ ledger: Ledger, _ chosen: ArchiveSelection? = nil) async throws {
    var selection = chosen
    if selection == nil { selection = try await self.selection(ledger) }
    let archived = try await ledger.archive(
      try #require(selection), digest: Self.segment.digest)
    try Self.segment.write(archived, to: temporary)
  }

  @Test func `what ended leaves the log, and what has not ended stays`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    let before = try await ledger.reader.verify().events
    let selection = try await selection(ledger)
    #expect(selection.uploads == (1...5).map { UploadLife($0).id })
    let archived = try await ledger.archive(selection, digest: Self.segment.digest)
    #expect(archived.count == selection.eventCount)
    for depth in [Verification.Depth.fast, .deep] {
      let report = try await ledger.reader.verify(depth)
      #expect(report.findings.map(\.kind) == (depth == .deep ? ["segment_missing"] : []))
      #expect(report.events == before - selection.removedCount + 1)
      #expect(report.archived == selection.removedCount)
    }
    try Self.segment.write(archived, to: temporary)
    #expect(try await ledger.reader.verify().findings == [])
    #expect(try await self.selection(ledger).isEmpty)
    let words = [1, 4, 5, 6, 7].map { UploadLife($0).id }
    var states: [StateWord?] = []
    for id in words { states.append(try await ledger.upload(id).stateWord) }
    #expect(states == [.committed, .cancelled, .deduplicated, .sending, .committed])
    let queue = try await ledger.reader.queue().rows.map(\.id)
    #expect(queue == [UploadLife(6).id, UploadLife(7).id])
    await ledger.close()
  }

  @Test func `bytes that were archived are still known as uploaded`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    try await archive(ledger)
    try await ledger.rebuild()
    for number in [1, 2, 3, 5] as [UInt64] {
      let life = UploadLife(number)
      #expect(try await ledger.reader.holder(of: life.hash) == life.id)
    }
    #expect(try await ledger.reader.holder(of: UploadLife(4).hash) == nil)
    let copy = UploadLife(1)
    let again = await code {
      try await ledger.append(copy.events, to: UploadLife(9).id, expecting: .none)
    }
    #expect(again == .duplicateContent)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `the events that leave come with the chain that joins them to the log`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    let selection = try await selection(ledger)
    let stored = try rows(temporary.database, "SELECT position, lower(hex(chain)) FROM events")
    var chain: EventChain?
    var position = GlobalPosition.start
    var count = 0
    while case let page = try await ledger.reader.events(of: selection, after: position),
      let last = page.last
    {
      for archived in page {
        if let before = archived.chainBefore { chain = EventChain(value: before) }
        let value = chain?.advance(over: archived.event)
        #expect(stored.contains("\(archived.event.position.value)|\(try #require(value))"))
        count += 1
      }
      position = last.event.position
    }
    #expect(Int64(count) == selection.eventCount)
    await ledger.close()
  }

  @Test func `a stream goes on behind its archived beginning`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    let id = UploadLife(1).id
    let revision = try await ledger.upload(id).revision
    try await archive(ledger)
    #expect(try await ledger.upload(id).revision == revision)
    let late = try await ledger.append(
      [ProposedEvent(.noted(Noted(claim: .latePart, part: PartNumber(0))), cause: .transport)],
      to: id, expecting: .exactly(revision))
    #expect(late.first?.revision == revision.next)
    // An id is unique for ever, and the log alone cannot tell any more.
    let named = await code {
      try await ledger.append(
        [ProposedEvent(.copyReleased, cause: .command)], to: id, expecting: .any,
        ids: [EventID(high: 1, low: 2)])
    }
    #expect(named == .archived)
    #expect(try await ledger.reader.segment(of: id)?.archived.digest == Self.segment.digest)
    #expect(try await ledger.reader.segment(of: UploadLife(6).id) == nil)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `moving the same uploads twice moves them once`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    let selection = try await selection(ledger)
    try await archive(ledger, selection)
    let log = try rows(temporary.database, "SELECT position, hex(chain) FROM events")
    let again = await code { try await archive(ledger, selection) }
    #expect(again == .conflict)
    #expect(try rows(temporary.database, "SELECT position, hex(chain) FROM events") == log)
    try await UploadLife(20).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `an archived ledger opens again, and its derived tables rebuild to the same`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger)
    try await archive(ledger)
    await ledger.close()
    let tables = ["queue", "upload_states", "content_index", "work", "sessions"]
    let before = try tables.map { try rows(temporary.database, "SELECT * FROM \($0)") }
    let again = try await temporary.open()
    try await again.rebuild()
    #expect(try await again.reader.counts()[.committed] == 4)
    await again.close()
    #expect(try tables.map { try rows(temporary.database, "SELECT * FROM \($0)") } == before)
    #expect(try await temporary.findings() == [])
  }

  @Test(arguments: [
    "DELETE FROM archived_ranges", "UPDATE archived_ranges SET last = last + 5",
    "INSERT INTO archived_ranges SELECT last, last, chain, 1 FROM archived_ranges LIMIT 1",
    "INSERT INTO archived_ranges SELECT first, first, chain, 1 FROM archived_ranges LIMIT 1",
    "REPLACE INTO archived_ranges SELECT first, last + 1, chain, 1 FROM archived_ranges LIMIT 1",
    "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
    """
    INSERT INTO events \(GuardTests.columns) SELECT first, randomblob(16), 1, 900, 'x', 1, 0,
    'server', 1, NULL, zeroblob(32) FROM archived_ranges LIMIT 1
    """,
  ])
  func `no tool can take more out of the log, or put something in its place`(
    attempt: String
  ) async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    try await archive(ledger)
    await ledger.close()
    for pragma in ["OFF", "ON"] {
      let result = try sqlite3(
        temporary.database, "PRAGMA recursive_triggers = \(pragma); \(attempt)")
      #expect(result.status != 0)
      #expect(result.output.contains("append-only"), "\(result.output)")
    }
    #expect(try await temporary.findings() == [])
  }

  @Test(arguments: [
    ("DELETE FROM archived_ranges WHERE first > 5", "gap"),
    ("UPDATE archived_ranges SET chain = zeroblob(32)", "chain_mismatch"),
    ("UPDATE archived_streams SET removed = removed + 1", "revision_gap"),
    ("DELETE FROM archived_streams", "revision_gap"),
    ("UPDATE archived_streams SET archived = 1", "segment_unknown"),
    // A stream is taken out by the rules of the tables, but by no event.
    (
      """
      INSERT INTO archived_ranges SELECT position, position, chain, 1 FROM events
      WHERE stream = (SELECT max(stream) FROM events);
      DELETE FROM events WHERE stream = (SELECT max(stream) FROM events)
      """, "archive_mismatch"
    ),
  ])
  func `a boundary that was tampered with is found`(sql: String, finding: String) async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    try await archive(ledger)
    await ledger.close()
    try rows(
      temporary.database,
      "DROP TRIGGER archived_ranges_never_update; DROP TRIGGER archived_ranges_never_delete;" + sql)
    #expect(try await temporary.findings().contains(finding))
    let reader = try await temporary.reader()
    let fast = try await reader.verify(.fast).findings.map(\.kind)
    #expect(fast.contains(finding) || finding == "chain_mismatch")
    await reader.close()
  }

  // The head mark of a crash between the commit and the mark that follows it.
  @Test(arguments: [2, 5])
  func `a head mark of an event that has left the log is no lost tail`(count: Int) async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1)
    for event in life.events[..<count] {
      try await ledger.append([event], to: life.id, expecting: .any)
    }
    let mark = try Data(contentsOf: URL(fileURLWithPath: temporary.headMark))
    try await ledger.append(Array(life.events[count...]), to: life.id, expecting: .any)
    try await add([.copyReleased], 1, ledger)
    try await archive(ledger)
    await ledger.close()
    try mark.write(to: URL(fileURLWithPath: temporary.headMark))
    #expect(try await temporary.findings() == [])
    let again = try await temporary.open()
    #expect(try await again.state().tailLost == nil)
    await again.close()
  }

  @Test func `a table that is behind an archive or a purge is folded from the start`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger)
    await ledger.close()
    try rows(temporary.database, "CREATE TABLE kept AS SELECT * FROM queue")
    let position = try rows(temporary.database, "SELECT max(position) FROM events")[0]
    let again = try await temporary.open()
    try await archive(again)
    try await again.purge([UploadLife(7).id])
    await again.close()
    try rows(
      temporary.database,
      "DELETE FROM queue; INSERT INTO queue SELECT * FROM kept; DROP TABLE kept;"
        + " UPDATE projections SET position = \(position), launch = NULL WHERE name = 'queue'")
    let healed = try await temporary.open()
    #expect(try await healed.reader.queue().rows.map(\.id) == [UploadLife(6).id])
    await healed.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `who follows the queue gets all of it anew when uploads have left it`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    try await archive(ledger)
    let anew = try #require(try await updates.next())
    #expect(anew.kind == .beginning && anew.isWhole)
    #expect(anew.rows.map(\.upload.id) == [UploadLife(6).id, UploadLife(7).id])
    await ledger.close()
  }
}
