internal import WaybillModel
internal import WaybillSQLite

/// What an app lists: the table `queue`.
enum QueueProjection: Projection {
  static let name = "queue"
  static let version: Int64 = 2
  static let columns = [
    "added", "name", "bytes", "confirmed", "in_flight", "state", "reason", "until",
    "remote_id",
  ]
  static let fixedColumns: Set = ["added"]

  struct Row: Equatable {
    let upload: QueuedUpload
    let added: Int64
    let inFlight: Int64
  }

  static func row(_ upload: Upload) -> Row? {
    guard let queued = QueuedUpload(upload) else { return nil }
    return Row(
      upload: queued, added: upload.firstPosition.value, inFlight: upload.bytesInFlight)
  }

  static func bind(_ row: Row, to statement: Statement, from index: Int32) {
    statement.bind(index, row.added)
    statement.bind(index + 1, blob: row.upload.fileName.bytes)
    statement.bind(index + 2, row.upload.byteCount)
    statement.bind(index + 3, row.upload.bytesSent)
    statement.bind(index + 4, row.inFlight)
    statement.bind(index + 5, row.upload.state.word)
    var reason: String?
    var until: Int64?
    var remote: String?
    switch row.upload.state {
    case .waiting(let waiting):
      reason = waiting.reason.rawValue
      until = waiting.until?.microseconds
    case .failed(let why): reason = why.rawValue
    case .done(let id): remote = id.text
    case .queued, .uploading, .cancelled: break
    }
    statement.bind(index + 6, reason)
    statement.bind(index + 7, until)
    statement.bind(index + 8, remote)
  }

  /// Reads `stream's upload name, bytes, confirmed, in_flight, state, reason, until, remote_id` and
  /// the bytes of parts in flight that the transport has taken, in this order.
  static func read(
    _ row: borrowing WaybillSQLite.Row, waiting: Waiting?
  ) -> QueuedUpload? {
    guard let id = UploadID(row.text(0)) else { return nil }
    let byteCount = row.int(2)
    let sent = row.int(3).addingHeld(min(max(row.int(9), 0), row.int(4)))
    return QueuedUpload(
      id: id, fileName: FileName(bytes: row.bytes(1)), byteCount: byteCount,
      bytesSent: min(sent, byteCount), bytesConfirmed: min(row.int(3), byteCount),
      state: state(
        word: row.text(5), reason: row.optionalText(6), until: row.optionalInt(7),
        remote: row.optionalText(8)
      ).held(by: waiting))
  }

  private static func state(
    word: String, reason: String?, until: Int64?, remote: String?
  ) -> QueuedUpload.State {
    switch word {
    case "done": return .done(RemoteID(remote ?? ""))
    case "cancelled": return .cancelled
    case "failed":
      return .failed(reason.flatMap { AttentionReason(rawValue: $0) } ?? .recordUnreadable)
    case "waiting":
      let why = reason.flatMap { Waiting.Reason(rawValue: $0) } ?? .retrying
      return .waiting(Waiting(why, until: until.map { Timestamp(microseconds: $0) }))
    case "uploading": return .uploading
    default: return .queued
    }
  }
}
