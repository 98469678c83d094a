#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What one output stream can show.
struct Terminal: Sendable {
  let descriptor: Descriptor
  /// Whether the cursor can be moved: a terminal that is not `dumb`, and no `--plain`.
  let isInteractive: Bool
  let palette: Palette
  let glyphs: Glyphs
  private let columnsWished: Int?

  /// The size of a screen in cells.
  struct Size: Equatable, Sendable {
    var width: Int
    var height: Int
  }

  init(
    _ descriptor: Descriptor, environment: Environment, isPlain: Bool = false,
    isColourless: Bool = false
  ) {
    let isTerminal = descriptor.isTerminal
    let isDumb = environment["TERM"] == "dumb"
    self.descriptor = descriptor
    isInteractive = isTerminal && !isDumb && !isPlain
    palette =
      Terminal.usesColour(
        isTerminal: isTerminal, environment: environment, isRefused: isPlain || isColourless)
      ? .coloured : .plain
    glyphs = isPlain || isDumb ? .ascii : .unicode
    columnsWished = environment["COLUMNS"].flatMap { Int($0) }
  }

  /// Whether to colour: a refusal on the command line or by `NO_COLOR` (no-color.org) beats
  /// `FORCE_COLOR`, which beats what the stream is.
  static func usesColour(isTerminal: Bool, environment: Environment, isRefused: Bool) -> Bool {
    if isRefused || environment.bytes("NO_COLOR") != nil { return false }
    if let force = environment["FORCE_COLOR"] { return force != "0" && force != "false" }
    return isTerminal && environment["TERM"] != "dumb"
  }

  /// The size now: what the terminal says, else `$COLUMNS`, else 80 by 24.
  var size: Size {
    var window = winsize()
    let isKnown = ioctl(descriptor.number, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
    let columns = isKnown ? Int(window.ws_col) : columnsWished ?? 80
    let rows = isKnown && window.ws_row > 0 ? Int(window.ws_row) : 24
    return Size(width: min(max(columns, 1), 1000), height: min(max(rows, 2), 1000))
  }

  /// How wide a table may be; nil, without bound, where no person's window would cut it.
  var tableWidth: Int? { descriptor.isTerminal || columnsWished != nil ? size.width : nil }
}

/// What a piece of text is, from which its colour follows. Never the only sign of it.
enum Style: Sendable {
  case plain
  case heading
  case quiet
  case good
  case caution
  case bad
  case active

  /// The parameters of SGR, the escape sequence that selects how text looks (ECMA-48, 8.3.117).
  fileprivate var parameters: String? {
    switch self {
    case .plain: nil
    case .heading: "1"
    case .quiet: "2"
    case .good: "32"
    case .caution: "33"
    case .bad: "31"
    case .active: "36"
    }
  }
}

/// Puts styles on text, or leaves them off.
struct Palette: Sendable, Equatable {
  let isColoured: Bool

  static let coloured = Palette(isColoured: true)
  static let plain = Palette(isColoured: false)

  /// The text in its style. Measure and pad first: the result holds escape sequences.
  func paint(_ text: String, _ style: Style) -> String {
    guard isColoured, !text.isEmpty, let parameters = style.parameters else { return text }
    return "\u{1b}[\(parameters)m\(text)\u{1b}[0m"
  }
}

/// The signs of our own that are not ASCII, and what stands for them where they cannot be shown.
struct Glyphs: Sendable, Equatable {
  let ellipsis: String
  let separator: String
  /// A bar's empty cell, then partly filled ones in equal steps, then the full one.
  let barCells: [String]
  let isUnicode: Bool

  static let unicode = Glyphs(
    ellipsis: "…", separator: " · ", barCells: ["░", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    isUnicode: true)
  static let ascii = Glyphs(
    ellipsis: "~", separator: ", ", barCells: [".", "#"], isUnicode: false)
}
