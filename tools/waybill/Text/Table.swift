/// Aligned columns for people. Pure: rows in, lines out.
struct Table {
  /// One column.
  struct Column: Sendable {
    let title: String
    var side = TextWidth.Side.left
    /// Whether the column gives up cells when the window is too narrow; file names do.
    var shrinks = false
    var style = Style.plain
  }

  /// One cell: its text, already escaped, and what it is.
  struct Cell: Sendable {
    let text: String
    var style: Style?

    init(_ text: String, _ style: Style? = nil) {
      self.text = text
      self.style = style
    }
  }

  let columns: [Column]
  var rows: [[Cell]] = []
  private static let gap = 2
  private static let narrowest = 8

  /// Adds a row; it has a cell for each column.
  mutating func add(_ cells: [Cell]) {
    precondition(cells.count == columns.count, "a row has one cell for each column")
    rows.append(cells)
  }

  /// A heading and the rows, each in at most `width` cells unless that is nil; no lines at all
  /// without rows. Trailing spaces are left off.
  func lines(width: Int?, palette: Palette, glyphs: Glyphs = .unicode) -> [String] {
    guard !rows.isEmpty else { return [] }
    let widths = columnWidths(width)
    let heading = columns.map { Cell($0.title, .heading) }
    return ([heading] + rows).map { cells in
      line(cells, widths, width, palette, glyphs)
    }
  }

  /// Shrinking columns give their cells first, the widest of them most; what then is still too
  /// wide is cut at the right edge.
  private func columnWidths(_ width: Int?) -> [Int] {
    var widths = columns.indices.map { index in
      rows.reduce(TextWidth.cells(columns[index].title)) { widest, row in
        max(widest, TextWidth.cells(row[index].text))
      }
    }
    guard let width else { return widths }
    var excess = widths.reduce(0, +) + Table.gap * (columns.count - 1) - width
    while excess > 0 {
      let candidates = columns.indices.filter {
        columns[$0].shrinks && widths[$0] > Table.narrowest
      }
      guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
      let second = candidates.filter { $0 != widest }.map { widths[$0] }.max() ?? Table.narrowest
      let step = min(excess, max(1, widths[widest] - max(second, Table.narrowest)))
      widths[widest] -= step
      excess -= step
    }
    return widths
  }

  private func line(
    _ cells: [Cell], _ widths: [Int], _ width: Int?, _ palette: Palette, _ glyphs: Glyphs
  ) -> String {
    var out = ""
    var left = width ?? Int.max
    for (index, cell) in cells.enumerated() where left > 0 {
      let column = columns[index]
      let room = min(widths[index], left)
      let isLast = index == cells.count - 1
      let text =
        isLast && column.side == .left
        ? TextWidth.fit(cell.text, room, cut: cut(column), ellipsis: glyphs.ellipsis)
        : TextWidth.pad(
          cell.text, room, side: column.side, cut: cut(column), ellipsis: glyphs.ellipsis)
      out += palette.paint(text, cell.style ?? column.style)
      left -= room
      if !isLast, left > Table.gap {
        out += String(repeating: " ", count: Table.gap)
        left -= Table.gap
      } else {
        left = isLast ? left : 0
      }
    }
    return out.trimmingTrailingSpaces
  }

  private func cut(_ column: Column) -> TextWidth.Cut { column.shrinks ? .middle : .end }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    guard let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...last])
  }
}
