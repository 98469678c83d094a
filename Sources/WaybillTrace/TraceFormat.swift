internal import CLZ4

/// The numbers and words of the format. `schema/trace.md` says what they mean.
package enum TraceFormat {
  /// The format this code writes, and the newest it reads.
  package static let version: Int64 = 1
  /// What the name of a trace ends with.
  package static let fileExtension = ".waybill.jsonl.lz4"
  /// How hard LZ4 tries unless somebody says otherwise.
  package static let defaultLevel = 3
  /// How hard LZ4 may try; 0 to 2 are the fast method.
  package static let levels = 0...12
  /// A frame is closed at so many events.
  static let frameEventCount = 1000
  /// A frame of more than one line has at most so many bytes of lines: 1 MiB.
  static let frameByteCount = 1 << 20
  /// The longest line, its line feed included: 4 MiB. Nothing bounds the name of a file but this.
  package static let maximumLineByteCount = 4 << 20
  /// The version of each line's shape.
  static let lineVersion: Int64 = 1

  /// The kind of the first line.
  static let headerKind = "trace.header"
  /// The kind of the last line.
  static let footerKind = "trace.footer"
  /// What no event's kind begins with.
  static let reservedPrefix = "trace."

  /// The version of the LZ4 library, such as `1.9.4`.
  package static var libraryVersion: String { String(cString: LZ4_versionString()) }
}
