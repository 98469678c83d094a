/// What a command line said, checked against the table of options.
///
/// Asking for an option the table does not have, or for another kind of value, is a bug of the
/// command and stops the program with a sentence.
struct Arguments: Sendable {
  /// A value as its option reads it.
  enum Setting: Sendable, Equatable {
    case present
    case text(String)
    case number(Int64)
    case duration(Duration)
    case path(RawArgument)
  }

  /// The words that are no options, in order, byte for byte.
  var operands: [RawArgument] = []

  private var settings: [String: [Setting]] = [:]
  private var declared: Set<String>

  init(options: [Option]) { declared = Set(options.map(\.name)) }

  /// Records one use of an option.
  mutating func add(_ setting: Setting, for option: Option) {
    if option.isRepeatable {
      settings[option.name, default: []].append(setting)
    } else {
      settings[option.name] = [setting]
    }
  }

  /// Takes over what was said before the name of the command.
  mutating func merge(_ earlier: Arguments) {
    declared.formUnion(earlier.declared)
    settings.merge(earlier.settings) { later, _ in later }
  }

  /// Whether the option was given.
  func has(_ name: String) -> Bool { !all(name).isEmpty }

  /// Whether the option was given, where the table may not have it.
  func hasIfDeclared(_ name: String) -> Bool { settings[name] != nil }

  /// The text, or chosen word, of an option; nil if it was not given.
  func text(_ name: String) -> String? { texts(name).last }

  /// Every text of a repeatable option, in order.
  func texts(_ name: String) -> [String] {
    all(name).map { setting in
      guard case .text(let text) = setting else { mismatch(name, "text") }
      return text
    }
  }

  /// The whole number, or byte size, of an option; nil if it was not given.
  func number(_ name: String) -> Int64? {
    all(name).last.map { setting in
      guard case .number(let number) = setting else { mismatch(name, "a number") }
      return number
    }
  }

  /// The length of time of an option; nil if it was not given.
  func duration(_ name: String) -> Duration? {
    all(name).last.map { setting in
      guard case .duration(let duration) = setting else { mismatch(name, "a duration") }
      return duration
    }
  }

  /// The path of an option as raw bytes; nil if it was not given.
  func path(_ name: String) -> RawArgument? { paths(name).last }

  /// Every path of a repeatable option, in order.
  func paths(_ name: String) -> [RawArgument] {
    all(name).map { setting in
      guard case .path(let path) = setting else { mismatch(name, "a path") }
      return path
    }
  }

  private func all(_ name: String) -> [Setting] {
    precondition(declared.contains(name), "no table declares the option --\(name)")
    return settings[name] ?? []
  }

  private func mismatch(_ name: String, _ kind: String) -> Never {
    preconditionFailure("the table does not declare --\(name) as \(kind)")
  }
}
