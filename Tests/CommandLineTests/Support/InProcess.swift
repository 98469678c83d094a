import Foundation
import Testing
import WaybillModel

@testable import waybill

/// The program run as a function in this process, with commands made for the test beside its own.
struct InProcess {
  var status: Int32
  var output: String
  var errors: String

  static func run(
    _ words: [String], raw: [[UInt8]] = [], commands: [Command] = Command.all,
    environment: [String: String] = [:]
  ) async throws -> InProcess {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "waybill-cli-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (out, err) = (folder.appending(path: "out"), folder.appending(path: "err"))
    for file in [out, err] { try Data().write(to: file) }
    let outHandle = try FileHandle(forWritingTo: out)
    let errHandle = try FileHandle(forWritingTo: err)
    let program = Program(
      commands: commands, environment: Environment(environment),
      standardOutput: Descriptor(number: outHandle.fileDescriptor),
      standardError: Descriptor(number: errHandle.fileDescriptor))
    let code = await program.run(words.map { RawArgument($0) } + raw.map(RawArgument.init(bytes:)))
    try outHandle.close()
    try errHandle.close()
    return InProcess(
      status: code.rawValue, output: String(decoding: try Data(contentsOf: out), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: err), as: UTF8.self))
  }
}

extension Command {
  /// A command that shows what it was given.
  static let mirror = Command(
    name: "mirror", group: .about, summary: "show what was given",
    usage: ["WORD... [--limit N]"], operands: .atLeast(1, "WORD"),
    options: [
      Option("limit", short: "n", .number(1...100), help: "at most N words"),
      Option("every", .duration(.seconds(1)...(.seconds(3600))), help: "how often"),
      Option("part", .byteCount(1...1 << 30), help: "bytes of a part"),
      Option("kind", .choice(["part.sent", "part.failed"]), repeats: true, help: "kinds to show"),
      Option("verbose", short: "v", help: "more"),
      Option("to", .text("URL"), help: "where to"),
    ],
    machine: .jsonAndLines,
    examples: [Example("waybill mirror a", "one"), Example("waybill mirror a b", "two")],
    run: { (invocation) async throws(Failure) -> ExitCode in
      for operand in invocation.arguments.operands {
        try invocation.output.line("\(operand.display) \(operand.bytes)")
      }
      invocation.messages.note("shown \(try invocation.ledgerPath())")
      invocation.messages.warning("only a test")
      try invocation.output.line("\(invocation.format)")
      return .needsAttention
    })

  /// A command that fails after it has printed something.
  static let failing = Command(
    name: "failing", group: .about, summary: "print, then fail", usage: [""],
    examples: [Example("waybill failing", "fail"), Example("waybill failing --json", "fail")],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try invocation.output.line("before")
      throw Failure(
        .busy, "another process holds the ledger", at: "some/ledger",
        remedy: "Wait for it, or stop it, then run this again.")
    })
}
