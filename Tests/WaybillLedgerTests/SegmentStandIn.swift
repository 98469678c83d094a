import Foundation
import WaybillHash
import WaybillLedger
import WaybillModel
import WaybillTesting

/// A file in the place of a segment. Its bytes are no trace, those are the engine's to write; the
/// ledger asks only that their SHA-256 is the one that was recorded.
struct SegmentStandIn {
  let bytes: [UInt8]
  var digest: ContentHash { SHA256.hash(bytes) }

  init(_ text: String = "in the place of a segment") { bytes = [UInt8](text.utf8) }

  /// Puts the file under the name that follows from what was recorded.
  func write(_ archived: Archived, to temporary: TemporaryLedger) throws {
    let path = "\(temporary.directory)/archive/\(SegmentName(archived).text)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }
}
