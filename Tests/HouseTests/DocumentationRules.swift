import Foundation

/// Every public declaration carries a doc comment, also those that are public without the word:
/// the cases of a public enum and the requirements of a public protocol.
enum DocumentationRules {
  private static let attributes = #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*"#
  private static let modifiers =
    #"(?:(?:static|class|final|nonisolated|isolated|mutating|nonmutating|indirect|convenience"#
    + #"|required|override|lazy|unowned|weak|consuming|borrowing|distributed|prefix|postfix"#
    + #"|infix)(?:\(\w+\))?\s+)*"#
  private static let kinds =
    #"(?:func|var|let|init|subscript|struct|class|enum|actor|protocol|typealias"#
    + #"|associatedtype|case|macro|operator)\b"#

  private static let declaration =
    attributes + modifiers
    + #"(?:public|open)(?!\(set\))\s+(?:private\(set\)\s+|package\(set\)\s+)?"#
    + modifiers + kinds
  private static let member = attributes + modifiers + kinds
  private static let extensions = attributes + #"(?:public|open)\s+extension\b"#
  private static let container =
    attributes + #"(?:public|open)\s+(?:indirect\s+)?(enum|protocol)\b"#

  static func missing(_ file: SourceFile) -> [Finding] {
    var findings: [Finding] = []
    var scopes: [Scope] = []
    for (index, code) in file.code.enumerated() {
      let speaks = code.contains("public") || code.contains("open")
      if speaks, matches(code, extensions) {
        findings.append(file.finding(index, "a public extension hides who is public; mark members"))
      }
      let isPublic = speaks && matches(code, declaration) || isMember(code, of: scopes.last)
      if isPublic, !isDocumented(file, index) {
        findings.append(file.finding(index, "public without a doc comment; say what it gives"))
      }
      follow(code, &scopes)
    }
    return findings
  }

  private enum Scope {
    case publicEnum
    case publicProtocol
    case other
  }

  private static func isMember(_ code: String, of scope: Scope?) -> Bool {
    switch scope {
    case .publicEnum: matches(code, attributes + #"(?:indirect\s+)?case\b"#)
    case .publicProtocol: matches(code, member)
    case .other, nil: false
    }
  }

  /// Opens and closes scopes along the braces of one line.
  private static func follow(_ code: String, _ scopes: inout [Scope]) {
    var next = Scope.other
    if code.contains("public") || code.contains("open"), matches(code, container) {
      next = matches(code, #"\bprotocol\b"#) ? .publicProtocol : .publicEnum
    }
    for character in code {
      if character == "{" {
        scopes.append(next)
        next = .other
      } else if character == "}" {
        scopes = scopes.dropLast()
      }
    }
  }

  /// Attributes and conditions may stand between a comment and what it documents.
  private static func isDocumented(_ file: SourceFile, _ index: Int) -> Bool {
    var above = index - 1
    while above >= 0 {
      let line = file.lines[above].trimmingCharacters(in: .whitespaces)
      guard line.hasPrefix("@") || line.hasPrefix("#if") else { break }
      above -= 1
    }
    guard above >= 0 else { return false }
    let line = file.lines[above].trimmingCharacters(in: .whitespaces)
    return line.hasPrefix("///") || line.hasSuffix("*/")
  }

  private static func matches(_ text: String, _ pattern: String) -> Bool {
    text.range(of: pattern, options: .regularExpression) != nil
  }
}
