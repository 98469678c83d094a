internal import WaybillHash
public import WaybillModel
internal import WaybillSQLite

/// What `verify` found in a ledger.
public struct Verification: Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Hashable, Sendable {
    /// The stable word of the kind of finding, such as `chain_mismatch`.
    public let kind: String
    /// The position it was found at, where it has one.
    public let position: GlobalPosition?
    /// What was found, in words.
    public let message: String
  }

  /// How closely a ledger is looked at.
  public enum Depth: String, Sendable {
    /// Counts, structure, head mark and checkpoints. Sees what is missing, not what was changed.
    case fast
    /// Every event, the chain over them, every row that is derived from them, and every segment
    /// that others have moved into.
    case deep
  }

  /// How many findings are kept; more are only counted.
  public static let maximumFindings = 100

  /// How closely it was looked at.
  public let depth: Depth
  /// How many events there are.
  public internal(set) var events: Int64 = 0
  /// How many events have left the log for an archive, or for good.
  public internal(set) var archived: Int64 = 0
  /// The newest position.
  public internal(set) var head = GlobalPosition.start
  /// What is not as it should be, at most `maximumFindings`.
  public internal(set) var findings: [Finding] = []
  /// How many things are not as they should be.
  public internal(set) var findingCount = 0

  init(depth: Depth) { self.depth = depth }

  /// Whether everything that was looked at is as it should be.
  public var isSound: Bool { findingCount == 0 }

  mutating func add(_ kind: String, at position: GlobalPosition? = nil, _ message: String) {
    findingCount += 1
    guard findings.count < Verification.maximumFindings else { return }
    findings.append(Finding(kind: kind, position: position, message: message))
  }

  /// Goes on behind a part of the file that cannot be read, which is a finding, not the end.
  fileprivate mutating func tolerating(
    _ part: String, _ body: (inout Verification) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    do throws(SQLiteError) {
      try body(&self)
    } catch  where error.code.primary == .corrupt {
      add("database_damaged", "\(part) cannot be read to the end: \(error.message)")
    }
  }
}

extension LedgerReader {
  /// Checks the ledger and writes nothing.
  ///
  /// Deep reads the whole log once more and compares: the chain and the positions without a hole,
  /// the revisions of each stream, the head mark, and every projection with a fresh fold, row by
  /// row. Fast takes no event at its word and none apart: the structure of the file, counts instead
  /// of holes, the head mark, and how far each derived table says it is folded.
  ///
  /// One read transaction: what it says holds for one moment, also while events are appended.
  public func verify(
    _ depth: Verification.Depth = .deep
  ) throws(LedgerError) -> Verification {
    let mark = headMark
    var report = try read("verifying the ledger") { connection throws(SQLiteError) in
      var report = Verification(depth: depth)
      try connection.execute("BEGIN")
      defer { try? connection.execute("COMMIT") }
      for problem in try connection.structuralProblems() {
        report.add("database_damaged", problem)
      }
      switch depth {
      case .deep:
        try verifyLog(connection, mark, &report)
        try report.tolerating("streams") { (report) throws(SQLiteError) in
          try verifyStreams(connection, &report)
          if formatVersion >= 2 { try report.checkArchive(connection) }
        }
        try report.tolerating("derived tables") { (report) throws(SQLiteError) in
          try verifyProjections(connection, &report)
        }
      case .fast:
        try report.tolerating("the log") { (report) throws(SQLiteError) in
          try countLog(connection, mark, &report)
          try verifyStreams(connection, &report)
          if formatVersion >= 2 { try report.checkArchive(connection) }
        }
        try verifyCheckpoints(connection, &report)
      }
      return report
    }
    if depth == .deep { try checkSegments(&report) }
    return report
  }

  private func countLog(
    _ connection: Connection, _ mark: HeadMark.Reading, _ report: inout Verification
  ) throws(SQLiteError) {
    let counts = try connection.prepare("SELECT count(*), max(position) FROM events")
    let (events, last) = try counts.firstRow { ($0.int(0), $0.int(1)) } ?? (0, 0)
    report.events = events
    report.archived = try archivedCount(connection)
    report.head = GlobalPosition(last)
    if events + report.archived != last {
      report.add(
        "gap",
        "the log has \(events) events, and \(report.archived) have left it,"
          + " but its newest position is \(last)")
    }
    try compare(mark, connection, &report)
  }

  private func verifyCheckpoints(
    _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    let newest = try connection.newestEvent()
    for projection in Projections.derived {
      guard let checkpoint = connection.checkpoint(of: projection) else { continue }
      if !checkpoint.isAt(newest) || !projection.isUsable(connection) {
        report.add(
          "projection_behind",
          "the table \(projection.name) is not folded up to the head; the next launch sees to it")
      }
    }
  }

  private func verifyLog(
    _ connection: Connection, _ mark: HeadMark.Reading, _ report: inout Verification
  ) throws(SQLiteError) {
    var found = report
    var chain = EventChain(value: .zero)
    let gaps = try ArchivedGaps(connection, hasRanges: formatVersion >= 2)
    var isChainBroken = false
    let statement = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source) ORDER BY e.position")
    do throws(SQLiteError) {
      try statement.forEachRow { row in
        let event = EventCodec.event(row, of: EventCodec.upload(row))
        let position = event.position
        if position != found.head.next {
          if let chainAcross = gaps.chain(from: found.head, to: position) {
            chain.reset(to: chainAcross)
            found.archived += position.value - found.head.value - 1
          } else {
            found.add(
              "gap", at: position,
              "events between \(found.head.value) and \(position.value) are missing")
          }
        }
        found.head = position
        found.events += 1
        let stored = EventCodec.hash(row, EventCodec.chainColumn)
        if chain.advance(over: event) != stored {
          if !isChainBroken {
            found.add(
              "chain_mismatch", at: position,
              "event \(position.value) is not what was recorded; events before it are sound")
          }
          isChainBroken = true
          chain.reset(to: stored ?? .zero)
        } else {
          isChainBroken = false
        }
        if case .unreadable(let problem) = event.body {
          found.add("event_unreadable", at: position, "\(event.kindName): \(problem)")
        }
        return true
      }
    } catch  where error.code.primary == .corrupt {
      found.add(
        "log_unreadable", at: found.head.next,
        "events behind \(found.head.value) cannot be read (\(error.message));"
          + " those before them are as told here")
    }
    report = found
    try compare(mark, connection, &report)
  }

  private func compare(
    _ mark: HeadMark.Reading, _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    switch mark {
    case .absent: break
    case .unreadable:
      report.add(
        "head_mark_unreadable", "the head mark cannot be read; the next launch rewrites it")
    case .mark(let mark) where mark.position > report.head:
      report.add(
        "tail_lost", at: report.head,
        "the log ends at \(report.head.value), but its head mark knew \(mark.position.value)")
    case .mark(let mark):
      guard mark.position != .start else { return }
      if try !connection.knows(mark, hasRanges: formatVersion >= 2) {
        report.add(
          "head_mark_mismatch", at: mark.position,
          "event \(mark.position.value) is not the one its head mark knew")
      }
    }
  }

  private func verifyStreams(
    _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    var found = report
    defer { report = found }
    let archived = formatVersion >= 2 ? "archived_streams" : "(SELECT 0 AS stream, 0 AS removed)"
    let statement = try connection.prepare(
      "SELECT e.stream, count(*), max(revision) FROM events AS e"
        + " LEFT JOIN \(archived) AS a ON a.stream = e.stream GROUP BY e.stream"
        + " HAVING count(*) + coalesce(max(a.removed), 0) <> max(revision)"
        + " OR min(revision) <> 1 + coalesce(max(a.removed), 0) LIMIT 100")
    try statement.forEachRow { row in
      found.add(
        "revision_gap",
        "stream \(row.int(0)) has \(row.int(1)) events but its newest revision is \(row.int(2))")
      return true
    }
  }

  private func verifyProjections(
    _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    var found = report
    defer { report = found }
    try ProjectionComparison.compare(connection) { difference in
      found.add(
        difference.kind == .unusable ? "projection_damaged" : "projection_differs",
        difference.message)
    }
  }
}

extension LedgerReader {
  /// The rows of derived tables that are not what the log says; writes nothing.
  ///
  /// - Parameter limit: how many are given at most.
  /// - Returns: the differences in the order of the uploads, and how many there are in all.
  public func projectionDifferences(
    limit: Int = LedgerReader.maximumPage
  ) throws(LedgerError) -> (rows: [ProjectionDifference], count: Int) {
    try read("comparing derived tables with the log") { connection throws(SQLiteError) in
      try connection.execute("BEGIN")
      defer { try? connection.execute("COMMIT") }
      var rows: [ProjectionDifference] = []
      var count = 0
      try ProjectionComparison.compare(connection) { difference in
        count += 1
        if rows.count < limit { rows.append(difference) }
      }
      return (rows, count)
    }
  }
}

extension ProjectionDifference {
  /// The difference in words, with what to do about it.
  public var message: String {
    let row = upload.map { "the row of \($0) in \(projection)" } ?? "a row in \(projection)"
    return switch kind {
    case .missing: "\(row) is missing; 'waybill rebuild' folds it anew"
    case .surplus: "\(row) is not what the log says; 'waybill rebuild' removes it"
    case .differs: "\(row) is not what the log says; 'waybill rebuild' folds it anew"
    case .unusable: "the table \(projection) cannot be used; the next launch folds it anew"
    }
  }
}
