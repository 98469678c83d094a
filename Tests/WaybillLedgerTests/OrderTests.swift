import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// Who writes when: clocks, turns, and tools that come in between.
struct OrderTests {
  let temporary = TemporaryLedger()

  // H15
  @Test func `a clock that steps back does not change the order of events`() async throws {
    let life = UploadLife(1)
    for (count, seconds) in [Int64(2000), 1400, 2100].enumerated() {
      let ledger = try await temporary.open(time: Timestamp(seconds: seconds))
      try await ledger.append(
        Array(life.events[(count * 3)..<(count * 3 + 3)]), to: life.id, expecting: .any)
      await ledger.close()
    }
    let reader = try await temporary.reader()
    let events = try await reader.events(EventQuery())
    #expect(events.map(\.position.value) == Array(1...12))
    #expect(events.map(\.time) != events.map(\.time).sorted())
    #expect(events.filter { $0.upload != nil }.map(\.revision.value) == Array(1...9))
    await reader.close()
    #expect(try await temporary.findings() == [])
  }

  // G07: what two processes append in turns is all there.
  @Test(.timeLimit(.minutes(2)))
  func `two processes that take turns with a thousand appends each lose none`() async throws {
    try await temporary.seed([UploadLife(1, to: .queued)])
    let children = try (0..<2).map { _ in
      try ChildProcess.role(.turns, ledger: temporary.directory)
    }
    for child in children {
      #expect(child.readSaid() == "done")
      #expect(child.wait() == 0)
    }
    #expect(
      try rows(temporary.database, "SELECT count(*) FROM events WHERE kind = 'observation.noted'")
        == ["2000"])
    #expect(try rows(temporary.database, "SELECT count(*) = max(position) FROM events") == ["1"])
    #expect(try await temporary.findings() == [])
  }

  // G06, M6: a transaction that began with a read would be told "locked" at once.
  @Test func `a tool that commits between our appends is waited for and fails none of them`()
    async throws
  {
    let ledger = try await temporary.open()
    try rows(temporary.database, "CREATE TABLE theirs (a)")
    let tool = Task.detached { [database = temporary.database] in
      for _ in 0..<40 {
        try rows(database, "PRAGMA busy_timeout = 5000; INSERT INTO theirs VALUES (1)")
      }
    }
    for number: UInt64 in 0..<200 { try await UploadLife(number, to: .queued).append(to: ledger) }
    try await tool.value
    #expect(try rows(temporary.database, "SELECT count(*) FROM theirs") == ["40"])
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // G13, T3: what is held at suspension is what iOS ends an app for.
  @Test func `between appends an open ledger holds no lock of the database`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    _ = try await ledger.reader.counts()
    #expect(try rows(temporary.database, "PRAGMA journal_mode") == ["wal"])
    // Answers at once or fails: no time to wait is given.
    try rows(temporary.database, "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK")
    #expect(
      try rows(temporary.database, "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        .last == "0|0|0")
    await ledger.close()
  }

  // H07: one way from a row to an event, so a shape is read alike wherever it is read.
  @Test func `an event of a newer shape is opaque alike live, rebuilt and in the past`()
    async throws
  {
    let life = UploadLife(1, to: .queued)
    try await temporary.seed([life])
    try rows(
      temporary.database,
      withoutGuards + "UPDATE events SET version = 9 WHERE kind = 'upload.queued';"
        + "UPDATE projections SET version = 0")
    let ledger = try await temporary.open()
    let live = try await ledger.upload(life.id)
    #expect(live.intent == nil && live.hash != nil)
    #expect(try await ledger.reader.upload(life.id) == live)
    #expect(try await ledger.reader.upload(life.id, at: live.revision) == live)
    let head = try await ledger.reader.head()
    try await ledger.reader.forEachUpload(at: head) { #expect($0 == live) }
    #expect(try await ledger.reader.projectionDifferences().count == 0)
    try await ledger.rebuild()
    #expect(try await ledger.reader.projectionDifferences().count == 0)
    let bodies = try await ledger.reader.events(EventQuery()).filter { $0.version == 9 }.map(\.body)
    #expect(bodies == [.unrecognized])
    await ledger.close()
  }

  // H06, D19
  @Test func `of three events that cannot be read each is named with its position`() async throws {
    try await temporary.seed((1...5).map { UploadLife($0, to: .queued) })
    try rows(
      temporary.database,
      withoutGuards + "UPDATE events SET bytes = -5 WHERE kind = 'upload.exported' AND stream < 4;"
        + "UPDATE projections SET version = 0")
    let ledger = try await temporary.open()
    #expect(try await ledger.reader.counts()[.needsAttention] == 3)
    #expect(try await ledger.reader.counts()[.queued] == 2)
    let report = try await ledger.reader.verify()
    let unreadable = report.findings.filter { $0.kind == "event_unreadable" }
    #expect(unreadable.map(\.position) == [2, 5, 8].map { GlobalPosition($0) })
    #expect(!report.isSound)
    await ledger.close()
  }
}
