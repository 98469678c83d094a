import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// The past, read from the same log: nothing later shines through.
struct HistoryTests {
  let temporary = TemporaryLedger()

  @Test func `the past at any position is a ledger that was cut there`() async throws {
    var history = RandomHistory(seed: 11)
    let ledger = try await temporary.open()
    try await history.play(150, on: ledger)
    await ledger.close()
    let whole = try await temporary.reader()
    let head = try await whole.head().value
    for cut in stride(from: Int64(1), through: head, by: 7) {
      let copy = "\(temporary.folder)/cut-\(cut).sqlite"
      try rows(temporary.database, "VACUUM INTO '\(copy)'")
      try rows(
        copy,
        "DROP TRIGGER events_never_delete; DELETE FROM events WHERE position > \(cut)")
      let reader = try await LedgerReader.open(copy)
      var past: [Upload] = []
      try await whole.forEachUpload(at: GlobalPosition(cut)) { past.append($0) }
      var present: [Upload] = []
      try await reader.forEachUpload(at: GlobalPosition(head)) { present.append($0) }
      #expect(past == present, "cut at \(cut)")
      #expect(try await whole.state(at: GlobalPosition(cut)) == reader.state(), "cut at \(cut)")
      for upload in present {
        #expect(try await whole.upload(upload.id, at: upload.revision) == upload)
      }
      await reader.close()
    }
  }

  @Test func `a moment is a position, and before the first event there is none`() async throws {
    let ledger = try await temporary.open(time: Timestamp(seconds: 1000))
    await ledger.close()
    let later = try await temporary.open(time: Timestamp(seconds: 2000))
    let head = try await later.reader.head()
    #expect(try await later.reader.position(at: Timestamp(seconds: 999)) == .start)
    #expect(try await later.reader.position(at: Timestamp(seconds: 1500)) < head)
    #expect(try await later.reader.position(at: Timestamp(seconds: 2000)) == head)
    #expect(try await later.reader.upload(UploadLife(1).id, at: StreamRevision(1)) == nil)
    await later.close()
  }
}
