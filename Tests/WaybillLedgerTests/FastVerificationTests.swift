import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// The fast look: what it sees, and what only the deep one sees.
struct FastVerificationTests {
  let temporary = TemporaryLedger()

  private func findings(_ depth: Verification.Depth) async throws -> Set<String> {
    let reader = try await temporary.reader()
    let report = try await reader.verify(depth)
    #expect(report.depth == depth)
    await reader.close()
    return Set(report.findings.map(\.kind))
  }

  @Test func `a sound ledger is sound at either depth, with the same size`() async throws {
    try await temporary.seed([UploadLife(1), UploadLife(2, to: .sending)])
    let reader = try await temporary.reader()
    let (fast, deep) = (try await reader.verify(.fast), try await reader.verify())
    #expect(fast.isSound && deep.isSound)
    #expect(fast.events == deep.events && fast.head == deep.head)
    #expect(deep.depth == .deep)
    await reader.close()
  }

  private static let missing: [(sql: String, finding: String)] = [
    ("DELETE FROM events WHERE position = 5", "gap"),
    ("DELETE FROM events WHERE stream = 1 AND revision = 2", "revision_gap"),
    (
      "DELETE FROM events WHERE position > (SELECT max(position) - 3 FROM events)", "tail_lost"
    ),
    (
      "UPDATE events SET chain = zeroblob(32) WHERE position = (SELECT max(position) FROM events)",
      "head_mark_mismatch"
    ),
    ("UPDATE projections SET position = 3, launch = NULL WHERE name = 'work'", "projection_behind"),
    ("DROP TABLE queue", "projection_behind"),
  ]

  @Test(arguments: 0..<missing.count)
  func `what is missing is seen without reading the events`(index: Int) async throws {
    let (sql, finding) = Self.missing[index]
    try await temporary.seed([UploadLife(1, to: .received), UploadLife(2, to: .queued)])
    try rows(temporary.database, withoutGuards + sql)
    #expect(try await findings(.fast).contains(finding), "\(sql)")
  }

  private static let changed = [
    "UPDATE events SET payload = replace(payload, '8080', '8081')",
    "UPDATE events SET name = x'00' WHERE name IS NOT NULL",
    "UPDATE events SET kind = 'part.sent' WHERE position = 3",
    "UPDATE queue SET confirmed = confirmed + 1", "DELETE FROM work",
    "UPDATE ledger_state SET sealed = 1",
  ]

  @Test(arguments: changed)
  func `what was changed is seen by the deep look alone`(sql: String) async throws {
    try await temporary.seed([UploadLife(1, to: .received), UploadLife(2, to: .queued)])
    try rows(temporary.database, withoutGuards + sql)
    #expect(try await findings(.fast) == [])
    #expect(try await findings(.deep) != [])
  }

  // G05: the log says up to where it can be read.
  @Test func `a damaged page of the log is told with the last event before it`() async throws {
    try await temporary.seed((1...100).map { UploadLife($0, to: .queued) })
    let page = try rows(
      temporary.database,
      "SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' LIMIT 1 OFFSET 5")
    let number = try #require(page.first.flatMap { Int64($0) })
    let file = open(temporary.database, O_RDWR)
    let noise = [UInt8](repeating: 0xa5, count: 4096)
    pwrite(file, noise, noise.count, off_t((number - 1) * 4096))
    close(file)
    #expect(try await findings(.fast).contains("database_damaged"))
    let reader = try await temporary.reader()
    let report = try await reader.verify()
    let end = try #require(report.findings.first { $0.kind == "log_unreadable" })
    let position = try #require(end.position)
    #expect(position > GlobalPosition(10) && position < GlobalPosition(300))
    #expect(!report.findings.contains { $0.kind == "chain_mismatch" })
    var query = EventQuery()
    query.before = position
    let sound = Int(position.value) - 1
    #expect(try await reader.events(query, limit: sound).count == sound)
    await reader.close()
  }
}
