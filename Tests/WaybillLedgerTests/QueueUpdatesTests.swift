import Testing
import WaybillModel
import WaybillTesting

@testable import WaybillLedger

/// Following the queue.
struct QueueUpdatesTests {
  let temporary = TemporaryLedger()

  private func ids(_ update: QueueUpdate?) -> [UploadID]? { update?.rows.map(\.upload.id) }

  @Test func `each subscriber gets the queue and then the changes`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1, to: .queued).append(to: ledger)
    var early = ledger.uploads().makeAsyncIterator()
    let first = try await early.next()
    #expect(first?.kind == .beginning && first?.isWhole == true)
    #expect(ids(first) == [UploadLife(1).id])
    try await UploadLife(2, to: .queued).append(to: ledger)
    var late = ledger.uploads().makeAsyncIterator()
    #expect(ids(try await late.next()) == [UploadLife(1).id, UploadLife(2).id])
    let second = try await early.next()
    #expect(second?.kind == .change && second?.isWhole == true)
    #expect(ids(second) == [UploadLife(2).id])
    try await UploadLife(3, to: .queued).append(to: ledger)
    try await UploadLife(4, to: .queued).append(to: ledger)
    #expect(ids(try await early.next()) == [UploadLife(3).id, UploadLife(4).id])
    #expect(ids(try await late.next()) == [UploadLife(3).id, UploadLife(4).id])
    await ledger.close()
  }

  @Test func `progress is a change, and what holds up everything is told once, not row by row`()
    async throws
  {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    try await UploadLife(2).append(to: ledger)
    try await UploadLife(3, to: .queued).append(to: ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    let flight = try #require(try await ledger.upload(life.id).flights.first)
    await ledger.note(progress: [flight: 4096])
    let moved = try await updates.next()
    #expect(moved?.rows.map(\.upload.bytesSent) == [4096])
    try await ledger.append(
      [
        ProposedEvent(
          .transferLost(TransferLost(part: PartNumber(0), attempt: 1)), cause: .reconciliation)
      ], to: life.id, expecting: .any)
    #expect(ids(try await updates.next()) == [life.id])
    try await ledger.append(.conditionsChanged(Conditions(network: .offline)), cause: .transport)
    let held = try await updates.next()
    #expect(held?.rows == [])
    #expect(held?.waiting == Waiting(.offline))
    try await ledger.append(.conditionsChanged(Conditions(network: .online)), cause: .transport)
    let free = try await updates.next()
    #expect(free != nil && free?.rows == [] && free?.waiting == nil)
    try await ledger.append(.sealed(Sealed(copies: .keep)), cause: .command)
    #expect(try await updates.next()?.waiting == Waiting(.sealed))
    #expect(try await ledger.reader.queue().rows.last?.state == .waiting(Waiting(.sealed)))
    try await ledger.append(.unsealed, cause: .command)
    #expect(try await updates.next()?.waiting == nil)
    await ledger.close()
  }

  @Test(arguments: UploadLife.Stage.allCases)
  func `a row carries the evidence the fold has`(stage: UploadLife.Stage) async throws {
    let ledger = try await temporary.open(time: Samples.time)
    let life = UploadLife(1, to: stage)
    try await life.append(to: ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    let row = try #require(try await updates.next()?.rows.first)
    let upload = try await ledger.upload(life.id)
    #expect(row.evidence == upload.state)
    #expect(row.added == upload.firstPosition)
    #expect(row.bytesConfirmed == upload.confirmedBytes)
    #expect(row.verifyingSince == (upload.state == .verifying ? Samples.time : nil))
    await ledger.close()
  }

  @Test(
    arguments: [
      .paused, .cancelled(Cancelled(reason: .user)),
      .attentionNeeded(AttentionNeeded(reason: .quota, status: 507)),
      .partFailed(
        PartFailed(
          part: PartNumber(0), attempt: 1, failure: .offline, notBefore: Samples.time)),
    ] as [UploadEvent])
  func `a row carries the evidence of what went wrong, and of what was wished`(
    event: UploadEvent
  ) async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending, partCount: 1)
    try await life.append(to: ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    try await ledger.append(
      [ProposedEvent(event, cause: .command)], to: life.id, expecting: .any)
    let row = try #require(try await updates.next()?.rows.first)
    #expect(row.evidence == (try await ledger.upload(life.id).state))
    await ledger.close()
  }

  @Test func `an upload that ends as a duplicate leaves the queue by an update`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .exported)
    try await life.append(to: ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    #expect(ids(try await updates.next()) == [life.id])
    try await ledger.append(
      [
        ProposedEvent(.hashed(Hashed(hash: Samples.hash)), cause: .command),
        ProposedEvent(
          .deduplicated(Deduplicated(original: .remote(Samples.remote))), cause: .server),
      ], to: life.id, expecting: .any)
    let update = try await updates.next()
    #expect(update?.rows == [] && update?.left == [life.id])
    await ledger.close()
  }

  // What was purged has no event of its own any more.
  @Test func `after a purge the queue is replayed without what went`() async throws {
    let ledger = try await temporary.open()
    for number: UInt64 in 1...3 { try await UploadLife(number).append(to: ledger) }
    var updates = ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    try await ledger.purge([UploadLife(2).id])
    let update = try await updates.next()
    #expect(update?.kind == .beginning)
    #expect(ids(update) == [UploadLife(1).id, UploadLife(3).id])
    await ledger.close()
  }

  @Test func `a long queue is replayed in pages, and a long change in several`() async throws {
    let ledger = try await temporary.open()
    let count: UInt64 = 2500
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask { try await UploadLife(number, to: .exported).append(to: ledger) }
      }
      try await group.waitForAll()
    }
    var updates = ledger.uploads().makeAsyncIterator()
    var seen: [QueueUpdate] = []
    repeat { seen.append(try #require(try await updates.next())) } while seen.last?.isWhole != true
    #expect(seen.map(\.kind) == [.beginning, .page, .page])
    #expect(seen.map(\.isWhole) == [false, false, true])
    #expect(seen.map(\.rows.count) == [1000, 1000, 500])
    let places = seen.flatMap(\.rows).map(\.added)
    #expect(places == places.sorted() && Set(places).count == Int(count))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        group.addTask {
          try await ledger.append(
            [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)],
            to: UploadLife(number).id, expecting: .any)
        }
      }
      try await group.waitForAll()
    }
    var cancelled: Set<UploadID> = []
    var largest = 0
    while cancelled.count < Int(count) {
      let update = try #require(try await updates.next())
      largest = max(largest, update.rows.count)
      cancelled.formUnion(update.rows.filter { $0.upload.state == .cancelled }.map(\.upload.id))
    }
    #expect(largest <= 1000)
    await ledger.close()
  }

  // However long the queue is, a change is looked up by keys.
  @Test func `no look at changes walks the queue or the log`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    await ledger.close()
    let query = LedgerReader.changeQuery
      .replacing("?1", with: "1").replacing("?2", with: "5")
    let plan = try rows(temporary.database, "EXPLAIN QUERY PLAN \(query)")
    let walks = plan.filter { $0.contains("SCAN") && !$0.contains("SCAN c") }
    // The table of parts on their way holds as many rows as there are transfers.
    #expect(walks.allSatisfy { $0.contains("SCAN progress") }, "\(plan)")
    #expect(plan.contains { $0.contains("SEARCH events USING INTEGER PRIMARY KEY") }, "\(plan)")
  }

  @Test func `following ends when the follower is cancelled`() async throws {
    let ledger = try await temporary.open()
    let (started, start) = AsyncStream<Void>.makeStream()
    let follower = Task {
      var count = 0
      for try await _ in ledger.uploads() {
        count += 1
        start.yield()
      }
      return count
    }
    for await _ in started { break }
    follower.cancel()
    #expect(try await follower.value == 1)
    await ledger.close()
  }

  @Test func `following ends when the ledger closes, for whoever waits and whoever comes late`()
    async throws
  {
    let ledger = try await temporary.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      let (started, start) = AsyncStream<Void>.makeStream()
      for _ in 0..<20 {
        group.addTask {
          for try await _ in ledger.uploads() { start.yield() }
        }
      }
      group.addTask {
        for number: UInt64 in 0..<50 { _ = try? await UploadLife(number).append(to: ledger) }
      }
      var waiting = 20
      for await _ in started {
        waiting -= 1
        if waiting == 0 { break }
      }
      await ledger.close()
      try await group.waitForAll()
    }
    var late = ledger.uploads().makeAsyncIterator()
    #expect(ids(try await late.next()) == nil)
    #expect(ids(try await late.next()) == nil)
  }
}
