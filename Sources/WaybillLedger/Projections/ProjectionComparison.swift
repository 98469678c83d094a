public import WaybillModel
internal import WaybillSQLite

/// A row of a derived table that is not what the log says.
public struct ProjectionDifference: Hashable, Sendable {
  /// How the row differs.
  public enum Kind: String, Sendable {
    /// The log gives a row and the table has none.
    case missing
    /// The table has a row and the log gives none.
    case surplus
    /// Both have a row, with other values.
    case differs
    /// The table cannot be used at all.
    case unusable
  }

  /// The table.
  public let projection: String
  /// The upload the row is about; nil when it is about none, or about the table.
  public let upload: UploadID?
  /// How it differs.
  public let kind: Kind
}

/// Compares every derived table with a fresh fold of the log, row by row.
enum ProjectionComparison {
  /// Calls `found` with each difference.
  ///
  /// - Returns: how many rows the log gives for each table that can be used.
  @discardableResult
  static func compare(
    _ connection: Connection, _ found: (ProjectionDifference) -> Void
  ) throws(SQLiteError) -> [String: Int64] {
    var tables: [(name: String, table: any ProjectionTable)] = []
    for projection in Projections.all {
      do throws(SQLiteError) {
        tables.append((projection.name, try projection.table(connection)))
      } catch {
        found(ProjectionDifference(projection: projection.name, upload: nil, kind: .unusable))
      }
    }
    var expected: [String: Int64] = [:]
    var present: [String: Int64] = [:]
    try LogReading.eachUpload(connection, where: "1") { upload, stream throws(SQLiteError) in
      for (name, table) in tables {
        let wants = table.hasRow(upload)
        let has = try table.holdsRow(stream: stream)
        if wants { expected[name, default: 0] += 1 }
        if has { present[name, default: 0] += 1 }
        let kind: ProjectionDifference.Kind? =
          switch (wants, has) {
          case (true, false): .missing
          case (false, true): .surplus
          case (true, true): try table.matches(upload, stream: stream) ? nil : .differs
          case (false, false): nil
          }
        if let kind {
          found(ProjectionDifference(projection: name, upload: upload.id, kind: kind))
        }
      }
    }
    for (name, _) in tables {
      let rows = try connection.integer("SELECT count(*) FROM \(name)") ?? 0
      // Rows of streams that the log does not have at all.
      for _ in 0..<max(0, rows - (present[name] ?? 0)) {
        found(ProjectionDifference(projection: name, upload: nil, kind: .surplus))
      }
    }
    return expected
  }
}
