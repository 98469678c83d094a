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

  /// How many findings are kept; more are only counted.
  public static let maximumFindings = 100

  /// How many events were read.
  public internal(set) var events: Int64 = 0
  /// The newest position.
  public internal(set) var head = GlobalPosition.start
  /// What is not as it should be, at most `maximumFindings`.
  public internal(set) var findings: [Finding] = []
  /// How many things are not as they should be.
  public internal(set) var findingCount = 0

  /// Whether everything is as it should be.
  public var isSound: Bool { findingCount == 0 }

  mutating func add(_ kind: String, at position: GlobalPosition? = nil, _ message: String) {
    findingCount += 1
    guard findings.count < Verification.maximumFindings else { return }
    findings.append(Finding(kind: kind, position: position, message: message))
  }
}

extension LedgerReader {
  /// Reads the whole log once more and compares: the chain and the positions without a hole, the
  /// revisions of each stream, the head mark, and every projection with a fresh fold, row by row.
  ///
  /// One read transaction: what it says holds for one moment, also while events are appended.
  public func verify() throws(LedgerError) -> Verification {
    let mark = headMark
    return try read("verifying the ledger") { connection throws(SQLiteError) in
      var report = Verification()
      try connection.execute("BEGIN")
      defer { try? connection.execute("COMMIT") }
      stage("database_damaged", &report) { (report) throws(SQLiteError) in
        for problem in try connection.structuralProblems() {
          report.add("database_damaged", problem)
        }
      }
      stage("log_unreadable", &report) { (report) throws(SQLiteError) in
        try verifyLog(connection, mark, &report)
      }
      stage("log_unreadable", &report) { (report) throws(SQLiteError) in
        try verifyStreams(connection, &report)
      }
      stage("projection_damaged", &report) { (report) throws(SQLiteError) in
        try verifyProjections(connection, &report)
      }
      return report
    }
  }

  /// Runs one part of the verification; damage that ends it is a finding like any other, and what
  /// was found before is kept.
  private func stage(
    _ kind: String, _ report: inout Verification,
    _ body: (inout Verification) throws(SQLiteError) -> Void
  ) {
    do throws(SQLiteError) {
      try body(&report)
    } catch {
      report.add(
        kind, at: report.head,
        "reading stopped behind event \(report.head.value): \(error.message); events before it are"
          + " sound as far as they were read")
    }
  }

  private func verifyLog(
    _ connection: Connection, _ mark: HeadMark.Reading, _ report: inout Verification
  ) throws(SQLiteError) {
    var chain = EventChain(value: .zero)
    var isChainBroken = false
    var chainAtMark: ContentHash?
    let statement = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source) ORDER BY e.position")
    try statement.forEachRow { row in
      let event = EventCodec.read(row)
      let position = GlobalPosition(event.position)
      if position != report.head.next {
        report.add(
          "gap", at: position,
          "events between \(report.head.value) and \(position.value) are missing")
      }
      report.head = position
      report.events += 1
      let stored = row.withBytes(EventCodec.chainColumn) {
        $0.count == 32 ? ContentHash(unchecked: $0) : nil
      }
      if chain.advance(over: event) != stored {
        if !isChainBroken {
          report.add(
            "chain_mismatch", at: position,
            "event \(position.value) is not what was recorded; events before it are sound")
        }
        isChainBroken = true
        chain.reset(to: stored ?? .zero)
      } else {
        isChainBroken = false
      }
      if case .mark(let mark) = mark, mark.position == position { chainAtMark = stored }
      if case .unreadable(let problem) = event.recorded.body {
        report.add("event_unreadable", at: position, "\(event.kindName): \(problem)")
      }
      return true
    }
    compare(mark, chainAtMark, &report)
  }

  private func compare(
    _ mark: HeadMark.Reading, _ chainAtMark: ContentHash?, _ report: inout Verification
  ) {
    switch mark {
    case .absent: break
    case .unreadable:
      report.add(
        "head_mark_unreadable", "the head mark cannot be read; the next launch rewrites it")
    case .mark(let mark) where mark.position > report.head:
      report.add(
        "tail_lost", at: report.head,
        "the log ends at \(report.head.value), but its head mark knew \(mark.position.value)")
    case .mark(let mark) where mark.position != .start && chainAtMark != mark.chain:
      report.add(
        "head_mark_mismatch", at: mark.position,
        "event \(mark.position.value) is not the one its head mark knew")
    case .mark: break
    }
  }

  private func verifyStreams(
    _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    let statement = try connection.prepare(
      "SELECT stream, count(*), max(revision) FROM events GROUP BY stream"
        + " HAVING count(*) <> max(revision) LIMIT 100")
    try statement.forEachRow { row in
      report.add(
        "revision_gap",
        "stream \(row.int(0)) has \(row.int(1)) events but its newest revision is \(row.int(2))")
      return true
    }
  }

  private func verifyProjections(
    _ connection: Connection, _ report: inout Verification
  ) throws(SQLiteError) {
    try ProjectionComparison.compare(connection) { difference in
      report.add(
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

extension Connection {
  /// What SQLite's own check finds, at most ten lines; empty when the file is sound.
  fileprivate func structuralProblems() throws(SQLiteError) -> [String] {
    var problems: [String] = []
    let statement = try prepare("PRAGMA quick_check(10)")
    try statement.forEachRow { row in
      if row.text(0) != "ok" { problems.append(row.text(0)) }
      return true
    }
    return problems
  }
}
