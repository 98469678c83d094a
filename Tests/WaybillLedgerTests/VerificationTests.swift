import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// Damage to the log: named by `verify`, known to the next launch, never passed over.
struct VerificationTests {
  let temporary = TemporaryLedger()

  private static let damage: [(sql: String, findings: Set<String>)] = [
    ("UPDATE events SET payload = replace(payload, '8080', '8081')", ["chain_mismatch"]),
    ("UPDATE events SET name = x'00' WHERE name IS NOT NULL", ["chain_mismatch"]),
    ("UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 4", ["chain_mismatch"]),
    ("UPDATE events SET cause = 'server' WHERE position = 2", ["chain_mismatch"]),
    ("UPDATE events SET chain = zeroblob(32) WHERE position = 3", ["chain_mismatch"]),
    ("DELETE FROM events WHERE position = 5", ["gap", "chain_mismatch", "revision_gap"]),
    ("DELETE FROM events WHERE position = 1", ["gap", "chain_mismatch"]),
    (
      """
      UPDATE events SET position = 1000 WHERE position = 5;
      UPDATE events SET position = 5 WHERE position = 6;
      UPDATE events SET position = 6 WHERE position = 1000;
      """, ["chain_mismatch"]
    ),
    ("UPDATE events SET kind = 'part.sent' WHERE position = 3", ["event_unreadable"]),
    (
      "DELETE FROM events WHERE position > (SELECT max(position) - 3 FROM events)",
      ["tail_lost"]
    ),
  ]

  @Test(arguments: 0..<damage.count)
  func `damage to the log is named`(index: Int) async throws {
    let (sql, expected) = Self.damage[index]
    try await temporary.seed([UploadLife(1, to: .received), UploadLife(2, to: .queued)])
    try rows(temporary.database, withoutGuards + sql)
    let found = try await temporary.findings()
    #expect(found.isSuperset(of: expected), "\(sql): \(found)")
  }

  @Test func `damage is named at the first event it touches, and what is before it is sound`()
    async throws
  {
    try await temporary.seed([UploadLife(1)])
    try rows(
      temporary.database, withoutGuards + "UPDATE events SET code = 'picker' WHERE position = 2")
    let reader = try await temporary.reader()
    let report = try await reader.verify()
    let chain = report.findings.filter { $0.kind == "chain_mismatch" }
    #expect(chain.map(\.position) == [GlobalPosition(2)])
    #expect(!report.isSound)
    await reader.close()
  }

  @Test func `an event that cannot be read puts its upload before a person`() async throws {
    try await temporary.seed([UploadLife(1, to: .queued), UploadLife(2, to: .queued)])
    try rows(
      temporary.database,
      withoutGuards + "UPDATE events SET bytes = -5 WHERE kind = 'upload.exported' AND stream = 1;"
        + "UPDATE projections SET version = 0")
    let ledger = try await temporary.open()
    #expect(try await ledger.upload(UploadLife(1).id).attention?.reason == .recordUnreadable)
    #expect(try await ledger.upload(UploadLife(2).id).attention == nil)
    try await UploadLife(3).append(to: ledger)
    await ledger.close()
  }

  /// A copy of a ledger whose last events are still in the write-ahead log.
  private func withTail(_ damage: (String) throws -> Void) async throws -> TemporaryLedger {
    let ledger = try await temporary.open()
    for number: UInt64 in 1...20 { try await UploadLife(number, to: .queued).append(to: ledger) }
    let copy = TemporaryLedger()
    try run(["cp", "-a", temporary.directory, copy.directory])
    await ledger.close()
    unlink(copy.database + "-shm")
    try damage(copy.database + "-wal")
    return copy
  }

  private func expectTailLost(_ copy: TemporaryLedger, sql: String = "") async throws {
    #expect(try await copy.findings() == ["tail_lost"])
    let ledger = try await copy.open()
    #expect(try await ledger.state().tailLost != nil)
    let events = try await ledger.reader.events(EventQuery())
    let lost = try #require(events.first { $0.kind == .ledgerTailLost })
    #expect(lost.launch == ledger.launch)
    guard case .ledger(.tailLost(let fact)) = lost.body else {
      Issue.record("unreadable")
      return
    }
    #expect(fact.markedPosition == GlobalPosition(61))
    #expect(fact.lastPosition < fact.markedPosition)
    await ledger.close()
    #expect(try await copy.findings() == [])
    let again = try await copy.open()
    #expect(try await again.state().tailLost != nil)
    try await again.append(.reconciled(Reconciled(uploads: 1, events: 0)), cause: .reconciliation)
    #expect(try await again.state().tailLost == nil)
    await again.close()
    #expect(try await copy.ownEvents().count { $0 == "ledger.tail_lost" } == 1)
  }

  // M2
  @Test func `a write-ahead log that is cut short is a lost tail`() async throws {
    let copy = try await withTail { wal in
      let length = try #require(size(wal))
      truncate(wal, off_t(length * 6 / 10))
    }
    try await expectTailLost(copy)
  }

  // M3
  @Test func `a flipped bit in the write-ahead log is a lost tail`() async throws {
    let copy = try await withTail { wal in
      let length = try #require(size(wal))
      let file = open(wal, O_RDWR)
      var byte: UInt8 = 0
      pread(file, &byte, 1, off_t(length / 2))
      byte ^= 1
      pwrite(file, &byte, 1, off_t(length / 2))
      close(file)
    }
    try await expectTailLost(copy)
  }

  // G08, M1, G10
  @Test func `a write-ahead log that is gone is a lost tail`() async throws {
    let copy = try await withTail { unlink($0) }
    try await expectTailLost(copy)
  }

  @Test func `a whole write-ahead log loses nothing`() async throws {
    let copy = try await withTail { _ in }
    #expect(try await copy.findings() == [])
    let ledger = try await copy.open()
    #expect(try await ledger.reader.counts()[.queued] == 20)
    #expect(try await ledger.state().tailLost == nil)
    await ledger.close()
  }

  @Test func `a log that was exchanged for another is noticed`() async throws {
    try await temporary.seed([UploadLife(1)])
    let other = TemporaryLedger()
    try await other.seed([UploadLife(2), UploadLife(3)])
    try run(["cp", other.database, temporary.database])
    #expect(try await temporary.findings() == ["head_mark_mismatch"])
    let ledger = try await temporary.open()
    #expect(try await ledger.state().tailLost != nil)
    await ledger.close()
  }

  @Test(arguments: ["", "waybill-head 1 00000000000000000099", String(repeating: "x", count: 128)])
  func `a damaged head mark is said and written anew`(text: String) async throws {
    try await temporary.seed([UploadLife(1)])
    try Data(text.utf8).write(to: URL(fileURLWithPath: temporary.headMark))
    #expect(try await temporary.findings() == (text.isEmpty ? [] : ["head_mark_unreadable"]))
    try await temporary.seed([UploadLife(2)])
    #expect(try await temporary.findings() == [])
  }

  @Test func `a head mark with one digit changed is not believed`() async throws {
    try await temporary.seed([UploadLife(1)])
    var text = try String(contentsOfFile: temporary.headMark, encoding: .utf8)
    text = text.replacingOccurrences(of: "0000012", with: "0000013")
    try Data(text.utf8).write(to: URL(fileURLWithPath: temporary.headMark))
    #expect(try await temporary.findings() == ["head_mark_unreadable"])
  }

  // G05
  @Test func `a damaged page of the database is reported`() async throws {
    try await temporary.seed((1...200).map { UploadLife($0, to: .queued) })
    let length = try #require(size(temporary.database))
    let file = open(temporary.database, O_RDWR)
    let noise = [UInt8](repeating: 0xa5, count: 4096)
    for page in stride(from: Int64(20), to: length / 4096, by: 3) {
      pwrite(file, noise, noise.count, off_t(page * 4096))
    }
    close(file)
    let reader = try await temporary.reader()
    do {
      #expect(try await !reader.verify().isSound)
    } catch {
      #expect(error.code == .corrupt)
    }
    await reader.close()
    #expect(size(temporary.database) == length)
  }
}
