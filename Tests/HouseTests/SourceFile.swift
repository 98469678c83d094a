import Foundation

/// What a rule has against a line: where it is, and what to do about it.
struct Finding: Equatable, CustomStringConvertible {
  let path: String
  let line: Int
  let message: String

  var description: String { "\(path):\(line): \(message)" }
}

/// One text of the repository, with a copy that has blanks for comments and string contents, so
/// that rules about code see only code. Both have the same lines.
struct SourceFile {
  /// From the top of the repository, with slashes.
  let path: String
  let text: String
  let lines: [String]
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = Self.split(text)
    code = path.hasSuffix(".swift") ? Self.split(CodeMask.blank(text)) : lines
  }

  var name: String { String(path.split(separator: "/").last ?? "") }

  /// The folder below Sources, or `waybill` for the command line.
  var module: String? {
    let pieces = path.split(separator: "/").map(String.init)
    guard pieces.count > 2, pieces[0] == "Sources" || pieces[0] == "tools" else { return nil }
    return pieces[1]
  }

  func finding(_ index: Int, _ message: String) -> Finding {
    Finding(path: path, line: index + 1, message: message)
  }

  private static func split(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// The repository as it lies on disk.
struct Repository {
  let root: URL

  /// The checkout this test was built from.
  static let here = Repository(
    root: URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent())

  /// All texts below some folders or files, in order of path. Binary files are left out.
  func texts(below places: [String]) throws -> [SourceFile] {
    try places.flatMap(paths).sorted().compactMap { path in
      let data = try Data(contentsOf: root.appending(path: path))
      guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
      return SourceFile(path: path, text: text)
    }
  }

  func swift(below places: [String]) throws -> [SourceFile] {
    try texts(below: places).filter { $0.path.hasSuffix(".swift") }
  }

  func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// The files below a folder, from the top of the repository; the file itself when it is one.
  func paths(_ place: String) -> [String] {
    let url = root.appending(path: place)
    guard let below = try? FileManager.default.subpathsOfDirectory(atPath: url.path) else {
      return exists(place) ? [place] : []
    }
    return below.map { "\(place)/\($0)" }.filter { path in
      var isFolder: ObjCBool = false
      let known = FileManager.default.fileExists(
        atPath: root.appending(path: path).path, isDirectory: &isFolder)
      return known && !isFolder.boolValue && !path.contains("/.build/")
    }
  }
}
