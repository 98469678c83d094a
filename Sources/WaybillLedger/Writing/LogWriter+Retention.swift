internal import WaybillModel
internal import WaybillSQLite

/// Events leave the log: the only way is through here, in the transaction that records it.
extension LogWriter {
  /// Removes the events of a selection that are in a segment now, and says where they went.
  func archive(
    _ selection: ArchiveSelection, as archived: Archived
  ) throws(LedgerError) -> RecordedEvent {
    let position = head.next
    let recorded = try commit([.archived(archived)]) { connection throws(SQLiteError) in
      try remove(selection.leaving, connection)
      let moved = try connection.prepare(
        "INSERT INTO archived_streams (stream, removed, archived) VALUES (?, ?, ?)")
      for (upload, stream) in zip(selection.uploads, selection.streams) {
        moved.bind(1, stream.stream)
        moved.bind(2, stream.removed)
        moved.bind(3, position.value)
        try moved.run()
        try writeRows(of: upload, stream: stream.stream)
      }
    }
    return recorded[0]
  }

  /// Removes all events of some uploads for good, with every row that is derived from them.
  ///
  /// - Parameters:
  ///   - ids: which; unknown ones are passed over.
  ///   - isForced: whether those that have not ended go too.
  ///   - replacements: segments that were written anew without them, by the position of the
  ///     `ledger.archived` of the old ones.
  /// - Returns: what was recorded last.
  func purge(
    _ ids: [UploadID], isForced: Bool, replacing replacements: [GlobalPosition: Archived]
  ) throws(LedgerError) -> Purged {
    defer { cache.trim() }
    var streams: [Int64] = []
    for id in ids {
      guard let entry = try entryToPurge(id), let stream = entry.stream else { continue }
      guard isForced || entry.upload.ending != nil else { throw Self.notEnded(id) }
      streams.append(stream)
    }
    let leaving = try positions(of: streams)
    let purged = Purged(
      uploads: Int64(streams.count), count: leaving.reduce(0) { $0 + Int64($1.count) })
    let replaced = replacements.sorted { $0.key < $1.key }
    let facts = replaced.map { LedgerEvent.archived($0.value) } + [.purged(purged)]
    var position = head
    _ = try commit(facts) { connection throws(SQLiteError) in
      try remove(leaving, connection)
      let moved = try connection.prepare(
        "UPDATE archived_streams SET archived = ? WHERE archived = ?")
      let forgotten = try connection.prepare("DELETE FROM archived_streams WHERE stream = ?")
      for stream in streams {
        forgotten.bind(1, stream)
        try forgotten.run()
        for table in tables { try table.clear(stream: stream) }
      }
      for (old, _) in replaced {
        position = position.next
        moved.bind(1, position.value)
        moved.bind(2, old.value)
        try moved.run()
      }
    }
    for id in ids { cache.remove(id) }
    return purged
  }

  /// Refuses events with ids of their own where they may be in a segment already: an id is unique
  /// for ever.
  func unknowable(_ entry: FoldCache.Entry) throws(SQLiteError) -> LedgerError? {
    guard let stream = entry.stream else { return nil }
    statements.archived.bind(1, stream)
    guard try statements.archived.firstRow({ _ in true }) != nil else { return nil }
    return LedgerError(
      .archived, "the upload has ended and its first events are in an archive",
      remedy: "look for these event ids in its segment")
  }

  private func commit(
    _ facts: [LedgerEvent], after work: (Connection) throws(SQLiteError) -> Void
  ) throws(LedgerError) -> [RecordedEvent] {
    let request = AppendRequest(
      upload: nil, expected: .any, drafts: facts.map { EventDraft($0, cause: .command) }, ids: nil)
    let recorded = try transact([request], after: work)[0].get()
    // What was deleted is still in the write-ahead log until it is emptied.
    checkpoint(truncate: true)
    return recorded
  }

  /// Records the runs as gone, each with the chain value that leads across it, then deletes them.
  private func remove(
    _ runs: [ClosedRange<Int64>], _ connection: Connection
  ) throws(SQLiteError) {
    let range = try connection.prepare(
      "INSERT INTO archived_ranges (first, last, chain)"
        + " VALUES (?1, ?2, (SELECT chain FROM events WHERE position = ?2))")
    let delete = try connection.prepare("DELETE FROM events WHERE position BETWEEN ? AND ?")
    for run in runs {
      for statement in [range, delete] {
        statement.bind(1, run.lowerBound)
        statement.bind(2, run.upperBound)
        try statement.run()
      }
    }
  }

  /// Writes the derived rows of an upload as what is left of its stream says.
  private func writeRows(of id: UploadID, stream: Int64) throws(SQLiteError) {
    cache.remove(id)
    defer { cache.remove(id) }
    let upload = try load(id).upload
    for table in tables {
      try table.clear(stream: stream)
      try table.write(upload, stream: stream, before: nil)
    }
  }

  private static func notEnded(_ id: UploadID) -> LedgerError {
    LedgerError(
      .notEnded, "upload \(id) has not ended: its bytes may be nowhere else",
      remedy: "cancel it first, or let it be committed")
  }

  private func entryToPurge(_ id: UploadID) throws(LedgerError) -> FoldCache.Entry? {
    do throws(SQLiteError) {
      return try load(id)
    } catch {
      throw LedgerError(error, doing: "looking for an upload to purge")
    }
  }

  private func positions(of streams: [Int64]) throws(LedgerError) -> [ClosedRange<Int64>] {
    do throws(SQLiteError) {
      let events = try connection.prepare("SELECT position FROM events WHERE stream = ?")
      var positions: [Int64] = []
      for stream in streams {
        events.bind(1, stream)
        try events.forEachRow { row in
          positions.append(row.int(0))
          return true
        }
      }
      return [ClosedRange](positions: positions)
    } catch {
      throw LedgerError(error, doing: "reading an upload to purge")
    }
  }
}
