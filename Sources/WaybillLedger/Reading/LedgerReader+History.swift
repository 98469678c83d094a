public import WaybillModel
internal import WaybillSQLite

/// The past: what the ledger would say if it ended earlier. The same events, the same fold.
extension LedgerReader {
  /// One upload as it was at a revision of its stream; nil when it had no events by then.
  public func upload(
    _ id: UploadID, at revision: StreamRevision
  ) throws(LedgerError) -> Upload? {
    try read("reading an upload as it was") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE e.stream = (SELECT stream FROM streams WHERE upload = ?1)"
          + " AND e.revision <= ?2 ORDER BY e.revision")
      statement.bind(1, id.description)
      statement.bind(2, revision.value)
      var upload = Upload(id: id)
      try LogReading.each(statement) { upload.evolve($0) }
      return upload.revision == .none ? nil : upload
    }
  }

  /// Every upload as it was at a position, one after the other in the order of adding, so that only
  /// one is in memory at a time.
  ///
  /// One read transaction: what it says is of one moment, also while events are appended.
  ///
  /// - Parameters:
  ///   - position: the last event that counts.
  ///   - body: called with each upload that had events by then.
  public func forEachUpload(
    at position: GlobalPosition, _ body: (Upload) -> Void
  ) throws(LedgerError) {
    try read("reading the ledger as it was") { connection throws(SQLiteError) in
      try LogReading.eachUpload(connection, where: "e.position <= \(position.value)") {
        upload, _ throws(SQLiteError) in body(upload)
      }
    }
  }

  /// The ledger's own stream as it was at a position.
  public func state(at position: GlobalPosition) throws(LedgerError) -> LedgerState {
    try read("reading the ledger's state as it was") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE e.stream = 0 AND e.position <= ? ORDER BY e.revision")
      statement.bind(1, position.value)
      var state = LedgerState()
      try LogReading.each(statement) { state.evolve($0) }
      return state
    }
  }

  /// The position of the newest event recorded at or before a moment; `start` when there is none.
  public func position(at time: Timestamp) throws(LedgerError) -> GlobalPosition {
    try read("looking for a moment in the log") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT max(position) FROM events WHERE recorded_at <= ?")
      statement.bind(1, time.microseconds)
      let newest = try statement.firstRow { $0.optionalInt(0) } ?? nil
      return GlobalPosition(newest ?? 0)
    }
  }
}
