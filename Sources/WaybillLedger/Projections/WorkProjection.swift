internal import WaybillModel
internal import WaybillSQLite

/// Uploads with something left to do, in the order of doing: the table `work`.
enum WorkProjection: Projection {
  static let name = "work"
  static let version: Int64 = 2
  static let columns = ["priority", "added", "not_before"]

  struct Row: Equatable {
    let priority: Priority
    /// In the column `added`, which says it for all but backups.
    let place: Int64
    let notBefore: Timestamp?
  }

  /// A row for an upload that can go on by itself, or whose copy is still to be deleted.
  static func row(_ upload: Upload) -> Row? {
    let isEnded = upload.ending != nil
    if isEnded, upload.copy == nil || upload.copyReleased != nil { return nil }
    if !isEnded, upload.attention != nil || upload.paused != nil || upload.copy == nil {
      return nil
    }
    return Row(
      priority: upload.intent?.priority ?? .normal, place: upload.place,
      notBefore: upload.notBefore)
  }

  static func bind(_ row: Row, to statement: Statement, from index: Int32) {
    statement.bind(index, Int64(row.priority.rawValue))
    statement.bind(index + 1, row.place)
    statement.bind(index + 2, row.notBefore?.microseconds ?? 0)
  }
}
