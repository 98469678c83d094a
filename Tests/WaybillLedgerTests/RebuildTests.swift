import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Dropping what is derived and folding it anew, on purpose and while others append.
struct RebuildTests {
  let temporary = TemporaryLedger()

  private static let lies = [
    "UPDATE queue SET confirmed = confirmed + 1", "DELETE FROM queue WHERE stream = 1",
    "UPDATE upload_states SET state = 'committed'", "DELETE FROM work",
    "INSERT INTO content_index VALUES (zeroblob(32), 77)", "UPDATE sessions SET reference = 'x'",
  ]

  @Test(arguments: lies)
  func `a row that lies is named by a dry run and mended by a rebuild`(lie: String) async throws {
    try await temporary.seed([UploadLife(1), UploadLife(2, to: .sending)])
    try rows(temporary.database, lie)
    let before = try rows(temporary.database, "SELECT * FROM queue")
    let reader = try await temporary.reader()
    #expect(try await reader.projectionDifferences().count > 0)
    #expect(try rows(temporary.database, "SELECT * FROM queue") == before)
    await reader.close()
    let ledger = try await temporary.open()
    #expect(
      try await ledger.rebuild()
        == ["queue", "upload_states", "content_index", "work", "sessions"])
    #expect(try await ledger.reader.projectionDifferences().count == 0)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // H05, H02
  @Test func `rebuilding an empty ledger, and rebuilding twice, changes nothing`() async throws {
    let ledger = try await temporary.open()
    try await ledger.rebuild()
    #expect(try await ledger.reader.counts() == LedgerCounts())
    try await UploadLife(1).append(to: ledger)
    let counts = try await ledger.reader.counts()
    try await ledger.rebuild()
    try await ledger.rebuild()
    #expect(try await ledger.reader.counts() == counts)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // H04
  @Test func `appends during a rebuild are neither lost nor counted twice`() async throws {
    let ledger = try await temporary.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for _ in 0..<5 { try await ledger.rebuild() } }
      for number in UInt64(1)...40 {
        group.addTask { try await UploadLife(number).append(to: ledger) }
      }
      try await group.waitForAll()
    }
    #expect(try await ledger.reader.counts()[.committed] == 40)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `a cancelled rebuild ends between two tables and leaves whole ones`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let rebuilding = Task {
      try await ledger.rebuild { name in
        if name == "upload_states" { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    #expect(try await rebuilding.value == ["queue", "upload_states"])
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `after a rebuild that failed, appends write every table again`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    // A view in the place of a table can be neither dropped as a table nor written.
    try rows(temporary.database, "DROP TABLE sessions; CREATE VIEW sessions AS SELECT 1 AS stream")
    await #expect(throws: LedgerError.self) { try await ledger.rebuild() }
    try rows(
      temporary.database,
      "DROP VIEW sessions; CREATE TABLE sessions (stream INTEGER PRIMARY KEY, reference TEXT,"
        + " part_size INTEGER, part_count INTEGER, expires INTEGER, opened INTEGER)")
    try await UploadLife(2, to: .sending).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }
}
