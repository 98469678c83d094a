import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// What an append promises to its caller and to its neighbours.
struct AppendTests {
  let temporary = TemporaryLedger()

  @Test func `a stream must be where its caller believes it is`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    let first = [life.events[0]]
    let second = [life.events[1]]
    #expect(
      await code { try await ledger.append(first, to: life.id, expecting: .exactly(.init(1))) }
        == .conflict)
    try await ledger.append(first, to: life.id, expecting: .none)
    #expect(
      await code { try await ledger.append(second, to: life.id, expecting: .none) } == .conflict)
    let recorded = try await ledger.append(second, to: life.id, expecting: .exactly(.init(1)))
    #expect(recorded.map(\.revision) == [StreamRevision(2)])
    try await ledger.append([life.events[2]], to: life.id, expecting: .any)
    #expect(try await ledger.upload(life.id).revision == StreamRevision(3))
    #expect(try await ledger.append([], to: life.id, expecting: .any) == [])
    await ledger.close()
  }

  @Test func `a conflict fails its own caller only`() async throws {
    let ledger = try await temporary.open()
    let contested = UploadLife(1, to: .exported)
    let outcomes = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for number: UInt64 in 0..<40 {
        group.addTask {
          await code {
            if number.isMultiple(of: 2) {
              try await UploadLife(100 + number).append(to: ledger)
            } else {
              try await contested.append(to: ledger)
            }
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == nil } == 21)
    #expect(outcomes.count { $0 == .conflict } == 19)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  /// `data_version` of an idle connection changes once for each commit seen, so it cannot count;
  /// the recorded time can, because one transaction takes the clock once.
  @Test func `appends that arrive together share one transaction`() async throws {
    let ticks = Ticks()
    let ledger = try await Ledger.open(
      directory: temporary.directory, options: LedgerOptions(clock: { ticks.next() }))
    let times = try await withThrowingTaskGroup(of: Timestamp.self) { group in
      for number: UInt64 in 0..<64 {
        group.addTask { try await UploadLife(number).append(to: ledger)[0].time }
      }
      return try await group.reduce(into: Set<Timestamp>()) { $0.insert($1) }
    }
    #expect(times.count <= 32, "64 appends took \(times.count) transactions")
    await ledger.close()
  }

  // G14, H01
  @Test func `positions have no hole, however many append at once`() async throws {
    let ledger = try await temporary.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane: UInt64 in 0..<8 {
        group.addTask {
          for count: UInt64 in 0..<1000 {
            try await UploadLife(lane << 32 | count, to: .exported).append(to: ledger)
          }
        }
      }
      try await group.waitForAll()
    }
    await ledger.close()
    #expect(
      try rows(temporary.database, "SELECT count(*), min(position), max(position) FROM events")
        == ["8001|1|8001"])
    #expect(try await temporary.findings() == [])
  }

  @Test func `a claim that comes twice is one event`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    let claim = ProposedEvent(
      .partConfirmed(PartConfirmed(part: PartNumber(0), byteCount: UploadLife.partSize)),
      cause: .transport, observation: ObservationKey("held/0.1.1"))
    let first = try await ledger.append([claim], to: life.id, expecting: .any)
    let again = try await ledger.append([claim, claim], to: life.id, expecting: .any)
    #expect(again == first + first)
    let other = UploadLife(2, to: .sending)
    try await other.append(to: ledger)
    let elsewhere = try await ledger.append([claim], to: other.id, expecting: .any)
    #expect(elsewhere[0].position > first[0].position)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // H10, H12
  @Test func `events with known names are given back as they were recorded first`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    let ids = (1...4).map { EventID(high: 0x7000, low: 0x8000_0000_0000_0000 | UInt64($0)) }
    let first = try await ledger.append(
      life.events, to: life.id, expecting: .none, ids: Array(ids[..<3]))
    let again = try await ledger.append(
      life.events, to: life.id, expecting: .none, ids: Array(ids[..<3]))
    #expect(again == first)
    #expect(first.map(\.id) == Array(ids[..<3]))
    let paused = ProposedEvent(.paused, cause: .command)
    #expect(
      await code {
        try await ledger.append(
          [paused, paused], to: life.id, expecting: .any, ids: [ids[3], ids[0]])
      } == .halfKnown)
    #expect(try await ledger.upload(life.id).revision == StreamRevision(3))
    await ledger.close()
  }

  @Test func `a name used twice in one append fails it and nothing else`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    let id = EventID(high: 0x7000, low: 0x8000_0000_0000_0001)
    async let bad = code {
      try await ledger.append(life.events, to: life.id, expecting: .none, ids: [id, id, id])
    }
    async let good = code { try await UploadLife(2).append(to: ledger) }
    #expect(await bad != nil)
    #expect(await good == nil)
    try await life.append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `the same bytes are queued once`() async throws {
    let ledger = try await temporary.open()
    let first = UploadLife(1, to: .queued)
    try await first.append(to: ledger)
    let twin = UploadID(high: 0x7000, low: 0x8000_0000_0000_0099)
    #expect(
      await code { try await ledger.append(first.events, to: twin, expecting: .none) }
        == .duplicateContent)
    #expect(try await ledger.upload(twin).revision == .none)
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: first.id,
      expecting: .any)
    try await ledger.append(first.events, to: twin, expecting: .none)
    #expect(try await ledger.reader.holder(of: first.hash) == twin)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `of twins queued at the same moment one is refused`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    let outcomes = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for number: UInt64 in 0..<20 {
        let twin = UploadID(high: 0x7000, low: 0x8000_0000_0000_0000 | number)
        group.addTask {
          await code { try await ledger.append(life.events, to: twin, expecting: .none) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.count { $0 == nil } == 1)
    #expect(outcomes.count { $0 == .duplicateContent } == 19)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // H17
  @Test(arguments: [497, 2497])
  func `a thousand and five thousand events fit into one append`(partCount: Int) async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, partCount: partCount)
    let recorded = try await life.append(to: ledger)
    #expect(recorded.count == 2 * partCount + 7)
    #expect(Set(recorded.map(\.time)).count == 1)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `a cancelled caller neither loses nor doubles its events`() async throws {
    let ledger = try await temporary.open()
    for number: UInt64 in 0..<50 {
      let task = Task { try await UploadLife(number, to: .queued).append(to: ledger) }
      task.cancel()
      let events = try await task.value
      #expect(events.count == 3)
    }
    #expect(try await ledger.reader.counts()[.queued] == 50)
    await ledger.close()
  }

  @Test func `appends that wait while the ledger closes are told so`() async throws {
    let ledger = try await temporary.open()
    let outcomes = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for number: UInt64 in 0..<50 {
        group.addTask { await code { try await UploadLife(number).append(to: ledger) } }
      }
      group.addTask {
        await ledger.close()
        return nil
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.allSatisfy { $0 == nil || $0 == .closed })
    let reader = try await temporary.reader()
    let recorded = try await reader.counts()[.committed]
    #expect(Int64(outcomes.count { $0 == nil } - 1) == recorded)
    await reader.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `deciding goes on after a conflict until it has won`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<10 {
            try await ledger.record(life.id) { upload in
              [ProposedEvent(.retried(Retried(round: upload.round + 1)), cause: .command)]
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await ledger.upload(life.id).round == 40)
    await ledger.close()
  }

  // D10
  @Test(.timeLimit(.minutes(1)))
  func `a ledger that another tool has locked answers everyone at once and goes on later`()
    async throws
  {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let tool = try ChildProcess([
      "sqlite3", "-batch", temporary.database, "BEGIN IMMEDIATE",
      ".system echo held; kill -STOP $PPID",
    ])
    try #require(tool.readLine() == "held")
    let outcomes = await withTaskGroup(of: LedgerError.Code?.self) { group in
      for number: UInt64 in 2..<22 {
        group.addTask { await code { try await UploadLife(number).append(to: ledger) } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.allSatisfy { $0 == .busy })
    tool.kill()
    _ = tool.wait()
    try await UploadLife(2).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }
}

/// A clock that moves by one microsecond each time it is read.
final class Ticks: @unchecked Sendable {
  private let lock = NSLock()
  private var now: Int64 = 1_700_000_000_000_000

  func next() -> Timestamp {
    lock.withLock {
      now += 1
      return Timestamp(microseconds: now)
    }
  }
}
