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
    var damaged: Set<String> = []
    /// A table that cannot be read to its end is told of once.
    func reading(_ name: String, _ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
      guard !damaged.contains(name) else { return }
      do throws(SQLiteError) {
        try body()
      } catch  where error.code.primary == .corrupt {
        damaged.insert(name)
        found(ProjectionDifference(projection: name, upload: nil, kind: .unusable))
      }
    }
    try LogReading.eachUpload(connection, where: "1") { upload, stream throws(SQLiteError) in
      for (name, table) in tables {
        try reading(name) { () throws(SQLiteError) in
          let wants = table.hasRow(upload)
          let has = try table.holdsRow(stream: stream)
          if wants { expected[name, default: 0] += 1 }
          if has { present[name, default: 0] += 1 }
          if let kind = try difference(wants, has, table, upload, stream) {
            found(ProjectionDifference(projection: name, upload: upload.id, kind: kind))
          }
        }
      }
    }
    for (name, _) in tables {
      try reading(name) { () throws(SQLiteError) in
        let rows = try connection.integer("SELECT count(*) FROM \(name)") ?? 0
        // Rows of streams that the log does not have at all.
        for _ in 0..<max(0, rows - (present[name] ?? 0)) {
          found(ProjectionDifference(projection: name, upload: nil, kind: .surplus))
        }
      }
    }
    try compareLedgerState(connection, found)
    return expected
  }

  private static func difference(
    _ wants: Bool, _ has: Bool, _ table: any ProjectionTable, _ upload: Upload, _ stream: Int64
  ) throws(SQLiteError) -> ProjectionDifference.Kind? {
    switch (wants, has) {
    case (true, false): .missing
    case (false, true): .surplus
    case (true, true): try table.matches(upload, stream: stream) ? nil : .differs
    case (false, false): nil
    }
  }

  private static func compareLedgerState(
    _ connection: Connection, _ found: (ProjectionDifference) -> Void
  ) throws(SQLiteError) {
    let name = LedgerStateTable.name
    // A ledger that was last written before there was this table has none until its next launch.
    guard connection.checkpoint(of: LedgerStateTable.self) != nil else { return }
    let row = try LedgerStateTable.read(connection)
    guard row != (try LogReading.ledgerState(connection)) else { return }
    found(
      ProjectionDifference(
        projection: name, upload: nil, kind: row == nil ? .unusable : .differs))
  }
}
