internal import WaybillModel
internal import WaybillSQLite

/// Sessions the server has open for us: the table `sessions`.
enum SessionProjection: Projection {
  static let name = "sessions"
  static let version: Int64 = 1
  static let columns = ["reference", "part_size", "part_count", "expires", "opened"]

  static func row(_ upload: Upload) -> Upload.Session? {
    upload.ending == nil ? upload.session : nil
  }

  static func bind(_ row: Upload.Session, to statement: Statement, from index: Int32) {
    statement.bind(index, row.reference.text)
    statement.bind(index + 1, row.plan.partSize)
    statement.bind(index + 2, Int64(row.plan.partCount))
    statement.bind(index + 3, row.expires?.microseconds)
    statement.bind(index + 4, row.opened.value)
  }
}
