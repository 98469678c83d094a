import Foundation

/// Words that may not stand in a text, each with what to do instead.
enum WordRules {
  private static let impure: [(pattern: String, remedy: String)] = [
    (#"\bDate\(\)|Clock\(\)|Clock\.now|\bclock_gettime\b|\bgettimeofday\b"#, "take a Timestamp"),
    (#"\bUUID\(\)"#, "take the identifier as a value"),
    (#"\.random\(|RandomNumberGenerator|\.shuffled?\(|\.randomElement\("#, "take random bits"),
    (#"\bgetenv\b|\bProcessInfo\b|\bFileManager\b|\bCommandLine\b"#, "let the shell read it"),
    (#"\bprint\("#, "return the text"),
    (#"\bTask\b|\bawait\b|\bactor\b"#, "leave waiting to the shell"),
  ]

  private static let unportable: [(pattern: String, remedy: String)] = [
    (#"\bMutex\b"#, "Mutex needs iOS 18, we support 17; use an actor, or Locked"),
    (#"\bTask\.detached\b"#, "a detached task outlives its caller; use a child task"),
  ]

  // In two pieces each, so that this file passes its own rules.
  private static let leftovers: [(pattern: String, remedy: String)] = [
    (#"\b(?:TO"# + #"DO|FIX"# + #"ME|X"# + #"XX|HA"# + #"CK)\b"#, "finish it or file it"),
    (#"fatalError\("[Nn]"# + "ot ", "finish it, or make it a precondition with a sentence"),
  ]

  private static let machinePaths: [(pattern: String, remedy: String)] = [
    (
      #"(?:^|[^\w.~/-])/(?:"# + #"work|root|home/\w+|Users/\w+|tmp/wt)\b/?"#,
      "a path of one machine; make it relative, or a temporary folder"
    )
  ]

  private static let vagueName = #"(?:Utils?|Utilit(?:y|ies)|Common|Helpers?|Manager|Misc)"#

  /// The pure core has no clock, no randomness, no input and no output.
  static func purity(_ file: SourceFile) -> [Finding] {
    guard file.module == "WaybillModel" else { return [] }
    return find(impure, in: file.code, of: file, "WaybillModel is pure")
  }

  static func portability(_ file: SourceFile) -> [Finding] {
    find(unportable, in: file.code, of: file, "not in this house")
  }

  static func leftovers(_ file: SourceFile) -> [Finding] {
    find(leftovers, in: file.lines, of: file, "unfinished")
  }

  static func machinePaths(_ file: SourceFile) -> [Finding] {
    find(machinePaths, in: file.lines, of: file, "not portable")
  }

  /// A name says what a thing is for.
  static func names(_ file: SourceFile) -> [Finding] {
    let types = find(
      [
        (
          #"\b(?:struct|class|enum|actor|protocol)\s+\w*"# + vagueName + #"\b"#,
          "name what it does"
        )
      ],
      in: file.code, of: file, "vague name")
    let stem = file.name.prefix { $0 != "." }
    let vague = stem.range(of: vagueName + "$", options: .regularExpression) != nil
    return types + (vague ? [file.finding(0, "vague file name: name what it holds")] : [])
  }

  private static func find(
    _ words: [(pattern: String, remedy: String)], in lines: [String], of file: SourceFile,
    _ reason: String
  ) -> [Finding] {
    // Nearly every file is clean: one look at all of it is enough.
    let all = lines.joined(separator: "\n")
    let any = "(?m)" + words.map(\.pattern).joined(separator: "|")
    guard all.range(of: any, options: .regularExpression) != nil else { return [] }
    return lines.enumerated().flatMap { index, line in
      words.compactMap { word in
        guard let range = line.range(of: word.pattern, options: .regularExpression) else {
          return nil
        }
        let found = line[range].trimmingCharacters(in: .whitespaces)
        return file.finding(index, "\(reason), found `\(found)`: \(word.remedy)")
      }
    }
  }
}
