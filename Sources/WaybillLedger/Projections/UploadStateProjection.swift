internal import WaybillModel
internal import WaybillSQLite

/// The six-state view, and the two ends that leave it: the table `upload_states`.
enum UploadStateProjection: Projection {
  static let name = "upload_states"
  static let version: Int64 = 2
  static let columns = ["state", "reason", "until", "confirmed", "in_flight", "total"]

  struct Row: Equatable {
    let state: StateWord
    let reason: String?
    let until: Timestamp?
    let confirmed: Int64
    let inFlight: Int64
    let total: Int64
  }

  static func row(_ upload: Upload) -> Row? {
    guard let word = upload.stateWord else { return nil }
    return Row(
      state: word, reason: upload.attention?.reason.rawValue ?? upload.waiting?.reason.rawValue,
      until: upload.waiting?.until, confirmed: upload.confirmedBytes,
      inFlight: upload.bytesInFlight, total: upload.byteCount)
  }

  static func bind(_ row: Row, to statement: Statement, from index: Int32) {
    statement.bind(index, row.state.rawValue)
    statement.bind(index + 1, row.reason)
    statement.bind(index + 2, row.until?.microseconds)
    statement.bind(index + 3, row.confirmed)
    statement.bind(index + 4, row.inFlight)
    statement.bind(index + 5, row.total)
  }
}
