public import WaybillModel
internal import WaybillSQLite

/// Which events of the log are wanted.
public struct EventQuery: Sendable {
  /// Only those behind this position.
  public var after: GlobalPosition?
  /// Only those before this position.
  public var before: GlobalPosition?
  /// Only those of this upload.
  public var upload: UploadID?
  /// Only those of these stored kinds; all when empty.
  public var kinds: [String] = []
  /// Only those recorded at or after this moment.
  public var since: Timestamp?
  /// Only those recorded before this moment.
  public var until: Timestamp?
  /// Only those of this launch.
  public var launch: LaunchGeneration?
  /// Newest first.
  public var isReversed = false

  /// Wants every event, oldest first.
  public init() {}
}

extension LedgerReader {
  /// One page of the log.
  ///
  /// - Parameters:
  ///   - query: which events, and in which order.
  ///   - limit: how many at most, up to `maximumPage`.
  /// - Returns: the events in order of position, or the other way round if the query says so. For
  ///   the next page set `after`, or `before` if the query is reversed, to the last position.
  public func events(
    _ query: EventQuery, limit: Int = LedgerReader.maximumPage
  ) throws(LedgerError) -> [RecordedEvent] {
    try read("reading the log") { connection throws(SQLiteError) in
      var conditions = ["e.position > ?1"]
      if query.upload != nil {
        conditions.append("e.stream = (SELECT stream FROM streams WHERE upload = ?2)")
      }
      if query.since != nil { conditions.append("e.recorded_at >= ?3") }
      if query.until != nil { conditions.append("e.recorded_at < ?4") }
      if query.launch != nil { conditions.append("e.launch = ?5") }
      if query.before != nil { conditions.append("e.position < ?7") }
      let kinds = query.kinds.indices.map { "?\($0 + 8)" }.joined(separator: ", ")
      if !query.kinds.isEmpty { conditions.append("e.kind IN (\(kinds))") }
      let statement = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE \(conditions.joined(separator: " AND "))"
          + " ORDER BY e.position \(query.isReversed ? "DESC" : "ASC") LIMIT ?6")
      statement.bind(1, query.after?.value ?? 0)
      if let upload = query.upload { statement.bind(2, upload.description) }
      if let since = query.since { statement.bind(3, since.microseconds) }
      if let until = query.until { statement.bind(4, until.microseconds) }
      if let before = query.before { statement.bind(7, before.value) }
      if let launch = query.launch { statement.bind(5, launch.value) }
      statement.bind(6, Int64(min(max(limit, 1), LedgerReader.maximumPage)))
      for (index, kind) in query.kinds.enumerated() { statement.bind(Int32(index + 8), kind) }
      var events: [RecordedEvent] = []
      try LogReading.each(statement) { events.append($0) }
      return events
    }
  }
}
