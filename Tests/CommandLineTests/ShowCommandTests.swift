import Testing
import WaybillModel

@Suite struct ShowCommandTests {
  @Test func `one upload for a script has its state and its events`() async throws {
    let rig = try Rig()
    _ = try await rig.run("push", try rig.file("a.jpg"), "--to", rig.url)
    let id = try await rig.ids()[0]
    let shown = try await rig.document("show", String(id.prefix(30)))
    #expect(shown["upload"]?.text == id)
    #expect(shown["state"]?.text == "committed")
    #expect(shown["remote_id"]?.text?.hasPrefix("p-") == true)
    #expect(shown["events"]?.array?.first?["kind"]?.text == "upload.exported")
    #expect(shown["events"]?.array?.last?["kind"]?.text == "copy.released")
  }

  @Test func `an upload that is not there is one clear line`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    #expect(
      try await rig.run("show", "ffff")
        == Binary.Ended(
          status: 1, output: "",
          errors: """
            waybill: no upload begins with 'ffff'
              See 'waybill queue' for the ids.

            """))
  }
}
