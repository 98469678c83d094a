/// A terminal small enough to check: it understands what a board writes and nothing more.
struct ScreenModel {
  private(set) var lines: [[Character]] = [[]]
  private(set) var row = 0
  private(set) var column = 0
  private(set) var wraps = true
  let width: Int

  init(width: Int) { self.width = width }

  /// The rows that hold text.
  var text: [String] { lines.map { String($0) }.filter { !$0.isEmpty } }

  mutating func write(_ bytes: String) {
    var rest = Substring(bytes)
    while let scalar = rest.unicodeScalars.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n": moveDown()
      case "\u{1b}":
        precondition(rest.unicodeScalars.popFirst() == "[")
        var parameters = ""
        while let next = rest.unicodeScalars.first, !("A"..."z").contains(next) {
          parameters.unicodeScalars.append(rest.unicodeScalars.removeFirst())
        }
        let final = Character(rest.unicodeScalars.removeFirst())
        control(final, parameters)
      default: put(Character(scalar))
      }
    }
  }

  private mutating func control(_ final: Character, _ parameters: String) {
    switch (final, parameters) {
    case ("A", _): row = max(0, row - (Int(parameters) ?? 1))
    case ("J", ""):
      lines.removeSubrange((row + 1)...)
      lines[row] = [Character](lines[row].prefix(column))
    case ("h", "?7"): wraps = true
    case ("l", "?7"): wraps = false
    case ("m", _), ("h", "?2026"), ("l", "?2026"): break
    default: preconditionFailure("a board should not write ESC [ \(parameters) \(final)")
    }
  }

  private mutating func moveDown() {
    row += 1
    if row == lines.count { lines.append([]) }
  }

  private mutating func put(_ character: Character) {
    if column == width {
      if wraps {
        moveDown()
        column = 0
      } else {
        column -= 1
      }
    }
    while lines[row].count <= column { lines[row].append(" ") }
    lines[row][column] = character
    column += 1
  }
}
