internal import WaybillModel

/// The program as a function: words and surroundings in, an exit code out.
struct Program {
  var commands = Command.all
  var environment = Environment.ofProcess
  var standardOutput = Descriptor.standardOutput
  var standardError = Descriptor.standardError

  /// Runs one command line to its end, with everything flushed.
  func run(_ words: [RawArgument]) async -> ExitCode {
    // A failure to read the words must itself be told in the shape they ask for.
    let asksForJSON = words.prefix { $0.text != "--" }
      .contains { $0.text == "--json" || $0.text == "--jsonl" }
    var messages = Messages(descriptor: standardError, isJSON: asksForJSON)
    let request: Request
    do throws(Failure) {
      request = try read(words)
    } catch {
      messages.report(error)
      return error.exitCode
    }
    let arguments = request.arguments
    let isPlain = arguments.has("plain")
    let isColourless = arguments.has("no-color")
    let (out, err) = (
      terminal(standardOutput, isPlain, isColourless),
      terminal(standardError, isPlain, isColourless)
    )
    messages.isQuiet = arguments.has("quiet")
    messages.palette = err.palette
    let output = Output(standardOutput, flushesLines: standardOutput.isTerminal)
    do throws(Failure) {
      let code: ExitCode
      switch request {
      case .version(_): code = try Version.show(isJSON: asksForJSON, on: output)
      case .overview(_): code = try show(Help(palette: out.palette).overview(commands), on: output)
      case .page(let command, _):
        code = try show(Help(palette: out.palette).page(command), on: output)
      case .nothing:
        if asksForJSON { throw Failure.usage("no command is given", command: nil) }
        messages.explain(Help(palette: err.palette).overview(commands))
        return .usage
      case .run(let command, let arguments):
        code = try await command.run(
          Invocation(
            command: command, arguments: arguments, environment: environment, output: output,
            messages: messages, standardOutput: out, standardError: err,
            times: arguments.has("utc") ? .utc : .local, commands: commands))
      }
      try output.flush()
      return code
    } catch {
      // What was found before the failure is still worth reading.
      if error.code != .readerGone, error.code != .outputFailed { try? output.flush() }
      messages.report(error)
      return error.exitCode
    }
  }

  private func show(_ text: String, on output: Output) throws(Failure) -> ExitCode {
    try output.write(text.utf8)
    return .ok
  }

  private func terminal(
    _ descriptor: Descriptor, _ isPlain: Bool, _ isColourless: Bool
  ) -> Terminal {
    Terminal(
      descriptor, environment: environment, isPlain: isPlain, isColourless: isColourless)
  }
}

// MARK: Reading the words

extension Program {
  /// What a command line asks for.
  enum Request {
    case nothing(Arguments)
    case overview(Arguments)
    case version(Arguments)
    case page(Command, Arguments)
    case run(Command, Arguments)

    var arguments: Arguments {
      switch self {
      case .nothing(let arguments), .overview(let arguments), .version(let arguments),
        .page(_, let arguments), .run(_, let arguments):
        arguments
      }
    }
  }

  /// Finds the command and checks its words against its table.
  func read(_ words: [RawArgument]) throws(Failure) -> Request {
    let front = ArgumentParser(
      command: nil, options: Option.global + [.json, .jsonLines, .version], stopsAtOperand: true)
    let (before, rest) = try front.parse(words[...])
    if before.has("version") { return .version(before) }
    guard let name = rest.first else {
      return before.has("help") ? .overview(before) : .nothing(before)
    }
    let command = try Command.named(name, among: commands)
    let parser = ArgumentParser(command: command.name, options: command.allOptions)
    var (arguments, _) = try parser.parse(rest.dropFirst())
    arguments.merge(before)
    if arguments.has("help") { return .page(command, arguments) }
    try check(arguments, for: command)
    return .run(command, arguments)
  }

  private func check(_ arguments: Arguments, for command: Command) throws(Failure) {
    let possible = command.machineOptions.map(\.name)
    for name in [Option.json.name, Option.jsonLines.name]
    where arguments.hasIfDeclared(name) && !possible.contains(name) {
      throw Failure.usage("\(command.name) has no --\(name)", command: command.name)
    }
    if possible.count == 2, arguments.has("json"), arguments.has("jsonl") {
      throw Failure.usage("choose one of --json and --jsonl", command: command.name)
    }
    let operands = command.operands
    let given = arguments.operands
    if given.count < operands.count.lowerBound {
      let missing = "\(command.name) needs \(operands.name)"
      throw Failure.usage(
        operands.count.lowerBound == 1
          ? missing : "\(missing) \(operands.count.lowerBound) times, not \(given.count)",
        command: command.name)
    }
    if given.count > operands.count.upperBound {
      let surplus = given[operands.count.upperBound].display
      throw Failure.usage(
        "\(command.name) has no use for '\(surplus)'", command: command.name)
    }
  }
}
