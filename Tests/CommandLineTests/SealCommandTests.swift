import Foundation
import Testing
import WaybillModel

/// Signing out and in by hand.
@Suite struct SealCommandTests {
  @Test func `a sealed ledger sends nothing and takes nothing in until it is unsealed`()
    async throws
  {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    #expect(try await rig.run("seal", "-n").output == "would seal the ledger\n")
    #expect(try await rig.run("seal").output == "the ledger is sealed\n")
    #expect(try await rig.run("status").output.contains("the ledger is sealed"))
    let row = try #require(try await rig.queue().first)
    #expect(row["state"]?.text == "waiting" && row["reason"]?.text == "sealed")
    let push = try await rig.run("push")
    #expect(push.status == 1)
    #expect(push.errors.contains("'waybill unseal'"))
    let added = try await rig.run("add", try rig.file("b.jpg"), "--to", rig.url)
    #expect(added.status == 1)
    #expect(added.errors.contains("has signed out here"))
    #expect(try await rig.run("unseal", "-n").output == "would unseal the ledger\n")
    #expect(try await rig.run("unseal").output == "the ledger is no longer sealed\n")
    #expect(try await rig.run("unseal").output == "the ledger was not sealed\n")
    #expect(try await rig.run("push").output == "1 upload committed\n")
  }

  @Test func `a ledger that was told whose it is refuses the token of another account`()
    async throws
  {
    let rig = try Rig()
    let file = try rig.file("a.jpg")
    #expect(try await rig.run("add", file, "--to", rig.url, "--account", "alice").status == 0)
    let other = try await rig.run("push", "--account", "bob")
    #expect(other.status == 1 && other.errors.contains("this ledger belongs to another account"))
    #expect(try await rig.count("queued") == 1)
    #expect(try await rig.run("push", "--account", "alice").output == "1 upload committed\n")
    #expect(!(try await rig.run("log", "--jsonl").output.contains("alice")))
  }

  @Test func `discarding asks first, then leaves the history and no copy`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), try rig.file("b"), "--to", rig.url)
    let refused = try await rig.run("seal", "--discard")
    #expect(refused.status == 2 && refused.errors.contains("--yes"))
    #expect(try await rig.count("queued") == 2)
    #expect(
      try await rig.run("seal", "--discard", "-n").output
        == "would seal the ledger\nwould cancel 2 uploads and delete the copies\n")
    let document = try await rig.document("seal", "--discard", "--yes")
    #expect(
      document.serialized
        == #"{"v":1,"type":"seal","dry_run":false,"copies":"discard","uploads":2}"#)
    #expect(try await rig.count("cancelled") == 2)
    let staged = rig.folder.appending(path: "ledger/staged").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: staged) == [])
    #expect(try await rig.run("log").output.contains("uploads and copies are discarded"))
  }
}
