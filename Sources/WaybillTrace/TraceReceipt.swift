package import WaybillModel

/// What a whole trace came to: the same values from the writer as from the reader.
package struct TraceReceipt: Equatable, Sendable {
  /// How many events it holds.
  package var eventCount: Int64
  /// How many bytes the file has, its index included.
  package var byteCount: Int64
  /// The SHA-256 of these bytes.
  package var digest: ContentHash
  /// The SHA-256 of all lines before the footer, uncompressed.
  package var linesDigest: ContentHash
  /// The position of the first event; nil without events.
  package var first: GlobalPosition?
  /// The position of the last event; nil without events.
  package var last: GlobalPosition?
}
