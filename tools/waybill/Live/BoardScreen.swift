/// What a board has on the screen, and the bytes that turn it into the next frame.
///
/// After each frame the cursor is visible and at the left of the line below the board, and lines
/// wrap as before. So whatever ends the program, also a kill, leaves nothing to restore.
struct BoardScreen {
  private var drawn: [String] = []
  private var drawnWidth = 0

  /// The bytes of a frame: `notes` scroll away above, `lines` take the place of what was there.
  ///
  /// A window that became narrower has wrapped the old lines; `width` is its width now. Nothing
  /// is written for a frame that is on the screen already.
  mutating func frame(_ lines: [String], notes: [String] = [], width: Int) -> String {
    if lines == drawn, width == drawnWidth, notes.isEmpty { return "" }
    let rows = drawn.reduce(0) { rows, line in
      let cells = TextWidth.cells(BoardScreen.withoutStyles(line))
      return rows + max(1, (cells + width - 1) / max(1, width))
    }
    // Synchronized output (DEC mode 2026) shows a frame at once; terminals without it ignore it.
    var out = "\u{1b}[?2026h\u{1b}[?7l\r"
    if rows > 0 { out += "\u{1b}[\(rows)A" }
    out += "\u{1b}[J"
    if !notes.isEmpty {
      out += "\u{1b}[?7h" + notes.map { $0 + "\r\n" }.joined() + "\u{1b}[?7l"
    }
    out += lines.map { $0 + "\r\n" }.joined() + "\u{1b}[?7h\u{1b}[?2026l"
    drawn = lines
    drawnWidth = width
    return out
  }

  /// The text of a painted line, without its escape sequences.
  static func withoutStyles(_ line: String) -> String {
    var out = ""
    var isInSequence = false
    // By scalar: a combining mark behind a sequence would hide the end of it in one character.
    for scalar in line.unicodeScalars {
      if isInSequence {
        isInSequence = scalar != "m"
      } else if scalar == "\u{1b}" {
        isInSequence = true
      } else {
        out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}

/// Progress where the cursor cannot be moved: a line when an item changes its state, and the
/// totals every ten seconds. An item that begins by waiting its turn has not changed.
struct PlainProgress {
  private static let interval = Duration.seconds(10)
  private var states: [Int: ItemState] = [:]
  private var nextTotals: Duration?
  private var lastTotals: String?

  /// The lines to print at `moment` of a clock that never goes back.
  mutating func lines(_ rows: [BoardRow], _ totals: BoardTotals, at moment: Duration) -> [String] {
    var lines: [String] = []
    for row in rows where states[row.id] != row.state {
      let isNew = states.updateValue(row.state, forKey: row.id) == nil
      if isNew, row.state.isBeforeSending { continue }
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
