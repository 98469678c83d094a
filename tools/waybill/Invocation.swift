internal import WaybillModel

/// Everything a command works with: its words, its surroundings, and where it prints.
struct Invocation {
  let command: Command
  let arguments: Arguments
  let environment: Environment
  /// What was asked for goes here.
  let output: Output
  /// Notes and warnings go here.
  let messages: Messages
  /// What stdout can show: tables, colours, width.
  let standardOutput: Terminal
  /// What stderr can show: where live progress stands.
  let standardError: Terminal
  /// Local time, or UTC with `--utc`.
  let times: TimeText
  /// The commands there are.
  let commands: [Command]

  /// The shape of what goes to stdout.
  enum Format: Sendable {
    /// For people.
    case text
    /// One JSON document.
    case json
    /// One JSON object a line.
    case jsonLines
  }

  /// What `--json` and `--jsonl` ask for.
  var format: Format {
    switch command.machine {
    case .none: .text
    case .json: arguments.has("json") ? .json : .text
    case .jsonAndLines:
      arguments.has("jsonl") ? .jsonLines : arguments.has("json") ? .json : .text
    }
  }

  /// The ledger the command is about: `--ledger`, else what the environment says.
  func ledgerPath() throws(Failure) -> String {
    guard let path = arguments.path("ledger") ?? environment.ledgerPath else {
      throw Failure.usage("no ledger is named, and no home directory is known", command: nil)
    }
    guard let text = path.text else {
      throw Failure.usage("the ledger path \(path.display) is not UTF-8", command: nil)
    }
    return text
  }

  /// An operand as text.
  ///
  /// - Throws: usage, when its bytes are not UTF-8; paths stay `RawArgument`.
  func operandText(_ index: Int) throws(Failure) -> String {
    let operand = arguments.operands[index]
    guard let text = operand.text else {
      throw Failure.usage(
        "\(command.operands.name) \(operand.display) is not UTF-8", command: command.name)
    }
    return text
  }

  /// Live progress on stderr, as far as that can show it and `--quiet` lets it. It ends with
  /// `body`, however `body` ends.
  func withLiveBoard<T>(
    _ body: (LiveBoard) async throws(Failure) -> sending T
  ) async throws(Failure) -> sending T {
    try await LiveBoard.run(
      on: standardError, isQuiet: messages.isQuiet || messages.isJSON, body)
  }
}
