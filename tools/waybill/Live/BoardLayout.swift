/// Lays a board out. Pure: rows, totals and a size in, lines out.
enum BoardLayout {
  private static let percentWidth = 5
  private static let longestState = 24
  private static let longestBar = 40
  private static let shortestBar = 4
  private static let shortestName = 6

  /// At most `size.height - 1` lines of at most `size.width` cells: the rows that matter most in
  /// the order they came in, a line that counts the rest, and the totals.
  static func lines(
    _ rows: [BoardRow], _ totals: BoardTotals, size: Terminal.Size, palette: Palette,
    glyphs: Glyphs
  ) -> [String] {
    let overall = palette.paint(totals.line(glyphs, width: size.width), .heading)
    // The cursor rests on a line below, so that a shell prompt never overwrites the board.
    let room = size.height - 2
    guard room > 0 else { return [overall] }
    let shown = rows.count <= room ? rows : mostImportant(rows, room - 1)
    var lines = self.rows(shown, width: size.width, palette: palette, glyphs: glyphs)
    if shown.count < rows.count {
      let text = "\(glyphs.ellipsis) \(rows.count - shown.count) more"
      lines.append(palette.paint(TextWidth.fit(text, size.width), .quiet))
    }
    return lines + [overall]
  }

  /// The `count` rows of the lowest rank, in the order of the list.
  private static func mostImportant(_ rows: [BoardRow], _ count: Int) -> [BoardRow] {
    guard count > 0 else { return [] }
    var chosen: Set<Int> = []
    for rank in 0...4 {
      for index in rows.indices where rows[index].state.rank == rank && chosen.count < count {
        chosen.insert(index)
      }
    }
    return rows.indices.filter(chosen.contains).map { rows[$0] }
  }

  /// The cells each part of a row gets; 0 leaves the part off.
  struct Widths: Equatable {
    var name = 0
    var bar = 0
    var state = 0
    /// What the state word may take where a short name or bar left cells over.
    var stateRoom = 0
  }

  /// Shares `width` out: glyph and percentage always; the state word from 36 cells on; then name
  /// and bar, of which the bar gets two fifths within its bounds and the name what it needs.
  static func widths(_ rows: [BoardRow], width: Int) -> Widths {
    var widths = Widths()
    let longestWord = rows.map { TextWidth.cells($0.state.word) }.max() ?? 0
    if width >= 36 {
      // "sending" turns to "verifying" and "committed": room for them keeps columns still.
      widths.state = min(max(longestWord, 9), longestState, width / 4)
    }
    let left = width - 2 - (percentWidth + 1) - (widths.state > 0 ? widths.state + 1 : 0)
    let longestName = rows.map { TextWidth.cells($0.name) }.max() ?? 0
    let forBar = min(max(left * 2 / 5, shortestBar), longestBar)
    if left - forBar - 1 >= shortestName {
      widths.bar = forBar
      widths.name = min(left - forBar - 1, max(longestName, 12))
    } else {
      widths.name = max(0, left)
    }
    widths.stateRoom = widths.state + max(0, left - widths.name - 1 - widths.bar)
    return widths
  }

  private static func rows(
    _ rows: [BoardRow], width: Int, palette: Palette, glyphs: Glyphs
  ) -> [String] {
    let widths = widths(rows, width: width)
    return rows.map { row in
      let style = row.state.style
      var parts = [
        palette.paint(row.state.glyph(glyphs), style) + " "
          + TextWidth.pad(row.name, widths.name, cut: .middle, ellipsis: glyphs.ellipsis)
      ]
      if widths.bar > 0 {
        parts.append(palette.paint(bar(row.done, of: row.total, widths.bar, glyphs), style))
      }
      parts.append(
        TextWidth.pad(
          HumanText.percentage(row.done, of: row.total, glyphs: glyphs), percentWidth,
          side: .right))
      if widths.state > 0 {
        parts.append(
          palette.paint(
            TextWidth.fit(row.state.word, widths.stateRoom, ellipsis: glyphs.ellipsis), style))
      }
      // Narrower than its fixed parts, a row keeps only what tells it from others.
      return width < 2 + percentWidth + 3
        ? TextWidth.fit("\(row.state.glyph(glyphs)) \(row.name)", width, ellipsis: glyphs.ellipsis)
        : parts.joined(separator: " ")
    }
  }

  /// A bar of exactly `width` cells, rounded down: full only when nothing is missing.
  static func bar(_ done: Int64, of total: Int64, _ width: Int, _ glyphs: Glyphs) -> String {
    let cells = glyphs.barCells
    let stepsPerCell = Int64(cells.count - 1)
    let all = Int64(width) * stepsPerCell
    let held = min(max(0, done), max(0, total))
    let steps =
      total > 0 ? total.dividingFullWidth(held.multipliedFullWidth(by: all)).quotient : 0
    return (0..<Int64(width)).map { cell in
      cells[Int(min(max(0, steps - cell * stepsPerCell), stepsPerCell))]
    }.joined()
  }
}
