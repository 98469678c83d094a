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
    let newest = try connection.newestEvent()
    var done: [String: Work] = [:]
    for projection in Projections.derived {
      let checkpoint = connection.checkpoint(of: projection)
      let isUsable = projection.isUsable(connection)
      if isUsable, checkpoint?.isAt(newest) ?? false {
        done[projection.name] = .ready
        continue
      }
      let isBehind = checkpoint.map { $0.position <= newest.position } ?? false
      let seen = isUsable && isBehind ? try connection.tail(behind: checkpoint) : nil
      try bringUp(projection, connection, from: seen, to: newest.position, launch: nil)
      done[projection.name] = seen == nil ? .rebuilt : .caughtUp
    }
    return done
  }

  /// Drops one projection and folds the whole log into it, in one transaction; the launch goes on
  /// keeping it up.
  static func rebuild(
    _ projection: any DerivedTable.Type, _ connection: Connection, launch: LaunchGeneration
  ) throws(SQLiteError) {
    let head = try connection.newestEvent().position
    try bringUp(projection, connection, from: nil, to: head, launch: launch)
  }

  private static func bringUp(
    _ projection: any DerivedTable.Type, _ connection: Connection, from seen: Int64?,
    to head: Int64, launch: LaunchGeneration?
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
      try connection.setCheckpoint(of: projection, position: head, launch: launch)
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

/// How far a derived table has seen the log, and who keeps it up since.
struct Checkpoint {
  /// The position up to which it was folded when this was written.
  let position: Int64
  /// The launch that has written its rows in every transaction since; nil where none has.
  let launch: Int64?

  /// Whether the table is as new as the log that ends with an event.
  func isAt(_ newest: (position: Int64, launch: Int64?)) -> Bool {
    if position == newest.position { return true }
    return position < newest.position && launch != nil && launch == newest.launch
  }
}

extension Connection {
  /// The position of the newest event, 0 without one, and the launch that recorded it.
  func newestEvent() throws(SQLiteError) -> (position: Int64, launch: Int64?) {
    try prepare("SELECT position, launch FROM events ORDER BY position DESC LIMIT 1")
      .firstRow { ($0.int(0), $0.int(1)) } ?? (0, nil)
  }

  /// The position of a checkpoint, where folding the events behind it brings a table up; nil where
  /// some have left the log since, and took with them which rows are to go.
  fileprivate func tail(behind checkpoint: Checkpoint?) throws(SQLiteError) -> Int64? {
    guard let checkpoint else { return nil }
    return try hasRemoval(behind: checkpoint.position) ? nil : checkpoint.position
  }

  /// The checkpoint of a derived table; nil where there is none of the version this code writes.
  func checkpoint(of projection: any DerivedTable.Type) -> Checkpoint? {
    let columns = ["version, position, launch", "version, position, NULL"]  // format 2, format 1
    let statement = columns.lazy.compactMap {
      try? self.prepare("SELECT \($0) FROM projections WHERE name = ?")
    }.first
    guard let statement else { return nil }
    statement.bind(1, projection.name)
    let row = try? statement.firstRow { ($0.int(0), $0.int(1), $0.optionalInt(2)) }
    guard let row, row.0 == projection.version else { return nil }
    return Checkpoint(position: row.1, launch: row.2)
  }

  fileprivate func setCheckpoint(
    of projection: any DerivedTable.Type, position: Int64, launch: LaunchGeneration?
  ) throws(SQLiteError) {
    let statement = try prepare(
      "INSERT INTO projections (name, version, position, launch) VALUES (?, ?, ?, ?)"
        + " ON CONFLICT (name) DO UPDATE SET version = excluded.version,"
        + " position = excluded.position, launch = excluded.launch")
    statement.bind(1, projection.name)
    statement.bind(2, projection.version)
    statement.bind(3, position)
    statement.bind(4, launch?.value)
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
