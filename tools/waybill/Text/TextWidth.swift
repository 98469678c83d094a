/// How many cells of a terminal text takes, and how to make it take a given number.
///
/// Text from outside is escaped first; what is measured here has no control characters.
enum TextWidth {
  /// The cells of a text: the sum over its scalars, as most terminals count.
  static func cells(_ text: String) -> Int { text.reduce(0) { $0 + cells($1) } }

  private static func cells(_ character: Character) -> Int {
    if let ascii = character.asciiValue { return ascii < 0x20 || ascii == 0x7f ? 0 : 1 }
    let scalars = character.unicodeScalars
    let sum = scalars.reduce(0) { $0 + cells($1) }
    // A selector for emoji presentation widens a narrow sign on some terminals.
    return sum == 1 && scalars.contains("\u{fe0f}") ? 2 : sum
  }

  private static func cells(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x1160...0x11ff, 0xd7b0...0xd7ff: return 0  // vowels and finals join a Hangul syllable
    case 0x1f1e6...0x1f1ff: return 1  // two of them make a flag of two cells
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  /// East Asian Wide and Fullwidth of Unicode UAX #11; emoji are told by their presentation.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x1100: false
    case 0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97f,
      0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
      0xffe0...0xffe6, 0x16fe0...0x18d08, 0x1aff0...0x1b2fb, 0x1f200...0x1f265,
      0x20000...0x3fffd:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }

  /// Where a text that is too long loses characters.
  enum Cut: Sendable {
    /// At its end.
    case end
    /// In its middle, which keeps the ending of a file name.
    case middle
  }

  /// The text in at most `width` cells, with `ellipsis` where something is missing.
  static func fit(
    _ text: String, _ width: Int, cut: Cut = .end, ellipsis: String = Glyphs.unicode.ellipsis
  ) -> String {
    guard width > 0 else { return "" }
    guard cells(text) > width else { return text }
    let kept = width - cells(ellipsis)
    let tailWidth = cut == .middle ? kept * 2 / 5 : 0
    let tail = String(prefix(of: text.reversed(), tailWidth).reversed())
    return prefix(of: text, kept - tailWidth) + ellipsis + tail
  }

  /// The longest beginning of some characters that takes at most `width` cells.
  private static func prefix(of characters: some Sequence<Character>, _ width: Int) -> String {
    var out = ""
    var left = width
    for character in characters {
      left -= cells(character)
      if left < 0 { break }
      out.append(character)
    }
    return out
  }

  /// Which side of a cell text stands on.
  enum Side: Sendable {
    case left
    case right
  }

  /// The text in exactly `width` cells: cut if too long, filled with spaces if too short.
  static func pad(
    _ text: String, _ width: Int, side: Side = .left, cut: Cut = .end,
    ellipsis: String = Glyphs.unicode.ellipsis
  ) -> String {
    let fitted = fit(text, width, cut: cut, ellipsis: ellipsis)
    let space = String(repeating: " ", count: max(0, width - cells(fitted)))
    return side == .left ? fitted + space : space + fitted
  }

  /// The words of a text in lines of at most `width` cells; a longer word has a line of its own.
  static func wrap(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, cells(line) + 1 + cells(String(word)) > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
