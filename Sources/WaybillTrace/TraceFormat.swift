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

/// The keys of all lines, each spelled here and in `schema/trace.md`. Lines have them in this order.
enum TraceKey {
  // Every line.
  static let kind: StaticString = "kind"
  static let version: StaticString = "v"

  // The header.
  static let format: StaticString = "format"
  static let profile: StaticString = "profile"
  static let cuts: StaticString = "cuts"
  static let device: StaticString = "device"
  static let app: StaticString = "app"
  static let ledgerFormat: StaticString = "ledger_format"
  static let firstPosition: StaticString = "first_position"
  static let lastPosition: StaticString = "last_position"

  // An event.
  static let position: StaticString = "position"
  static let eventID: StaticString = "event_id"
  static let uploadID: StaticString = "upload_id"
  static let revision: StaticString = "revision"
  static let time: StaticString = "ts"
  static let timeMicroseconds: StaticString = "ts_us"
  static let cause: StaticString = "cause"
  static let launch: StaticString = "launch"
  static let compensates: StaticString = "compensates"
  static let observation: StaticString = "observation"
  static let part: StaticString = "part"
  static let bytes: StaticString = "bytes"
  static let attempt: StaticString = "attempt"
  static let until: StaticString = "until"
  static let untilMicroseconds: StaticString = "until_us"
  static let code: StaticString = "code"
  static let reference: StaticString = "reference"
  static let hash: StaticString = "hash"
  static let name: StaticString = "name"
  static let nameBase64: StaticString = "name_base64"
  static let payload: StaticString = "payload"
  static let chainBefore: StaticString = "chain_before"
  static let chain: StaticString = "chain"

  // The footer; it ends with `last_position`.
  static let count: StaticString = "count"
  static let sha256: StaticString = "sha256"
}
