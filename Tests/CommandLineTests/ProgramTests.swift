import Foundation
import Testing
import WaybillModel

@testable import waybill

@Suite struct ProgramTests {
  private let commands = Command.all + [.mirror, .failing]

  @Test func `global options stand before the command and behind it`() async throws {
    let before = try await InProcess.run(
      ["--ledger", "/l", "--jsonl", "mirror", "a"], commands: commands)
    let behind = try await InProcess.run(
      ["mirror", "a", "--jsonl", "--ledger=/l"], commands: commands)
    #expect(before.output == "a [97]\njsonLines\n")
    #expect(before.output == behind.output)
    #expect(before.errors == behind.errors)
    #expect(before.status == 3)
  }

  @Test(arguments: [
    (["mirror"], "mirror needs WORD"),
    (["mirror", "a", "--json", "--jsonl"], "choose one of --json and --jsonl"),
    (["--jsonl", "failing"], "failing has no --jsonl"),
    (["failing", "x\u{1b}c"], "failing has no use for 'x\\x1bc'"),
    (["mirrow"], "there is no command 'mirrow'; did you mean mirror?"),
    (["--qiet", "mirror"], "waybill has no option --qiet; did you mean --quiet?"),
  ])
  func `a wrong command line is one sentence and exit code 2`(words: [String], says: String)
    async throws
  {
    let ended = try await InProcess.run(words, commands: commands)
    #expect(ended.status == 2)
    #expect(ended.output == "")
    #expect(ended.errors.contains(says))
    #expect(ended.errors.filter { $0 == "\n" }.count <= 2)
  }

  @Test func `a failure keeps what was printed and says what, where and what next`() async throws {
    let ended = try await InProcess.run(["failing"], commands: commands)
    #expect(ended.status == 11)
    #expect(ended.output == "before\n")
    #expect(
      ended.errors == """
        waybill: another process holds the ledger (some/ledger)
          Wait for it, or stop it, then run this again.

        """)
  }

  @Test func `with --json a failure is one JSON line`() async throws {
    let ended = try await InProcess.run(["failing", "--json"], commands: commands)
    #expect(ended.status == 11)
    let line = try JSONValue.read([UInt8](ended.errors.dropLast().utf8))
    #expect(ended.errors.hasSuffix("}\n"))
    #expect(
      line
        == .object([
          .init("v", .integer(1)), .init("type", .text("error")), .init("code", .text("busy")),
          .init("message", .text("another process holds the ledger (some/ledger)")),
          .init("remedy", .text("Wait for it, or stop it, then run this again.")),
        ]))
  }

  @Test func `with --json notes and warnings are JSON lines and --quiet drops notes`()
    async throws
  {
    let ended = try await InProcess.run(
      ["mirror", "a", "--json", "--ledger=/l"], commands: commands)
    let types = try ended.errors.split(separator: "\n")
      .map { try JSONValue.read([UInt8]($0.utf8))["type"]?.text }
    #expect(types == ["note", "warning"])
    let quiet = try await InProcess.run(["mirror", "a", "-q", "--ledger=/l"], commands: commands)
    #expect(quiet.errors == "waybill: warning: only a test\n")
  }

  @Test func `the ledger comes from the option, then the environment, then the home`() {
    func path(_ values: [String: String]) -> String? { Environment(values).ledgerPath?.display }
    let home = ["HOME": "/h"]
    #expect(path(home) == "/h/.local/state/waybill/default")
    #expect(path(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/waybill/default")
    #expect(path(["HOME": "/h", "XDG_STATE_HOME": "s"]) == "/h/.local/state/waybill/default")
    #expect(path(["WAYBILL_LEDGER": "l", "XDG_STATE_HOME": "/s"]) == "l")
    #expect(path(["WAYBILL_LEDGER": "", "HOME": "/h"]) == path(home))
    #expect(path([:]) == nil)
  }

  @Test(arguments: Command.all)
  func `each command has its help page and two examples`(command: Command) async throws {
    #expect(command.examples.count >= 2)
    #expect(command.exitCodes.contains(.ok))
    #expect(command.examples.allSatisfy { $0.line.contains("waybill") })
    let page = try await InProcess.run([command.name, "--help"])
    #expect(page.status == 0)
    #expect(page.output.split(separator: "\n").allSatisfy { TextWidth.cells(String($0)) <= 80 })
    #expect(page.output == (try await InProcess.run(["help", command.name])).output)
    try Golden.expect(page.output, "cli/help-\(command.name).txt")
  }

  @Test func `a page shows options, operands and exit codes in 80 columns`() throws {
    let page = Help(palette: .plain).page(.mirror)
    #expect(page.split(separator: "\n").allSatisfy { TextWidth.cells(String($0)) <= 80 })
    try Golden.expect(page, "cli/help-page.txt")
  }

  @Test func `the overview lists every command once`() async throws {
    let overview = try await InProcess.run(["--help"])
    #expect(overview.status == 0)
    #expect(overview.errors == "")
    for command in Command.all {
      #expect(overview.output.contains("  \(command.name) "))
    }
    try Golden.expect(overview.output, "cli/help.txt")
  }

  @Test func `command and option names are unique`() {
    #expect(Set(Command.all.map(\.name)).count == Command.all.count)
    for command in Command.all {
      let names = command.allOptions.map(\.name)
      let letters = command.allOptions.compactMap(\.short)
      #expect(Set(names).count == names.count, "\(command.name)")
      #expect(Set(letters).count == letters.count, "\(command.name)")
    }
  }

  @Test func `exit codes are the documented numbers`() {
    #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 10, 11, 12, 13, 65, 130])
    #expect(Set(Failure.Code.allCases.map(\.rawValue)).count == Failure.Code.allCases.count)
  }
}
