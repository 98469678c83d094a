internal import WaybillModel
internal import WaybillSQLite

/// A table beside the log that holds nothing but what is folded from it, so that it can be dropped
/// and folded anew at any time.
protocol DerivedTable: SendableMetatype {
  /// The name of its table, of its schema file and of its checkpoint.
  static var name: String { get }
  /// The version of this code; another one in the ledger means the table is folded anew.
  static var version: Int64 { get }
  /// Whether the table is there in the shape this code writes.
  static func isUsable(_ connection: Connection) -> Bool
  /// Folds what the log has behind a position into the table; the whole log when it is nil.
  static func fold(_ connection: Connection, after position: Int64?) throws(SQLiteError)
}

/// One row, or none, for each upload.
///
/// The row is a pure function of the folded upload, so that what a live append writes and what a
/// rebuild writes are the same by construction. To change a projection, raise its version: every
/// ledger then folds it anew when it is opened.
protocol Projection: DerivedTable {
  associatedtype Row: Equatable

  /// Columns behind `stream`, in the order of `bind`.
  static var columns: [String] { get }
  /// Those of the columns that never change once there is a row. An update leaves them alone, so
  /// that it does not write their index anew.
  static var fixedColumns: Set<String> { get }

  /// The row of an upload; nil when it has none.
  static func row(_ upload: Upload) -> Row?
  /// Binds the columns behind `stream`, the first at `index`.
  static func bind(_ row: Row, to statement: Statement, from index: Int32)
}

/// Writes one projection's rows, each at most once a transaction and only when it has changed.
protocol ProjectionTable: AnyObject {
  /// Writes the row of an upload, unless it is the row that the upload `before` had; nil where the
  /// table has no row of it.
  func write(_ upload: Upload, stream: Int64, before: Upload?) throws(SQLiteError)
  /// Removes the row of an upload.
  func clear(stream: Int64) throws(SQLiteError)
  /// Whether an upload should have a row.
  func hasRow(_ upload: Upload) -> Bool
  /// Whether the table holds a row of a stream.
  func holdsRow(stream: Int64) throws(SQLiteError) -> Bool
  /// Whether the table holds exactly the row that an upload should have.
  func matches(_ upload: Upload, stream: Int64) throws(SQLiteError) -> Bool
}

final class ProjectionRows<P: Projection>: ProjectionTable {
  private let replace: Statement
  private let delete: Statement
  private let find: Statement
  private let any: Statement

  init(_ projection: P.Type, connection: Connection) throws(SQLiteError) {
    let marks = Array(repeating: "?", count: P.columns.count + 1).joined(separator: ", ")
    replace = try connection.prepare(
      "INSERT INTO \(P.name) (stream, \(P.columns.joined(separator: ", "))) VALUES (\(marks))"
        + " ON CONFLICT (stream) DO UPDATE SET "
        + P.columns.filter { !P.fixedColumns.contains($0) }.map { "\($0) = excluded.\($0)" }.joined(
          separator: ", "))
    delete = try connection.prepare("DELETE FROM \(P.name) WHERE stream = ?")
    let same = P.columns.map { "\($0) IS ?" }.joined(separator: " AND ")
    find = try connection.prepare("SELECT 1 FROM \(P.name) WHERE stream = ? AND \(same)")
    any = try connection.prepare("SELECT 1 FROM \(P.name) WHERE stream = ?")
  }

  func write(_ upload: Upload, stream: Int64, before: Upload?) throws(SQLiteError) {
    let new = P.row(upload)
    guard new != before.flatMap({ P.row($0) }) else { return }
    if let new {
      replace.bind(1, stream)
      P.bind(new, to: replace, from: 2)
      try replace.run()
    } else {
      try clear(stream: stream)
    }
  }

  func clear(stream: Int64) throws(SQLiteError) {
    delete.bind(1, stream)
    try delete.run()
  }

  func hasRow(_ upload: Upload) -> Bool { P.row(upload) != nil }

  func holdsRow(stream: Int64) throws(SQLiteError) -> Bool {
    any.bind(1, stream)
    return try any.firstRow { _ in true } != nil
  }

  func matches(_ upload: Upload, stream: Int64) throws(SQLiteError) -> Bool {
    guard let row = P.row(upload) else { return false }
    find.bind(1, stream)
    P.bind(row, to: find, from: 2)
    return try find.firstRow { _ in true } != nil
  }
}

extension Projection {
  static var fixedColumns: Set<String> { [] }

  static func table(_ connection: Connection) throws(SQLiteError) -> any ProjectionTable {
    try ProjectionRows(Self.self, connection: connection)
  }
}
