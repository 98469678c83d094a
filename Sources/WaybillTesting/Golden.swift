public import Testing

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Files that hold what was right once. They are written anew only with `WAYBILL_RECORD=1`, and a
/// change in them is reviewed like a change of format.
public enum Golden {
  /// Whether this run records instead of comparing.
  public static var isRecording: Bool {
    getenv("WAYBILL_RECORD").map { String(cString: $0) } == "1"
  }

  /// Compares text with a file, or records it.
  ///
  /// - Parameters:
  ///   - text: what the code gives now.
  ///   - path: the file, relative to the repository's root.
  public static func check(
    _ text: String, against path: String, at location: SourceLocation = #_sourceLocation
  ) {
    if isRecording {
      if !write(text, to: path) {
        Issue.record("\(path) cannot be written", sourceLocation: location)
      }
      return
    }
    guard let recorded = read(path) else {
      Issue.record(
        "\(path) is missing; run the test with WAYBILL_RECORD=1 and review the file",
        sourceLocation: location)
      return
    }
    guard recorded != text else { return }
    Issue.record(
      """
      \(path) differs \(firstDifference(recorded, text)); if that is meant, run the test with \
      WAYBILL_RECORD=1 and review the change
      """, sourceLocation: location)
  }

  /// The text of a file relative to the repository's root; nil if it cannot be read as UTF-8.
  public static func read(_ path: String) -> String? {
    guard let file = fopen(root + path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Replaces the file whole: another test of the same run may be reading it.
  private static func write(_ text: String, to path: String) -> Bool {
    let fresh = root + path + ".new"
    guard let file = fopen(fresh, "wb") else { return false }
    let bytes = [UInt8](text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count && rename(fresh, root + path) == 0
  }

  /// The repository's root with a slash behind it: three folders above this file.
  private static let root: String = {
    let folders = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return folders.joined(separator: "/") + "/"
  }()

  private static func firstDifference(_ recorded: String, _ now: String) -> String {
    let old = recorded.split(separator: "\n", omittingEmptySubsequences: false)
    let new = now.split(separator: "\n", omittingEmptySubsequences: false)
    let line = zip(old, new).prefix { $0 == $1 }.count
    let was = line < old.count ? old[line] : "(its end)"
    let isNow = line < new.count ? new[line] : "(its end)"
    return "in line \(line + 1):\n  recorded: \(was)\n  now:      \(isNow)\n"
  }
}
