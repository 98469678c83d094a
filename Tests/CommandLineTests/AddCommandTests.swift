import Foundation
import Testing
import WaybillModel

@Suite struct AddCommandTests {
  @Test func `adding queues and sends nothing`() async throws {
    let rig = try Rig()
    let added = try await rig.run("add", rig.file("a.jpg"), rig.file("b.jpg"), "--to", rig.url)
    #expect(added.status == 0)
    #expect(added.output == "2 files queued\n")
    #expect(
      added.errors == "waybill: nothing is sent yet; 'waybill push' sends what is queued\n")
    #expect(try await rig.count("queued") == 2)
    let again = try await rig.document("add", rig.path("a.jpg"), "--to", rig.url)
    #expect(again["already_queued"]?.integer == 1)
    #expect(again["ending"]?.text == "added")
  }

  @Test(arguments: [
    ("ftp://h/", "begins with neither"), ("garbage", "begins with neither"), ("", "is empty"),
    ("http://u:secret@127.0.0.1/", "has a user name or password"),
    ("http://example.org", "--allow-plain-http"), ("https://", "has no host"),
    ("https://h:99999", "port"), ("https://h/?q=1", "query"), ("http://127.0.0.1/\u{1b}[2J", "%20"),
  ])
  func `a wrong URL is a usage error that never repeats it`(url: String, words: String) async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let ended = try await Binary.run(["add", "x", "--to", url, "--ledger", folder])
    #expect(ended.status == 2)
    #expect(ended.errors.contains(words))
    #expect(!ended.errors.contains("secret") && !ended.errors.contains("\u{1b}"))
    #expect(ended.errors.split(separator: "\n").count == 2)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test func `an empty folder name, a missing folder and a second owner are told apart`()
    async throws
  {
    let rig = try Rig(faults: "open*:delay=60000")
    let push = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    try await rig.wait(for: 1, "queued")
    let busy = try await rig.run("add", try rig.file("b.jpg"), "--to", rig.url)
    #expect(busy.status == 11)
    #expect(busy.errors.contains("in use by process \(push.child) (waybill"))
    push.send(SIGKILL)
    #expect(push.wait() == -SIGKILL)
    let empty = try await rig.run("add", "", rig.path("gone"), "--to", rig.url)
    #expect(empty.status == 1)
    #expect(empty.errors.contains("'' was not taken: the name is empty"))
    #expect(empty.errors.contains("gone was not taken: cannot read it"))
  }
}
