import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// Reading beside the writer, from copies, and where nothing may be written.
struct ReaderTests {
  let temporary = TemporaryLedger()

  @Test func `a reader sees what was committed while the writer goes on`() async throws {
    let ledger = try await temporary.open()
    let reader = try await temporary.reader()
    for number: UInt64 in 1...20 {
      let events = try await UploadLife(number, to: .queued).append(to: ledger)
      #expect(try await reader.head() == events.last?.position)
      #expect(try await reader.upload(UploadLife(number).id)?.stateWord == .queued)
    }
    await reader.close()
    #expect(await code { _ = try await reader.head() } == .closed)
    await ledger.close()
  }

  // G01, M7
  /// Readers page in short transactions, so the log can be copied behind them: M7 without the
  /// 101 MB. The bound is four times the length at which it is copied.
  @Test func `a reader that never stops keeps the log within sixteen mebibytes`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    let follower = Task {
      let reader = try await temporary.reader()
      var query = EventQuery()
      while !Task.isCancelled {
        let page = try await reader.events(query, limit: 20)
        query.after = page.count < 20 ? nil : page.last?.position
      }
      await reader.close()
    }
    let note = ProposedEvent(
      .noted(Noted(claim: .lateSession, remote: RemoteID(String(repeating: "r", count: 400)))),
      cause: .server)
    let wal = temporary.database + "-wal"
    let longest = try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<20 {
        group.addTask {
          var longest: Int64 = 0
          for _ in 0..<1000 {
            try await ledger.append([note], to: life.id, expecting: .any)
            longest = max(longest, size(wal) ?? 0)
          }
          return longest
        }
      }
      return try await group.reduce(0) { max($0, $1) }
    }
    follower.cancel()
    try await follower.value
    #expect(longest < 16 << 20, "\(longest) bytes")
    #expect(try await ledger.reader.head() == GlobalPosition(20_004))
    await ledger.close()
  }

  // G01, M7
  @Test func `a tool that holds a read slows nobody down, and its end shrinks the log`()
    async throws
  {
    let ledger = try await temporary.open()
    let tool = try ChildProcess([
      "sqlite3", "-batch", temporary.database, "BEGIN", "SELECT count(*) FROM events",
      ".system echo held; kill -STOP $PPID",
    ])
    try #require(tool.readLine() != nil)
    for number: UInt64 in 0..<120 {
      try await UploadLife(number, partCount: 40).append(to: ledger)
    }
    let wal = temporary.database + "-wal"
    #expect(try #require(size(wal)) > 4 << 20)
    tool.kill()
    _ = tool.wait()
    for number: UInt64 in 200..<250 {
      try await UploadLife(number, partCount: 40).append(to: ledger)
    }
    #expect(try #require(size(wal)) <= 6 << 20)
    await ledger.close()
    #expect(size(wal) == 0 || size(wal) == nil)
    #expect(try await temporary.findings() == [])
  }

  @Test func `events are found by upload, kind, time and launch, page by page`() async throws {
    for (number, seconds) in [(UInt64(1), Int64(1000)), (2, 2000), (3, 3000)] {
      let ledger = try await temporary.open(time: Timestamp(seconds: seconds))
      try await UploadLife(number).append(to: ledger)
      await ledger.close()
    }
    let reader = try await temporary.reader()
    func positions(_ change: (inout EventQuery) -> Void, limit: Int = 1000) async throws -> [Int64]
    {
      var query = EventQuery()
      change(&query)
      return try await reader.events(query, limit: limit).map(\.position.value)
    }
    #expect(try await positions { _ in } == Array(1...36))
    #expect(try await positions { $0.upload = UploadLife(2).id } == Array(14...24))
    #expect(try await positions { $0.kinds = ["ledger.launched"] } == [1, 13, 25])
    #expect(
      try await positions { $0.kinds = ["upload.queued", "upload.committed"] }
        == [4, 12, 16, 24, 28, 36])
    #expect(try await positions { $0.since = Timestamp(seconds: 3000) } == Array(25...36))
    #expect(try await positions { $0.until = Timestamp(seconds: 2000) } == Array(1...12))
    #expect(try await positions { $0.launch = LaunchGeneration(2) } == Array(13...24))
    #expect(try await positions({ $0.isReversed = true }, limit: 3) == [36, 35, 34])
    #expect(try await positions { $0.upload = UploadLife(9).id } == [])
    #expect(
      try await positions {
        $0.after = GlobalPosition(15)
        $0.upload = UploadLife(2).id
        $0.kinds = ["part.confirmed"]
        $0.launch = LaunchGeneration(2)
      } == [19, 21])
    var paged: [Int64] = []
    var query = EventQuery()
    while case let page = try await reader.events(query, limit: 7), let last = page.last {
      paged += page.map(\.position.value)
      query.after = last.position
    }
    #expect(paged == Array(1...36))
    await reader.close()
  }

  @Test func `the queue comes in pages in the order of adding`() async throws {
    let stages = UploadLife.Stage.allCases
    let lives = (0..<25).map { UploadLife($0, to: stages[Int($0) % stages.count]) }
    try await temporary.seed(lives)
    let reader = try await temporary.reader()
    for limit in [1, 4, 5, 25, 26] {
      var listed: [UploadID] = []
      var next: GlobalPosition?
      repeat {
        let page = try await reader.queue(after: next, limit: limit)
        #expect(page.rows.count <= limit)
        listed += page.rows.map(\.id)
        next = page.next
      } while next != nil
      #expect(listed == lives.map(\.id), "in pages of \(limit)")
    }
    let counts = try await reader.counts()
    #expect(counts.uploads.values.allSatisfy { $0 == 5 })
    #expect(counts.totalBytes == 25 * 2 * UploadLife.partSize)
    #expect(counts.confirmedBytes == 10 * 2 * UploadLife.partSize)
    #expect(try await reader.workLeft() == 25)
    await reader.close()
  }

  @Test func `uploads are found by the first characters of their ids`() async throws {
    try await temporary.seed((0..<20).map { UploadLife($0, to: .queued) })
    let reader = try await temporary.reader()
    let whole = UploadLife(7).id.description
    #expect(try await reader.uploads(withPrefix: whole, limit: 5) == [UploadLife(7).id])
    #expect(try await reader.uploads(withPrefix: "0193", limit: 5).count == 5)
    for odd in ["x", "%", "_", "\0", "0193%", "'; --", whole + "0"] {
      #expect(try await reader.uploads(withPrefix: odd, limit: 5) == [], "\(odd)")
    }
    #expect(try await reader.uploads(withPrefix: "", limit: 100).count == 20)
    await reader.close()
  }

  @Test func `a copied database is read by itself`() async throws {
    try await temporary.seed([UploadLife(1)])
    let copy = temporary.folder + "/copy of it?#%.sqlite"
    try FileManager.default.copyItem(atPath: temporary.database, toPath: copy)
    let reader = try await LedgerReader.open(copy)
    #expect(try await reader.verify().isSound)
    #expect(reader.owner == nil)
    #expect(reader.changeFile == nil)
    await reader.close()
  }

  @Test func `what is no ledger is refused in words`() async throws {
    let text = temporary.folder + "/text"
    try Data(String(repeating: "text", count: 1000).utf8).write(to: URL(fileURLWithPath: text))
    let empty = temporary.folder + "/empty"
    try Data().write(to: URL(fileURLWithPath: empty))
    let pipe = temporary.folder + "/pipe"
    mkfifo(pipe, 0o600)
    let expected: [(String, LedgerError.Code)] = [
      (text, .foreignFile), (empty, .notFound), (pipe, .unusable), (temporary.folder, .notFound),
      (temporary.folder + "/none", .notFound),
    ]
    for (path, wanted) in expected {
      #expect(await code { _ = try await LedgerReader.open(path) } == wanted, "\(path)")
    }
  }

  // G12, D9
  @Test(.enabled(if: geteuid() == 0, "only the superuser can become someone else"))
  func `a ledger on a medium nobody can write is read and left as it is`() async throws {
    try await temporary.seed([UploadLife(1)])
    let place = temporary.folder + "/medium"
    mkdir(place, 0o755)
    try FileManager.default.copyItem(atPath: temporary.database, toPath: place + "/ledger.sqlite")
    chmod(place + "/ledger.sqlite", 0o444)
    chmod(place, 0o555)
    chmod(temporary.folder, 0o755)
    await #expect(processExitsWith: .success) { [place = place as String] in
      try #require(seteuid(65_534) == 0)
      let reader = try await LedgerReader.open(place)
      #expect(try await reader.verify().isSound)
      #expect(try await reader.counts()[.committed] == 1)
      await reader.close()
      let error = await code { _ = try await Ledger.open(directory: place) }
      #expect(error == .unusable)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["ledger.sqlite"])
  }
}
