extension Command {
  static let help = Command(
    name: "help", group: .about, summary: "show what waybill can do, or one command in full",
    usage: ["[COMMAND]"], operands: .atMost(1, "COMMAND"), machine: .none,
    examples: [
      Example("waybill help", "list the commands"),
      Example("waybill help help", "show one command with its options and examples"),
    ],
    exitCodes: [.ok, .usage],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let help = Help(palette: invocation.standardOutput.palette)
      guard let word = invocation.arguments.operands.first else {
        try invocation.output.write(help.overview(invocation.commands).utf8)
        return .ok
      }
      let command = try Command.named(word, among: invocation.commands)
      try invocation.output.write(help.page(command).utf8)
      return .ok
    })

  /// The command a word names.
  static func named(_ word: RawArgument, among commands: [Command]) throws(Failure) -> Command {
    if let command = commands.first(where: { $0.name == word.text }) { return command }
    let hint = word.text.flatMap { Suggestion.nearest(to: $0, among: commands.map(\.name)) }
      .map { "; did you mean \($0)?" }
    throw Failure.usage("there is no command '\(word.display)'\(hint ?? "")", command: nil)
  }
}
