import Foundation

/// Keeps the README equal to what stands in the repository.
enum ReadmeRules {
  /// Each `tools/waybill/Commands/<Name>Command.swift` has a row in the table of commands.
  static func commands(_ readme: SourceFile, files: [String]) -> [Finding] {
    files.compactMap(command).filter { !rows(readme).contains($0) }.map {
      readme.finding(0, "the table of commands has no row for `\($0)`; say what it does")
    }
  }

  /// Each file a README speaks of as one of ours exists.
  static func links(_ readme: SourceFile, exists: (String) -> Bool) -> [Finding] {
    readme.lines.enumerated().flatMap { index, line in
      line.matches(of: #/(?:`|\()((?:tools|Sources|Tests|schema|\.github|\.ci)/[\w./-]+)/#)
        .map { String($0.output.1) }.filter { !exists($0) }
        .map { readme.finding(index, "\($0) does not exist; correct it or drop it") }
    }
  }

  /// The example in the README is a file that is compiled.
  static func example(_ readme: SourceFile, source: SourceFile) -> [Finding] {
    guard let start = readme.lines.firstIndex(of: "```swift"),
      let count = readme.lines[(start + 1)...].firstIndex(of: "```").map({ $0 - start - 1 })
    else { return [readme.finding(0, "no example between ```swift and ```")] }
    let shown = readme.lines[(start + 1)..<(start + 1 + count)]
    let compiled = source.lines[...]
    guard let difference = zip(shown, compiled).enumerated().first(where: { $1.0 != $1.1 }) else {
      if shown.count == compiled.count { return [] }
      return [readme.finding(start, "the example and \(source.path) differ in length")]
    }
    return [
      readme.finding(
        start + 1 + difference.offset,
        "differs from line \(difference.offset + 1) of \(source.path); copy that file in here")
    ]
  }

  private static func command(_ path: String) -> String? {
    path.firstMatch(of: #/(?:^|/)([A-Z]\w*)Command\.swift$/#).map { $0.output.1.lowercased() }
  }

  /// The commands named in the first cell of a table row, as `` `push FILE… --to URL` ``.
  private static func rows(_ readme: SourceFile) -> Set<String> {
    let cells = readme.lines.filter { $0.hasPrefix("|") }
      .compactMap { $0.split(separator: "|").first }
    return Set(cells.flatMap { $0.matches(of: #/`([a-z]+)/#).map { String($0.output.1) } })
  }
}
