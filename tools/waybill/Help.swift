/// Help pages from the table of commands, 80 columns wide.
struct Help {
  let palette: Palette
  private static let width = 80
  private static let longestTerm = 24

  /// What `waybill --help` shows.
  func overview(_ commands: [Command]) -> String {
    let nameWidth = commands.reduce(10) { max($0, $1.name.utf8.count) } + 2
    var lines = [
      "waybill: uploads that survive anything, and a record that explains them", "",
      heading("Usage"), "  waybill [GLOBAL OPTION...] COMMAND [OPTION...] [OPERAND...]",
    ]
    for group in Command.Group.allCases {
      let members = commands.filter { $0.group == group }
      guard !members.isEmpty else { continue }
      lines += ["", heading(group.rawValue)]
      for command in members {
        lines += Help.entry(command.name, command.summary, indent: 2, termWidth: nameWidth)
      }
    }
    lines += ["", heading("Global options")]
    lines += optionLines([.json, .jsonLines] + Option.global + [.version])
    lines += ["", "'waybill help COMMAND' shows one command with its options and examples."]
    return lines.joined(separator: "\n") + "\n"
  }

  /// What `waybill COMMAND --help` shows.
  func page(_ command: Command) -> String {
    var lines = ["waybill \(command.name): \(command.summary)", "", heading("Usage")]
    lines += command.usage.map { "  waybill \(command.name) \($0)".trimmedAtEnd }
    for paragraph in command.details {
      lines += [""] + TextWidth.wrap(paragraph, Help.width)
    }
    if !command.options.isEmpty {
      lines += ["", heading("Options")] + optionLines(command.options)
    }
    lines += ["", heading("Global options")]
    lines += optionLines(command.machineOptions + Option.global)
    lines += ["", heading("Examples")]
    for example in command.examples {
      lines += ["  \(example.line)"]
      lines += TextWidth.wrap(example.does, Help.width - 6).map { "      \($0)" }
    }
    lines += ["", heading("Exit codes")]
    for code in command.exitCodes {
      lines += Help.entry("\(code.rawValue)", code.meaning, indent: 2, termWidth: 5)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func heading(_ text: String) -> String { palette.paint("\(text):", .heading) }

  private func optionLines(_ options: [Option]) -> [String] {
    let terms = options.map(Help.term)
    let widest = terms.map(TextWidth.cells).filter { $0 <= Help.longestTerm }.max() ?? 0
    return zip(options, terms).flatMap { option, term in
      let repeated = option.isRepeatable ? "; may be repeated" : ""
      return Help.entry(term, option.help + repeated, indent: 2, termWidth: widest + 2)
    }
  }

  /// How an option is spelled: `-n, --limit N`.
  static func term(_ option: Option) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    let placeholder = option.placeholder.map { " \($0)" } ?? ""
    return "\(short)--\(option.name)\(placeholder)"
  }

  /// A term and what it means beside it; a term too long for its column has a line of its own.
  private static func entry(
    _ term: String, _ meaning: String, indent: Int, termWidth: Int
  ) -> [String] {
    let margin = String(repeating: " ", count: indent + termWidth)
    let lines = TextWidth.wrap(meaning, width - indent - termWidth).map { margin + $0 }
    let start = String(repeating: " ", count: indent)
    guard TextWidth.cells(term) + 1 <= termWidth, let first = lines.first else {
      return [start + term] + lines
    }
    return [start + TextWidth.pad(term, termWidth) + first.dropFirst(margin.count)]
      + lines.dropFirst()
  }
}

extension String {
  fileprivate var trimmedAtEnd: String { hasSuffix(" ") ? String(dropLast()) : self }
}
