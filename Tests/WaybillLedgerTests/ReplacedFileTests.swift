import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// The database is exchanged under an open ledger.
struct ReplacedFileTests {
  let temporary = TemporaryLedger()

  private func contents(_ path: String) -> Data? {
    FileManager.default.contents(atPath: path)
  }

  private func refusal(_ ledger: Ledger) async -> LedgerError? {
    do throws(LedgerError) {
      try await UploadLife(9).append(to: ledger)
      return nil
    } catch {
      return error
    }
  }

  // D14
  @Test func `nothing is appended to a database that was removed, and its log stays`()
    async throws
  {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let away = temporary.folder + "/away.sqlite"
    rename(temporary.database, away)
    let error = await refusal(ledger)
    #expect(error?.code == .replaced)
    #expect(error?.outcome == .notWritten)
    await ledger.close()
    #expect(size(temporary.database) == nil)
    #expect(try #require(size(temporary.database + "-wal")) > 0)
    rename(away, temporary.database)
    #expect(try await temporary.findings() == [])
    let again = try await temporary.open()
    #expect(try await again.reader.counts()[.committed] == 1)
    #expect(try await again.state().tailLost == nil)
    await again.close()
  }

  // D14
  @Test func `nothing is written into a stranger in its place, nor into what lies beside it`()
    async throws
  {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let other = TemporaryLedger()
    let stranger = try await other.open()
    try await UploadLife(2).append(to: stranger)
    for end in ["", "-wal"] {
      let bytes = try #require(contents(other.database + end))
      unlink(temporary.database + end)
      try bytes.write(to: URL(fileURLWithPath: temporary.database + end))
    }
    await stranger.close()
    let before = ["", "-wal"].map { contents(temporary.database + $0) }
    #expect(await refusal(ledger)?.code == .replaced)
    await ledger.note(progress: [:])
    #expect(await code { try await ledger.rebuild() } == .replaced)
    await ledger.close()
    #expect(["", "-wal"].map { contents(temporary.database + $0) } == before)
  }

  // D14
  @Test func `a second name for the database stops appends for as long as it is there`()
    async throws
  {
    let ledger = try await temporary.open()
    let name = temporary.folder + "/second"
    link(temporary.database, name)
    #expect(await refusal(ledger)?.code == .replaced)
    unlink(name)
    try await UploadLife(1).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  // D15
  @Test func `a forked child is stopped when it calls the ledger and cannot give away its lease`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let temporary = TemporaryLedger()
      var ledger: Ledger? = try await temporary.open()
      let caller = fork()
      if caller == 0 {
        close(2)
        if let ledger { _ = await code { try await UploadLife(1).append(to: ledger) } }
        _exit(0)
      }
      var status: Int32 = 0
      waitpid(caller, &status, 0)
      try #require(status & 0x7f != 0, "the call of the child went through")
      let leaver = fork()
      if leaver == 0 {
        ledger = nil
        _exit(0)
      }
      waitpid(leaver, &status, 0)
      try #require(status == 0)
      let second = await code { _ = try await temporary.open() }
      try #require(second == .busy)
      if let ledger { try await UploadLife(1).append(to: ledger) }
      await ledger?.close()
    }
  }
}
