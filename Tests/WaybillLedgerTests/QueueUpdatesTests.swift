import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Following the queue.
struct QueueUpdatesTests {
  let temporary = TemporaryLedger()

  private func ids(_ update: QueueUpdate?) -> [UploadID]? {
    switch update {
    case .snapshot(let rows), .changed(let rows): rows.map(\.id)
    case nil: nil
    }
  }

  @Test func `each subscriber gets a snapshot and then the changes`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1, to: .queued).append(to: ledger)
    var early = ledger.uploads().makeAsyncIterator()
    guard case .snapshot(let rows) = try await early.next() else {
      Issue.record("the first update is a snapshot")
      return
    }
    #expect(rows.map(\.id) == [UploadLife(1).id])
    try await UploadLife(2, to: .queued).append(to: ledger)
    var late = ledger.uploads().makeAsyncIterator()
    #expect(ids(try await late.next()) == [UploadLife(1).id, UploadLife(2).id])
    guard case .changed(let changed) = try await early.next() else {
      Issue.record("the second update is a change")
      return
    }
    #expect(changed.map(\.id) == [UploadLife(2).id])
    try await UploadLife(3, to: .queued).append(to: ledger)
    try await UploadLife(4, to: .queued).append(to: ledger)
    #expect(ids(try await early.next()) == [UploadLife(3).id, UploadLife(4).id])
    #expect(ids(try await late.next()) == [UploadLife(3).id, UploadLife(4).id])
    await ledger.close()
  }

  @Test func `progress and the conditions for sending are changes too`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    try await UploadLife(2).append(to: ledger)
    var updates = ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    let flight = try #require(try await ledger.upload(life.id).flights.first)
    await ledger.note(progress: [flight: 4096])
    guard case .changed(let moved) = try await updates.next() else { return }
    #expect(moved.map(\.bytesSent) == [4096])
    try await ledger.append(.conditionsChanged(Conditions(network: .offline)), cause: .transport)
    guard case .changed(let waiting) = try await updates.next() else { return }
    #expect(waiting.map(\.state) == [.waiting(Waiting(.offline))])
    try await ledger.append(
      [
        ProposedEvent(
          .transferLost(TransferLost(part: PartNumber(0), attempt: 1)), cause: .reconciliation)
      ], to: life.id, expecting: .any)
    _ = try await updates.next()
    try await ledger.append(.conditionsChanged(Conditions(network: .online)), cause: .transport)
    guard case .changed(let going) = try await updates.next() else { return }
    #expect(going.map(\.state) == [.queued])
    await ledger.close()
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
