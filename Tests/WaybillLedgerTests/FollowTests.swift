import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Following the log: each event once, in order, and nobody is held up by it.
struct FollowTests {
  let temporary = TemporaryLedger()

  @Test(.timeLimit(.minutes(2)))
  func `whoever follows sees each of two thousand appends of another process once, in order`()
    async throws
  {
    try await temporary.seed([])
    let reader = try await temporary.reader()
    let child = try ChildProcess.role(.many, ledger: temporary.directory)
    var seen: [Int64] = []
    var notes = 0
    for try await page in reader.updates() {
      seen += page.map(\.position.value)
      notes += page.count { $0.kind == .observationNoted }
      if notes == 2000 { break }
    }
    #expect(child.wait() == 0)
    #expect(seen == Array(1...Int64(seen.count)))
    await reader.close()
  }

  // G01, M7
  @Test(.timeLimit(.minutes(2)))
  func `twenty thousand appends behind a follower keep the log within sixteen mebibytes`()
    async throws
  {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    let follower = Task {
      let reader = try await temporary.reader()
      var (count, last) = (0, Int64(0))
      for try await page in reader.updates() {
        for event in page {
          #expect(event.position.value == last + 1)
          last = event.position.value
        }
        count += page.count
        if count == 20_004 { break }
      }
      await reader.close()
      return count
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
    #expect(try await follower.value == 20_004)
    #expect(longest < 16 << 20, "\(longest) bytes")
    await ledger.close()
  }

  @Test func `a follower gets only the events it asked for, and begins where it says`()
    async throws
  {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    var query = EventQuery()
    query.kinds = ["upload.queued", "upload.committed"]
    query.after = GlobalPosition(4)
    query.isReversed = true
    var updates = ledger.reader.updates(query).makeAsyncIterator()
    #expect(try await updates.next()?.map(\.kind) == [.uploadCommitted])
    try await UploadLife(2, to: .exported).append(to: ledger)
    try await UploadLife(3, to: .queued).append(to: ledger)
    #expect(try await updates.next()?.map(\.kind) == [.uploadQueued])
    await ledger.close()
    #expect(try await updates.next() == nil)
  }

  @Test func `a database without a folder is followed by the clock`() async throws {
    let ledger = try await temporary.open()
    let reader = try await LedgerReader.open(temporary.database)
    #expect(reader.changeFile == nil)
    var query = EventQuery()
    query.after = try await reader.head()
    var updates = reader.updates(query).makeAsyncIterator()
    async let page = updates.next()
    try await UploadLife(1, to: .exported).append(to: ledger)
    #expect(try await page?.map(\.kind) == [.uploadExported])
    await reader.close()
    await ledger.close()
  }

  @Test func `following ends when the follower is cancelled`() async throws {
    try await temporary.seed([])
    let reader = try await temporary.reader()
    let (started, start) = AsyncStream<Void>.makeStream()
    let follower = Task {
      var count = 0
      for try await page in reader.updates() {
        count += page.count
        start.yield()
      }
      return count
    }
    for await _ in started { break }
    follower.cancel()
    #expect(try await follower.value == 1)
    await reader.close()
  }
}
