import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillSQLite
import WaybillTesting

/// Uploads are removed for good.
struct PurgeTests {
  let temporary = TemporaryLedger()

  /// The names of the ledger's files that hold some bytes.
  private func filesHolding(_ bytes: [UInt8]) throws -> [String] {
    let folder = URL(fileURLWithPath: temporary.directory)
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { name in
      let data = try? Data(contentsOf: folder.appendingPathComponent(name))
      return data?.range(of: Data(bytes)) != nil
    }
  }

  @Test func `nothing of a purged upload is left in any file`() async throws {
    let secret = "the cracked wall of Mrs Miller.heic"
    let ledger = try await temporary.open()
    let life = UploadLife(1, name: FileName(secret))
    try await life.append(to: ledger)
    try await UploadLife(2).append(to: ledger)
    #expect(try filesHolding([UInt8](secret.utf8)) != [])
    let (purged, isErased) = try await ledger.purge([life.id])
    #expect(purged.uploads == 1 && purged.removed.count == Int64(life.events.count))
    #expect(isErased)
    #expect(try filesHolding([UInt8](secret.utf8)) == [])
    #expect(try filesHolding(life.hash.bytes) == [])
    #expect(try await ledger.reader.upload(life.id) == nil)
    #expect(try await ledger.reader.queue().rows.map(\.id) == [UploadLife(2).id])
    // The same bytes are new again.
    #expect(try await ledger.reader.holder(of: life.hash) == nil)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
    #expect(try await temporary.ownEvents() == ["ledger.launched", "ledger.purged"])
    let again = try await temporary.open()
    try await again.rebuild()
    await again.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `an upload that has not ended goes only by force`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    try await UploadLife(2).append(to: ledger)
    let ids = [UploadLife(2).id, life.id]
    #expect(await code { try await ledger.purge(ids) } == .notEnded)
    #expect(try await ledger.reader.queue().rows.count == 2)
    #expect(try await ledger.purge(ids, isForced: true).purged.uploads == 2)
    #expect(try await ledger.reader.queue().rows.isEmpty)
    #expect(try await ledger.reader.recordedUploads(limit: 10).isEmpty)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `purging twice, also with others, is no failure`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    try await UploadLife(2).append(to: ledger)
    try await ledger.purge([UploadLife(1).id])
    #expect(try await ledger.purge([UploadLife(1).id, UploadLife(2).id]).purged.uploads == 1)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `a reader that holds the write-ahead log is told of`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let reader = try Connection(path: temporary.database, access: .reader)
    try reader.execute("BEGIN")
    _ = try reader.integer("SELECT count(*) FROM events")
    #expect(try await !ledger.purge([UploadLife(1).id]).isErased)
    try reader.execute("COMMIT")
    await ledger.close()
  }

  @Test func `purging what nobody knows records that nothing went`() async throws {
    let ledger = try await temporary.open()
    #expect(try await ledger.purge([UploadLife(1).id]).purged.removed.count == 0)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `an archived upload is forgotten, and its neighbours keep their new segment`()
    async throws
  {
    let ledger = try await temporary.open()
    for number in 1...3 as ClosedRange<UInt64> {
      try await UploadLife(number).append(to: ledger)
      try await ledger.append(
        [ProposedEvent(.copyReleased, cause: .command)], to: UploadLife(number).id, expecting: .any)
    }
    let selection = try await ledger.reader.archivable(
      RetentionPolicy(ageSeconds: 0), now: SystemClock.now)
    let (first, second) = (SegmentStandIn("old"), SegmentStandIn("new"))
    try first.write(try await ledger.archive(selection, digest: first.digest), to: temporary)
    let old = try #require(try await ledger.reader.segment(of: UploadLife(2).id))
    let new = Archived(
      first: old.archived.first, last: old.archived.last, count: 20, digest: second.digest)
    try second.write(new, to: temporary)
    try await ledger.purge([UploadLife(2).id], replacing: [old.position: new])
    #expect(try await ledger.reader.segments().map(\.archived) == [new])
    #expect(try await ledger.reader.segment(of: UploadLife(2).id) == nil)
    #expect(try await ledger.reader.segment(of: UploadLife(3).id)?.archived == new)
    #expect(try await ledger.reader.holder(of: UploadLife(2).hash) == nil)
    #expect(try await ledger.reader.holder(of: UploadLife(3).hash) == UploadLife(3).id)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }
}
