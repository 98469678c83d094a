import Foundation
import Testing
import WaybillModel

/// Pausing, resuming and retrying: wishes about single uploads that lose nothing.
@Suite struct PauseCommandTests {
  @Test func `a paused upload stays behind until it is resumed`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), try rig.file("b.jpg"), "--to", rig.url)
    let id = try await rig.ids()[0]
    #expect(try await rig.run("pause", id).output == "a.jpg (\(id)) is paused\n")
    #expect(try await rig.run("pause", id).output == "a.jpg (\(id)) was paused already\n")
    let row = try #require(try await rig.queue().first)
    #expect(row["state"]?.text == "waiting" && row["reason"]?.text == "paused")
    let push = try await rig.run("push")
    #expect(push.status == 0)
    #expect(push.output.hasPrefix("1 upload committed\n1 upload not committed yet"))
    #expect(try await rig.run("resume", id).output == "a.jpg (\(id)) is resumed\n")
    #expect(try await rig.run("resume", id).output == "a.jpg (\(id)) was not paused\n")
    #expect(try await rig.run("push").output == "1 upload committed\n")
  }
}

@Suite struct AllUploadsTests {
  // F02, F04: one, some and all.
  @Test func `all are paused, resumed, retried and cancelled at once, and keep their history`()
    async throws
  {
    let rig = try Rig(faults: "part@a.jpg#1:413")
    _ = try await rig.run(
      "push", try rig.file("a.jpg"), try rig.file("b.jpg"), "--to", rig.url)
    _ = try await rig.run("add", try rig.file("c.jpg"), try rig.file("d.jpg"), "--to", rig.url)
    #expect(try await rig.run("pause", "--all", "-n").output == "3 uploads would be paused\n")
    #expect(try await rig.run("pause", "--all").output == "3 uploads are paused\n")
    #expect(try await rig.run("pause", "--all").output == "0 uploads are paused\n")
    #expect(try await rig.run("resume", "--all").output == "3 uploads are resumed\n")
    #expect(try await rig.run("retry", "--all").output == "1 upload is queued again\n")
    let refused = try await rig.run("cancel", "--all")
    #expect(refused.status == 2 && refused.errors.contains("--yes"))
    let cancelled = try await rig.document("cancel", "--all", "--yes")
    #expect(cancelled["uploads"]?.array?.count == 3)
    #expect(try await rig.count("cancelled") == 3)
    #expect(try await rig.count("committed") == 1)
    #expect(try await rig.run("log", "--kind", "upload.retried").output.contains("upload.retried"))
    let both = try await rig.run("pause", "--all", "019")
    #expect(both.status == 2 && both.errors.contains("name uploads, or say --all"))
    #expect(try await rig.run("retry").status == 2)
  }

  @Test func `while a push runs its owner is asked about all`() async throws {
    let rig = try Rig(faults: "open*:delay=60000")
    let push = try rig.start("push", try rig.file("a.jpg"), try rig.file("b"), "--to", rig.url)
    try await rig.wait(for: 2, "queued")
    let asked = try await rig.run("pause", "--all")
    #expect(asked.output == "2 uploads will be paused\n")
    var looks = 0
    while try await !rig.queue().allSatisfy({ $0["reason"]?.text == "paused" }) {
      looks += 1
      try #require(looks < 1000, "they never were paused")
    }
    push.send(SIGINT)
    _ = push.end()
  }
}

@Suite struct RetryCommandTests {
  @Test func `what needs attention goes on after a retry`() async throws {
    let rig = try Rig(faults: "part#1:413")
    let push = try await rig.run("push", try rig.file("a.jpg"), "--to", rig.url)
    #expect(push.status == 3)
    #expect(push.output.hasSuffix("1 upload needs attention; see 'waybill queue'\n"))
    let id = try await rig.ids()[0]
    #expect(try await rig.run("queue").output.contains("! attention: too large for the server"))
    let retry = try await rig.document("retry", id, id)
    #expect(
      retry.serialized
        == #"{"v":1,"type":"retry","uploads":[{"upload":"\#(id)","outcome":"done"}]}"#)
    #expect(
      try await rig.run("retry", id).output
        == "a.jpg (\(id)) is neither held up nor in need of attention\n")
    #expect(try await rig.run("push").status == 0)
    #expect(try await rig.run("retry", id).status == 1)
  }
}
