import Foundation
import Testing
import WaybillModel

@Suite struct StatusCommandTests {
  @Test func `no ledger is exit code 10 with what to do`() async throws {
    let rig = try Rig()
    for command in ["status", "queue", "log", "verify"] {
      let ended = try await rig.run(command)
      #expect(ended.status == 10)
      #expect(
        ended.errors == """
          waybill: there is no ledger at \(rig.path("ledger"))
            Name one with --ledger, or make one with 'waybill push' or 'waybill add'.

          """)
    }
  }

  @Test func `the six states read as recorded`() async throws {
    let rig = try Rig(faults: "part#1:413")
    _ = try await rig.run("add", rig.path("missing"), "--to", rig.url)
    let empty = try await rig.run("status")
    try Golden.expect(empty.output.settled, "cli/status-empty.txt")
    _ = try await rig.run("push", try rig.file("a"), "--to", rig.url)
    _ = try await rig.run("push", try rig.file("b", bytes: 3000), "--to", rig.url)
    _ = try await rig.run("add", try rig.file("c"), try rig.file("d"), "--to", rig.url)
    _ = try await rig.run("cancel", "--yes", try #require(try await rig.ids().last))
    try Golden.expect(try await rig.run("status").output.settled, "cli/status.txt")
  }

  @Test func `the document has the stable shape`() async throws {
    let rig = try Rig()
    _ = try await rig.run("push", try rig.file("a", bytes: 5), "--to", rig.url)
    let ended = try await rig.run("status", "--json")
    #expect(ended.errors == "")
    #expect(
      ended.output.hasPrefix(
        #"{"v":1,"type":"status","counts":{"saved_locally":0,"queued":0,"sending":0,"#
          + #""verifying":0,"committed":1,"needs_attention":0,"cancelled":0,"deduplicated":0},"#
          + #""bytes":{"total":5,"confirmed":5,"sent":5}"#))
  }

  @Test func `output that cannot be written is an error, and a closed pipe is none`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a"), "--to", rig.url)
    for command in ["status", "queue", "log", "verify"] {
      let gone = try await Binary.run(
        [command], environment: rig.environment, closesOutput: true)
      #expect(gone == Binary.Ended(status: 0, output: "", errors: ""))
      #if os(Linux)
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let ended = try Binary.start([command], environment: rig.environment, output: full).end()
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("waybill: cannot write: No space left on device"))
      #endif
    }
  }
}
