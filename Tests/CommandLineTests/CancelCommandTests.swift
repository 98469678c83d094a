import Foundation
import Testing
import WaybillModel

@testable import waybill

@Suite struct CancelCommandTests {
  @Test func `without a terminal it needs --yes and says so`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    let id = try await rig.ids()[0]
    let refused = try await rig.run("cancel", id)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("no terminal to ask at"))
    #expect(refused.errors.contains("--yes"))
    #expect(try await rig.count("queued") == 1)
    let trial = try await rig.run("cancel", "-n", id.uppercased())
    #expect(trial.output == "a.jpg (\(id)) would be cancelled\n")
    let done = try await rig.run("cancel", "--yes", String(id.prefix(20)))
    #expect(done == Binary.Ended(status: 0, output: "a.jpg (\(id)) is cancelled\n", errors: ""))
    let again = try await rig.run("cancel", "--yes", id)
    #expect(again.output == "a.jpg (\(id)) was cancelled already\n")
    #expect(try await rig.count("cancelled") == 1)
  }

  @Test func `what is committed is not cancelled, and nobody is asked`() async throws {
    let rig = try Rig()
    _ = try await rig.run("push", try rig.file("a.jpg"), "--to", rig.url)
    let ended = try await rig.run("cancel", try await rig.ids()[0])
    #expect(ended.status == 1)
    #expect(ended.errors.contains("was not cancelled: it is committed, the server has it as p-"))
    #expect(try await rig.count("committed") == 1)
  }

  @Test func `while a push runs its owner is asked`() async throws {
    let rig = try Rig(faults: "open*:delay=60000")
    let push = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    try await rig.wait(for: 1, "queued")
    let asked = try await rig.document("cancel", "--yes", try await rig.ids()[0])
    #expect(asked["type"]?.text == "cancel")
    #expect(asked["uploads"]?.array?[0]["outcome"]?.text == "asked")
    #expect(push.waitForError("a.jpg: cancelled"))
    push.send(SIGINT)
    _ = push.end()
    #expect(try await rig.count("cancelled") == 1)
  }

  @Test func `an id that is unknown, ambiguous or empty changes nothing`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a"), try rig.file("b"), "--to", rig.url)
    let shared = try await String(rig.ids()[0].prefix(4))
    for (name, words) in [
      ("zz", "no upload begins with 'zz'"), (shared, "more than one upload begins"),
      ("", "no upload begins with ''"), ("\u{1b}[2J", "'\\x1b[2j'"),
    ] {
      let ended = try await rig.run("cancel", "--yes", name)
      #expect(ended.status == 1)
      #expect(ended.errors.contains(words))
    }
    #expect(try await rig.count("queued") == 2)
  }

  #if os(Linux)
    @Test(arguments: ["y", "n"])
    func `at a terminal it asks first`(answer: String) async throws {
      let rig = try Rig()
      _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
      let id = try await rig.ids()[0]
      let terminal = try PseudoTerminal(width: 80, height: 24)
      let cancel = try Binary.start(
        ["cancel", id], environment: rig.environment, terminal: terminal.child.number)
      #expect(
        terminal.readUntil("[y/N] ")
          == "cancel a.jpg (\(id))? The ledger's copies are deleted. [y/N] "
      )
      terminal.type("\(answer)\n")
      #expect(cancel.wait() == (answer == "y" ? 0 : 1))
      #expect(try await rig.count("cancelled") == (answer == "y" ? 1 : 0))
    }
  #endif
}
