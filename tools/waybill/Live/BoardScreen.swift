/// What a board has on the screen, and the bytes that turn it into the next frame.
///
/// After each frame the cursor is visible and at the left of the line below the board, and lines
/// wrap as before. So whatever ends the program, also a kill, leaves nothing to restore.
struct BoardScreen {
  /// Cells of each line that is on the screen now.
  private var drawn: [Int] = []

  /// The bytes of a frame: `notes` scroll away above, `lines` take the place of what was there.
  ///
  /// A window that became narrower has wrapped the old lines; `width` is its width now.
  mutating func frame(_ lines: [String], notes: [String] = [], width: Int) -> String {
    let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / max(1, width)) }
    // Synchronized output (DEC mode 2026) shows a frame at once; terminals without it ignore it.
    var out = "\u{1b}[?2026h\u{1b}[?7l\r"
    if rows > 0 { out += "\u{1b}[\(rows)A" }
    out += "\u{1b}[J"
    if !notes.isEmpty {
      out += "\u{1b}[?7h" + notes.map { $0 + "\r\n" }.joined() + "\u{1b}[?7l"
    }
    out += lines.map { $0 + "\r\n" }.joined() + "\u{1b}[?7h\u{1b}[?2026l"
    drawn = lines.map { TextWidth.cells(BoardScreen.withoutStyles($0)) }
    return out
  }

  /// The text of a painted line, without its escape sequences.
  static func withoutStyles(_ line: String) -> String {
    var out = ""
    var isInSequence = false
    for character in line {
      if isInSequence {
        isInSequence = character != "m"
      } else if character == "\u{1b}" {
        isInSequence = true
      } else {
        out.append(character)
      }
    }
    return out
  }
}

/// Progress where the cursor cannot be moved: a line when an item changes its state, and the
/// totals every ten seconds.
struct PlainProgress {
  private static let interval = Duration.seconds(10)
  private var states: [Int: ItemState] = [:]
  private var nextTotals: Duration?
  private var lastTotals: String?

  /// The lines to print at `moment` of a clock that never goes back.
  mutating func lines(_ rows: [BoardRow], _ totals: BoardTotals, at moment: Duration) -> [String] {
    var lines: [String] = []
    for row in rows where states[row.id] != row.state {
      states[row.id] = row.state
      lines.append("\(row.name): \(row.state.word)")
    }
    let due = nextTotals ?? moment + PlainProgress.interval
    nextTotals = due
    if moment >= due {
      nextTotals = moment + PlainProgress.interval
      lines += [note(totals)]
    }
    return lines
  }

  /// The last line, unless it was said already.
  mutating func end(_ totals: BoardTotals) -> [String] {
    lastTotals == totals.line(.ascii) ? [] : [note(totals)]
  }

  private mutating func note(_ totals: BoardTotals) -> String {
    let line = totals.line(.ascii)
    lastTotals = line
    return line
  }
}
