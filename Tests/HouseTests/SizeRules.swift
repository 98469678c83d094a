import Foundation

/// Bounds that keep a file readable in one sitting.
enum SizeRules {
  static let maximumFileLines = 500
  static let maximumFunctionLines = 70
  static let maximumColumns = 100

  static func fileLength(_ file: SourceFile) -> [Finding] {
    guard file.lines.count > maximumFileLines else { return [] }
    let message =
      "\(file.lines.count) lines, at most \(maximumFileLines); split it by what its parts do"
    return [file.finding(maximumFileLines, message)]
  }

  static func columns(_ file: SourceFile) -> [Finding] {
    file.lines.enumerated().filter { $0.element.count > maximumColumns }.map {
      file.finding($0.offset, "\($0.element.count) columns, at most \(maximumColumns); break it")
    }
  }

  static func functionLength(_ file: SourceFile) -> [Finding] {
    FunctionScan.functions(in: file.code).filter { $0.count > maximumFunctionLines }.map {
      file.finding(
        $0.first,
        "this function has \($0.count) lines, at most \(maximumFunctionLines); name its steps")
    }
  }
}

/// Finds the functions of masked Swift code by their braces.
struct FunctionScan {
  struct Function: Equatable {
    /// The line of its keyword, from 0.
    let first: Int
    /// Lines from its keyword to its closing brace.
    let count: Int
  }

  private static var opening: Regex<Substring> {
    #/(?:^|[ ;{}])(?:func\s+\S|init\s*[?!]?\s*[(<]|deinit\s*\{|subscript\s*[(<])/#
  }

  static func functions(in code: [String]) -> [Function] {
    let opening = opening
    let keywords = ["func", "init", "subscript"]
    return code.indices.compactMap { first in
      guard keywords.contains(where: code[first].contains),
        let match = code[first].firstMatch(of: opening)
      else { return nil }
      let column = code[first].distance(from: code[first].startIndex, to: match.range.lowerBound)
      guard let last = end(of: code, line: first, column: column + 1) else { return nil }
      return Function(first: first, count: last - first + 1)
    }
  }

  /// The line of the brace that closes the body; nil for a requirement without one.
  private static func end(of code: [String], line first: Int, column: Int) -> Int? {
    var parentheses = 0
    var braces = 0
    for line in first..<code.count {
      for character in code[line].dropFirst(line == first ? column : 0) {
        switch character {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{": braces += 1
        case "}":
          braces -= 1
          // A default argument may hold a closure; a requirement may end its protocol.
          if braces < 0 { return nil }
          if braces == 0, parentheses == 0 { return line }
        default: break
        }
      }
      if braces == 0, parentheses == 0, !goesOn(code, after: line) { return nil }
    }
    return nil
  }

  /// Whether a signature continues on the next line.
  private static func goesOn(_ code: [String], after line: Int) -> Bool {
    guard line + 1 < code.count else { return false }
    let next = code[line + 1].trimmingCharacters(in: .whitespaces)
    return ["{", "where", "->", "async", "throws"].contains { next.hasPrefix($0) }
  }
}
