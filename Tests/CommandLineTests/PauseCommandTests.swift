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
