import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// The right to append, held by one process at a time.
struct LeaseTests {
  let temporary = TemporaryLedger()

  private func refusal(app: String = "second") async -> LedgerError? {
    do {
      let ledger = try await temporary.open(app: app)
      await ledger.close()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a second launch in one process is told who owns the ledger`() async throws {
    let ledger = try await temporary.open(app: "camera 3.1")
    let error = await refusal()
    #expect(error?.code == .busy)
    #expect(error?.message.contains("process \(getpid()) (camera 3.1, since ") == true)
    let reader = try await temporary.reader()
    #expect(reader.owner?.contains("camera 3.1") == true)
    await reader.close()
    await ledger.close()
    #expect(reader.owner == nil)
  }

  @Test func `a launch beside another process is told which one`() async throws {
    let child = try ChildProcess.role(.hold, ledger: temporary.directory)
    try #require(child.readSaid() == "ready")
    let error = await refusal()
    #expect(error?.code == .busy)
    #expect(error?.message.contains("process \(child.id) (holder 7") == true)
    child.kill()
    #expect(child.wait() == -SIGKILL)
    let ledger = try await temporary.open()
    #expect(ledger.launch == LaunchGeneration(2))
    await ledger.close()
  }

  @Test(arguments: ["", "two\nlines", "tab\tand \\ back", String(repeating: "é", count: 400)])
  func `an owner with an odd name is named on one line`(app: String) async throws {
    let ledger = try await temporary.open(app: app)
    let error = try #require(await refusal())
    #expect(error.message.contains("process \(getpid())"))
    #expect(!error.message.contains("\n"))
    #expect(!error.message.contains("\\\\\\\\"), "escaped twice: \(error.message)")
    await ledger.close()
  }

  @Test func `text that someone else wrote into the lease cannot reach a terminal`() async throws {
    let ledger = try await temporary.open()
    try Data("1 2 \u{1b}[31mred\n".utf8).write(
      to: URL(fileURLWithPath: temporary.directory + "/lease"), options: [])
    let error = try #require(await refusal())
    #expect(!error.message.contains("\u{1b}"))
    await ledger.close()
  }

  @Test func `asking who owns a ledger does not stand in the way of a launch`() async throws {
    try await temporary.seed([])
    let reader = try await temporary.reader()
    let curious = Task {
      while !Task.isCancelled {
        _ = reader.owner
        await Task.yield()
      }
    }
    for _ in 0..<50 { try await temporary.seed([]) }
    curious.cancel()
    await curious.value
    await reader.close()
  }

  @Test func `readers need no lease`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let reader = try await temporary.reader()
    #expect(try await reader.counts()[.committed] == 1)
    await reader.close()
    await ledger.close()
  }
}
