import Foundation
import Testing

/// Compares text with a file under Tests/Golden, or records it there with `WAYBILL_RECORD=1`.
enum Golden {
  static func expect(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Golden").appending(path: name)
    if ProcessInfo.processInfo.environment["WAYBILL_RECORD"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return
    }
    let recorded = try String(decoding: Data(contentsOf: file), as: UTF8.self)
    #expect(
      text == recorded, "differs from Golden/\(name); WAYBILL_RECORD=1 records it anew",
      sourceLocation: sourceLocation)
  }
}
