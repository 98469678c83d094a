/// One command: a row of `Command.all` and the file in Commands/ that holds it.
struct Command: Sendable {
  /// The headings of `waybill --help`, in their order.
  enum Group: String, Sendable, CaseIterable {
    case upload = "Upload"
    case look = "Look and explain"
    case keep = "Keep it sound"
    case share = "Share"
    case serve = "Serve"
    case about = "About"
  }

  /// A line to type and what it does.
  struct Example: Sendable {
    let line: String
    let does: String

    init(_ line: String, _ does: String) {
      self.line = line
      self.does = does
    }
  }

  /// What a command can print beside text for people.
  enum Machine: Sendable {
    /// Nothing.
    case none
    /// One document, with `--json`.
    case json
    /// One document, or one object a line with `--jsonl`.
    case jsonAndLines
  }

  /// What it does with its words.
  typealias Run = @Sendable (Invocation) async throws(Failure) -> ExitCode

  let name: String
  let group: Group
  /// One line, without a full stop.
  let summary: String
  /// The forms of its command line, behind `waybill NAME`.
  let usage: [String]
  /// Paragraphs of its help page, if the summary is not enough.
  var details: [String] = []
  var operands = Operands.none
  var options: [Option] = []
  var machine = Machine.json
  /// Two examples or more, each of which runs.
  let examples: [Example]
  /// The exit codes it ends with.
  var exitCodes: [ExitCode] = [.ok, .error, .usage]
  let run: Run

  /// Its own options, then those every command has.
  var allOptions: [Option] { options + machineOptions + Option.global }

  /// `--json` and `--jsonl` as far as it has them.
  var machineOptions: [Option] {
    switch machine {
    case .none: []
    case .json: [.json]
    case .jsonAndLines: [.json, .jsonLines]
    }
  }
}

extension Command {
  /// Every command, in the order of the help. A new one adds a line here.
  static let all: [Command] = [
    .push, .add, .cancel, .retry, .pause, .resume, .seal, .unseal,
    .status, .queue, .log, .show,
    .verify, .rebuild, .archive, .purge, .doctor,
    .serve, .agent,
    .help,
  ]
}
