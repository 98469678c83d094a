internal import WaybillModel
internal import WaybillSQLite

/// Which upload holds which bytes: the table `content_index`. The database holds one live upload
/// for each hash; a second one fails its append.
enum ContentIndexProjection: Projection {
  static let name = "content_index"
  static let version: Int64 = 1
  static let columns = ["hash"]

  /// The hash of an upload that is queued or committed; nil for one that was given up or that
  /// ended as a duplicate. What the server stated at the commit stands for itself: the events
  /// before it may be in an archive.
  static func row(_ upload: Upload) -> ContentHash? {
    switch upload.ending {
    case .cancelled, .deduplicated(.upload): nil
    case .committed(let committed): committed.hash
    case .deduplicated(.remote): upload.hash
    case nil: upload.intent == nil ? nil : upload.hash
    }
  }

  static func bind(_ row: ContentHash, to statement: Statement, from index: Int32) {
    row.withBytes { statement.bind(index, bytes: $0) }
  }
}
