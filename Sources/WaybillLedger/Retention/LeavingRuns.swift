internal import WaybillHash
internal import WaybillModel
internal import WaybillSQLite

/// Runs of positions that leave the log, each with the chain value that leads across it.
struct LeavingRuns {
  private let runs: [(positions: ClosedRange<Int64>, chain: ContentHash)]

  /// Reads the chain values of events that are in the log.
  init(_ positions: [ClosedRange<Int64>], _ connection: Connection) throws(SQLiteError) {
    let chain = try connection.prepare("SELECT chain FROM events WHERE position = ?")
    var runs: [(ClosedRange<Int64>, ContentHash)] = []
    for run in positions {
      chain.bind(1, run.upperBound)
      let value = try chain.firstRow { EventCodec.hash($0, 0) }
      runs.append((run, (value ?? nil) ?? .zero))
    }
    self.runs = runs
  }

  /// Reads what an event has recorded as gone.
  init(recordedBy position: GlobalPosition, _ connection: Connection) throws(SQLiteError) {
    let ranges = try connection.prepare(
      "SELECT first, last, chain FROM archived_ranges WHERE recorded = ? ORDER BY first")
    ranges.bind(1, position.value)
    var runs: [(ClosedRange<Int64>, ContentHash)] = []
    try ranges.forEachRow { row in
      let first = row.int(0)
      runs.append((first...max(first, row.int(1)), EventCodec.hash(row, 2) ?? .zero))
      return true
    }
    self.runs = runs
  }

  /// What the event that records it says of it.
  var removed: RemovedRuns {
    let hasher = SHA256()
    var count: Int64 = 0
    for (positions, chain) in runs {
      count += Int64(positions.count)
      for bound in [positions.lowerBound, positions.upperBound] {
        withUnsafeBytes(of: bound.bigEndian) { hasher.update($0) }
      }
      chain.withBytes { hasher.update($0) }
    }
    return RemovedRuns(count: count, digest: hasher.finish())
  }

  /// Records the runs as gone, then deletes their events.
  func leave(_ connection: Connection, recorded position: GlobalPosition) throws(SQLiteError) {
    let range = try connection.prepare(
      "INSERT INTO archived_ranges (first, last, chain, recorded) VALUES (?, ?, ?, ?)")
    let delete = try connection.prepare("DELETE FROM events WHERE position BETWEEN ? AND ?")
    for (positions, chain) in runs {
      range.bind(1, positions.lowerBound)
      range.bind(2, positions.upperBound)
      chain.withBytes { range.bind(3, bytes: $0) }
      range.bind(4, position.value)
      try range.run()
      delete.bind(1, positions.lowerBound)
      delete.bind(2, positions.upperBound)
      try delete.run()
      guard connection.changedRows == positions.count else {
        throw SQLiteError(code: .constraint, message: "an event that is to leave is not there")
      }
    }
  }
}
