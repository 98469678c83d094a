/// Guesses what a mistyped word was meant to be.
enum Suggestion {
  /// The candidate with the fewest edits, if a slip of the hand explains them; the first of equals.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let letters = [UInt8](word.utf8)
    // A word longer than any name is no slip, and the table below grows with its length.
    guard (1...32).contains(letters.count) else { return nil }
    let allowed = max(1, letters.count / 3)
    let measured = candidates.map { ($0, distance(letters, [UInt8]($0.utf8))) }
    guard let best = measured.min(by: { $0.1 < $1.1 }), best.1 <= allowed else {
      return candidates.first { letters.count >= 3 && $0.utf8.starts(with: letters) }
    }
    return best.0
  }

  /// Edits between two words, where swapping two neighbours is one edit (optimal string
  /// alignment).
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforePrevious = [Int](repeating: 0, count: right.count + 1)
    var previous = [Int](0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let change = previous[column] + (left[row] == right[column] ? 0 : 1)
        var best = min(previous[column + 1] + 1, current[column] + 1, change)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforePrevious[column - 1] + 1)
        }
        current.append(best)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }
}
