import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// A full disk is a state, not a corruption: what must be recorded still is, the rest waits.
@Suite(.enabled(if: SmallDisk.isPossible, "no small disk can be mounted here"))
struct DiskFullTests {
  private func cancel(_ life: UploadLife, _ ledger: Ledger) async throws {
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: life.id,
      expecting: .any)
  }

  private func failure(_ operation: () async throws -> Void) async -> LedgerError? {
    do {
      try await operation()
      return nil
    } catch {
      return error as? LedgerError
    }
  }

  @Test func `room is kept back from the first launch on, really written and closed to others`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    let ledger = try await disk.open()
    var status = stat()
    try #require(lstat(disk.directory + "/reserve", &status) == 0)
    #expect(status.st_size == 262_144)
    #expect(status.st_blocks * 512 >= 262_144)
    #expect(status.st_mode & 0o777 == 0o600)
    await ledger.close()
  }

  // D5
  @Test func `on a full disk a cancel is recorded, an upload is refused, and both go on later`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    let reserve = disk.directory + "/reserve"
    let ledger = try await disk.open()
    let (first, second) = (UploadLife(1, to: .queued), UploadLife(2, to: .queued))
    // More than what a failed append has left of the write-ahead log has room for.
    let others = (10..<30).map { UploadLife($0, to: .queued) }
    for life in [first] + others { try await life.append(to: ledger) }
    disk.fill()
    let refusal = await failure { try await second.append(to: ledger) }
    #expect(refusal?.code == .diskFull)
    #expect(refusal?.outcome == .notWritten)
    #expect(size(reserve) == 262_144)
    for life in [first] + others { try await cancel(life, ledger) }
    #expect(size(reserve) == nil)
    #expect(await failure { try await second.append(to: ledger) }?.code == .diskFull)
    #expect(try await ledger.reader.upload(first.id)?.stateWord == .cancelled)
    #expect(try await ledger.reader.upload(second.id) == nil)
    #expect(try await ledger.upload(second.id).revision == .none)
    disk.free()
    try await second.append(to: ledger)
    #expect(size(reserve) == 262_144)
    await ledger.close()
    #expect(try await disk.findings() == [])
  }

  @Test func `corrections and calls for a person are recorded on a full disk`() async throws {
    let disk = try SmallDisk(mebibytes: 4)
    let ledger = try await disk.open()
    let life = UploadLife(1, to: .received)
    try await life.append(to: ledger)
    disk.fill()
    let facts: [UploadEvent] = [
      .partRevoked(PartRevoked(part: PartNumber(0), byteCount: 0, regression: 1)),
      .transferLost(TransferLost(part: PartNumber(1), attempt: 1)),
      .sessionExpired(SessionExpired(session: SessionReference("session-1"))),
      .verificationRevoked, .attentionNeeded(AttentionNeeded(reason: .quota, status: 507)),
    ]
    for fact in facts {
      try await ledger.append(
        [ProposedEvent(fact, cause: .reconciliation)], to: life.id, expecting: .any)
    }
    let mixed = [
      ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command),
      ProposedEvent(.paused, cause: .command),
    ]
    #expect(
      await failure { try await ledger.append(mixed, to: life.id, expecting: .any) }?.code
        == .diskFull)
    await ledger.close()
    disk.free()
    #expect(try await disk.findings() == [])
  }

  @Test func `every upload of a long queue can be given up on a full disk`() async throws {
    let disk = try SmallDisk(mebibytes: 8)
    let ledger = try await disk.open()
    let lives = (1...200).map { UploadLife($0, to: .queued) }
    for life in lives { try await life.append(to: ledger) }
    disk.fill()
    for life in lives { try await cancel(life, ledger) }
    #expect(try await ledger.reader.counts()[.cancelled] == 200)
    await ledger.close()
    disk.free()
    #expect(try await disk.findings() == [])
  }

  @Test func `on a full disk a neighbour that may not use the reserve does not get it`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    let ledger = try await disk.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    disk.fill()
    // Takes what the write-ahead log still has room for.
    for number: UInt64 in 100..<200 {
      let refusal = await code { try await UploadLife(number).append(to: ledger) }
      if refusal != nil { break }
    }
    let outcomes = await withTaskGroup(of: (UInt64, LedgerError.Code?).self) { group in
      for number: UInt64 in 1...12 {
        group.addTask {
          (
            number,
            await code {
              if number == 1 {
                try await self.cancel(life, ledger)
              } else {
                try await UploadLife(number).append(to: ledger)
              }
            }
          )
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
    }
    #expect(outcomes[1] == .some(nil))
    for number: UInt64 in 2...12 { #expect(outcomes[number] == .some(.diskFull)) }
    await ledger.close()
  }

  // G11, M9: the disk is full at each write of an append in turn.
  @Test func `whichever write finds the disk full, nothing is left of the append and reads go on`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    let ledger = try await disk.open()
    try await UploadLife(1, to: .queued).append(to: ledger)
    var (refused, written) = (0, 1)
    for pages in 0..<40 {
      disk.fill(leaving: pages * 4096)
      // Long enough that it needs room of its own behind what failed appends have left.
      let life = UploadLife(UInt64(pages + 2), partCount: 24)
      let before = try await ledger.reader.head()
      let error = await failure { try await life.append(to: ledger) }
      if let error {
        refused += 1
        #expect(error.code == .diskFull && error.outcome == .notWritten, "\(error)")
        #expect(try await ledger.reader.head() == before)
        #expect(try await ledger.upload(life.id) == Upload(id: life.id))
      } else {
        written += 1
      }
      #expect(try await ledger.reader.queue().rows.count == written)
      disk.free()
    }
    #expect(refused > 10 && written > 5, "\(refused) refused, \(written) written")
    await ledger.close()
    #expect(try await disk.findings() == [])
  }

  @Test func `a launch on a full disk is recorded in the reserve and lets a person in`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    let first = try await disk.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: first)
    await first.close()
    disk.fill()
    for generation: Int64 in 2...6 {
      let ledger = try await disk.open()
      #expect(ledger.launch == LaunchGeneration(generation))
      #expect(await failure { try await UploadLife(9).append(to: ledger) }?.code == .diskFull)
      await ledger.close()
    }
    let ledger = try await disk.open()
    try await cancel(life, ledger)
    await ledger.close()
    disk.free()
    #expect(try await disk.findings() == [])
  }

  // G02: a disk without room is no reason to think that a ledger is damaged, nor to make it anew.
  @Test func `a launch without any room says so and changes nothing`() async throws {
    let disk = try SmallDisk(mebibytes: 4)
    let first = try await disk.open()
    try await UploadLife(1, to: .queued).append(to: first)
    await first.close()
    unlink(disk.directory + "/reserve")
    let before = try Data(contentsOf: URL(fileURLWithPath: disk.database))
    disk.fill()
    for _ in 0..<3 { #expect(await failure { _ = try await disk.open() }?.code == .diskFull) }
    let reader = try? await LedgerReader.open(disk.directory)
    _ = try? await reader?.verify(.fast)
    await reader?.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: disk.database)) == before)
    disk.free()
    #expect(try await disk.findings() == [])
    let again = try await disk.open()
    #expect(try await again.reader.counts()[.queued] == 1)
    await again.close()
  }

  @Test func `a ledger that cannot be made for want of room leaves nothing that stands in the way`()
    async throws
  {
    let disk = try SmallDisk(mebibytes: 4)
    for pages in [0, 2, 4, 8, 12, 16, 24, 32] {
      disk.fill(leaving: pages * 4096)
      let error = await failure {
        let ledger = try await disk.open()
        await ledger.close()
      }
      #expect(
        error == nil || error?.code == .diskFull, "\(pages) pages: \(String(describing: error))")
      disk.free()
    }
    let ledger = try await disk.open()
    try await UploadLife(1).append(to: ledger)
    await ledger.close()
    #expect(try await disk.findings() == [])
  }
}
