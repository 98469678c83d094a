internal import WaybillModel
internal import WaybillSQLite

/// Brings projections to the head of the log. Live appends, catching up and rebuilding write rows
/// by the same `ProjectionTable`.
enum ProjectionRunner {
  /// What was done about one projection.
  enum Work: Equatable, Sendable {
    case ready
    case caughtUp
    case rebuilt
  }

  /// Looks at every projection and folds what is missing: nothing when it is at the head, the
  /// uploads with newer events when it is behind, everything when its table, its version or its
  /// checkpoint is not what this code writes.
  @discardableResult
  static func bringUp(_ connection: Connection) throws(SQLiteError) -> [String: Work] {
    let head = try connection.integer("SELECT max(position) FROM events") ?? 0
    var done: [String: Work] = [:]
    for projection in Projections.derived {
      let checkpoint = connection.checkpoint(of: projection.name)
      let isOurs =
        checkpoint.map { $0.version == projection.version && $0.position <= head } ?? false
      let isUsable = projection.isUsable(connection)
      if let checkpoint, isOurs, isUsable, checkpoint.position == head {
        done[projection.name] = .ready
        continue
      }
      let seen = isOurs && isUsable ? checkpoint?.position : nil
      try bringUp(projection, connection, from: seen, to: head)
      done[projection.name] = seen == nil ? .rebuilt : .caughtUp
    }
    return done
  }

  /// Drops one projection and folds the whole log into it, in one transaction.
  static func rebuild(
    _ projection: any DerivedTable.Type, _ connection: Connection
  ) throws(SQLiteError) {
    let head = try connection.integer("SELECT max(position) FROM events") ?? 0
    try bringUp(projection, connection, from: nil, to: head)
  }

  private static func bringUp(
    _ projection: any DerivedTable.Type, _ connection: Connection, from seen: Int64?,
    to head: Int64
  ) throws(SQLiteError) {
    // Looked at before the transaction: one that has met damage may not write any more.
    let problems = seen == nil ? try connection.structuralProblems(in: projection.name) : []
    try connection.execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      if seen == nil {
        if problems.isEmpty {
          try connection.execute("DROP TABLE IF EXISTS \(projection.name)")
        } else {
          // It cannot be dropped: its pages are found through each other.
          try connection.strikeTable(projection.name)
        }
        try connection.execute(Schema.text("projections/\(projection.name).sql"))
      }
      try projection.fold(connection, after: seen)
      try connection.setCheckpoint(of: projection, position: head)
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
    // The pages of a struck table belong to nobody until then, which `verify` goes on telling.
    if !problems.isEmpty { try? connection.execute("VACUUM") }
  }
}

extension Projection {
  static func isUsable(_ connection: Connection) -> Bool { (try? table(connection)) != nil }

  static func fold(_ connection: Connection, after position: Int64?) throws(SQLiteError) {
    let table = try table(connection)
    let newer = position.map { "IN (SELECT stream FROM events WHERE position > \($0))" }
    // All old rows go first: one of them may hold the key that another upload has now.
    if let newer { try connection.execute("DELETE FROM \(name) WHERE stream \(newer)") }
    let condition = newer.map { "e.stream \($0)" } ?? "1"
    try LogReading.eachUpload(connection, where: condition) { upload, stream throws(SQLiteError) in
      do throws(SQLiteError) {
        try table.write(upload, stream: stream, before: nil)
      } catch  where error.code.primary == .constraint {
        // Only a damaged log gives one key to two uploads. The first keeps it and `verify` names
        // the second; a ledger that cannot be opened would help nobody.
      }
    }
  }
}

extension Connection {
  func checkpoint(of name: String) -> (version: Int64, position: Int64)? {
    guard let statement = try? prepare("SELECT version, position FROM projections WHERE name = ?")
    else { return nil }
    statement.bind(1, name)
    return try? statement.firstRow { ($0.int(0), $0.int(1)) }
  }

  fileprivate func setCheckpoint(
    of projection: any DerivedTable.Type, position: Int64
  ) throws(SQLiteError) {
    let statement = try prepare(
      "INSERT INTO projections (name, version, position) VALUES (?, ?, ?)"
        + " ON CONFLICT (name) DO UPDATE SET version = excluded.version,"
        + " position = excluded.position")
    statement.bind(1, projection.name)
    statement.bind(2, projection.version)
    statement.bind(3, position)
    try statement.run()
  }

  /// What SQLite's own check finds in one table or in the whole file, at most ten lines; empty when
  /// it is sound.
  func structuralProblems(in table: String? = nil) throws(SQLiteError) -> [String] {
    var problems: [String] = []
    if let table {
      let known = try prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
      known.bind(1, table)
      guard try known.firstRow({ _ in true }) != nil else { return [] }
    }
    do throws(SQLiteError) {
      try prepare("PRAGMA quick_check(\(table ?? "10"))").forEachRow { row in
        if row.text(0) != "ok", problems.count < 10 { problems.append(row.text(0)) }
        return true
      }
    } catch  where error.code.primary == .corrupt {
      problems.append(error.message)
    }
    return problems
  }
}
