/// One row of the table an argument parser reads from, help is printed from, and completions
/// are made from.
struct Option: Sendable {
  /// What follows the name of an option.
  enum Value: Sendable {
    /// Nothing: the option is there or it is not.
    case none
    /// Any UTF-8 text; the word stands for it in the help.
    case text(String)
    /// One of these words.
    case choice([String])
    /// A whole number within the range.
    case number(ClosedRange<Int64>)
    /// A length of time such as `30s`, `5m`, `2h` or `1h30m`.
    case duration(ClosedRange<Duration>)
    /// A byte size such as `512`, `64KiB` or `8MB`.
    case byteCount(ClosedRange<Int64>)
    /// A path, kept as raw bytes.
    case path
  }

  /// The long name without its dashes.
  let name: String
  /// The short letter without its dash, if there is one.
  let short: Character?
  /// What follows the name.
  let value: Value
  /// Whether each use adds a value; otherwise the last one wins.
  let isRepeatable: Bool
  /// One line of help, without a full stop.
  let help: String

  init(
    _ name: String, short: Character? = nil, _ value: Value = .none, repeats: Bool = false,
    help: String
  ) {
    self.name = name
    self.short = short
    self.value = value
    isRepeatable = repeats
    self.help = help
  }

  /// What the help shows behind the name; nil for a flag.
  var placeholder: String? {
    switch value {
    case .none: nil
    case .text(let word): word
    case .choice(let words): words.joined(separator: "|")
    case .number: "N"
    case .duration: "TIME"
    case .byteCount: "SIZE"
    case .path: "PATH"
    }
  }
}

/// The words of a command that are no options.
struct Operands: Sendable {
  /// What one of them is called in usage lines and errors.
  let name: String
  /// How many there may be.
  let count: ClosedRange<Int>

  /// The command takes none.
  static let none = Operands(name: "", count: 0...0)

  /// As many as `count` says; the kernel bounds the length of a command line.
  init(name: String, count: ClosedRange<Int>) {
    self.name = name
    self.count = count
  }

  /// `minimum` of them or more.
  static func atLeast(_ minimum: Int, _ name: String) -> Operands {
    Operands(name: name, count: minimum...Int.max)
  }

  /// Exactly `count` of them.
  static func exactly(_ count: Int, _ name: String) -> Operands {
    Operands(name: name, count: count...count)
  }

  /// None to `maximum` of them.
  static func atMost(_ maximum: Int, _ name: String) -> Operands {
    Operands(name: name, count: 0...maximum)
  }
}

extension Option {
  /// Options every command understands, before its name and behind it.
  static let global: [Option] = [
    Option(
      "ledger", .path,
      help: "the ledger; else $WAYBILL_LEDGER, else $XDG_STATE_HOME/waybill/default"),
    Option("utc", help: "show times in UTC, not in the local zone"),
    Option("plain", help: "no colour, no live progress, only ASCII of our own"),
    Option("no-color", help: "no colour; $NO_COLOR does the same"),
    Option("quiet", short: "q", help: "no notes and no progress; errors still come"),
    Option("help", short: "h", help: "show help and end"),
  ]

  /// One JSON document on stdout.
  static let json = Option("json", help: "one JSON document; errors as one JSON line on stderr")

  /// One JSON object a line on stdout.
  static let jsonLines = Option("jsonl", help: "one JSON object a line; errors likewise on stderr")

  /// What may stand before the name of a command and nowhere else.
  static let version = Option("version", help: "show the versions of waybill and its libraries")
}
