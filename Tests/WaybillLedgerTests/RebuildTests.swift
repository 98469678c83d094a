import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

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
        == ["queue", "upload_states", "content_index", "work", "sessions", "ledger_state"])
    #expect(try await ledger.reader.projectionDifferences().count == 0)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // G05: one bad page of a derived table, and of one of its indexes.
  @Test(arguments: ["queue", "queue_by_adding", "upload_states", "content_index"])
  func `a derived table with a damaged page is folded anew and the log stays as it is`(
    name: String
  ) async throws {
    try await temporary.seed((1...300).map { UploadLife($0, to: .queued) })
    let log = try rows(temporary.database, "SELECT position, hex(chain) FROM events")
    let page = try rows(
      temporary.database,
      "SELECT pageno FROM dbstat WHERE name = '\(name)' AND pagetype = 'leaf' LIMIT 1")
    let number = try #require(page.first.flatMap { Int64($0) })
    let file = open(temporary.database, O_RDWR)
    let noise = [UInt8](repeating: 0xa5, count: 4096)
    pwrite(file, noise, noise.count, off_t((number - 1) * 4096))
    close(file)
    #expect(try await temporary.findings().contains("database_damaged"))
    let ledger = try await temporary.open()
    try await ledger.rebuild()
    #expect(try await ledger.reader.counts()[.queued] == 300)
    try await UploadLife(1000).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
    #expect(
      try rows(temporary.database, "SELECT position, hex(chain) FROM events").starts(with: log))
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
