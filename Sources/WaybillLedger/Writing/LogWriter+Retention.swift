internal import WaybillHash
internal import WaybillModel
internal import WaybillSQLite

/// Events leave the log: the only way is through here, in the transaction that records it.
extension LogWriter {
  /// Removes the events of a selection that are in a segment now, and says where they went.
  ///
  /// - Throws: `conflict` when a stream of it has moved before; nothing was removed then.
  func archive(
    _ selection: ArchiveSelection, digest: ContentHash
  ) throws(LedgerError) -> Archived {
    try ensureOpen()
    for stream in selection.streams where try hasMoved(stream.stream) {
      throw LedgerError(
        .conflict, "some of these uploads have moved into another segment",
        remedy: "look again what is to be moved")
    }
    let leaving = try runs(selection.leaving)
    let archived = Archived(
      first: selection.first, last: selection.last, count: selection.eventCount, digest: digest,
      removed: leaving.removed)
    let position = head.next
    try commit([EventDraft(.archived(archived), cause: .command)]) {
      connection throws(SQLiteError) in
      try leaving.leave(connection, recorded: position)
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
    // A reader may hold it: that is no reason to wait, since nothing is to be erased.
    checkpoint(truncate: false)
    return archived
  }

  /// Removes all events of some uploads for good, with every row that is derived from them.
  ///
  /// - Parameters:
  ///   - ids: which; those without events are passed over.
  ///   - isForced: whether those that have not ended go too.
  ///   - replacements: segments that were written anew without them, by the position of the
  ///     `ledger.archived` of the old ones.
  /// - Returns: what was recorded, and whether nothing of it is left in the write-ahead log.
  func purge(
    _ ids: [UploadID], isForced: Bool, replacing replacements: [GlobalPosition: Archived]
  ) throws(LedgerError) -> (purged: Purged, isErased: Bool) {
    defer { cache.trim() }
    try ensureOpen()
    var streams: [Int64] = []
    for id in ids {
      guard let entry = try entryToPurge(id), let stream = entry.stream,
        entry.upload.revision != .none
      else { continue }
      guard isForced || entry.upload.ending != nil else { throw Self.notEnded(id) }
      streams.append(stream)
    }
    let leaving = try runs(try positions(of: streams))
    let purged = Purged(uploads: Int64(streams.count), removed: leaving.removed)
    let replaced = replacements.sorted { $0.key < $1.key }
    var drafts: [EventDraft] = []
    var positions: [GlobalPosition: GlobalPosition] = [:]
    var position = head
    for (old, new) in replaced {
      position = position.next
      positions[old] = position
      drafts.append(EventDraft(.archived(new), cause: .command, compensates: old))
    }
    position = position.next
    drafts.append(EventDraft(.purged(purged), cause: .command))
    try commit(drafts) { connection throws(SQLiteError) in
      try leaving.leave(connection, recorded: position)
      try forget(streams, connection)
      let moved = try connection.prepare(
        "UPDATE archived_streams SET archived = ? WHERE archived = ?")
      for (old, new) in positions {
        moved.bind(1, new.value)
        moved.bind(2, old.value)
        try moved.run()
      }
    }
    for id in ids { cache.remove(id) }
    return (purged, checkpoint(truncate: true))
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
    _ drafts: [EventDraft], after work: (Connection) throws(SQLiteError) -> Void
  ) throws(LedgerError) {
    let request = AppendRequest(upload: nil, expected: .any, drafts: drafts, ids: nil)
    _ = try transact([request], after: work)[0].get()
  }

  private func forget(_ streams: [Int64], _ connection: Connection) throws(SQLiteError) {
    let moved = try connection.prepare("DELETE FROM archived_streams WHERE stream = ?")
    let progress = try connection.prepare("DELETE FROM progress WHERE stream = ?")
    for stream in streams {
      for statement in [moved, progress] {
        statement.bind(1, stream)
        try statement.run()
      }
      for table in tables { try table.clear(stream: stream) }
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

  // MARK: Looking before removing

  private static func notEnded(_ id: UploadID) -> LedgerError {
    LedgerError(
      .notEnded, "upload \(id) has not ended: its bytes may be nowhere else",
      remedy: "cancel it first, or let it be committed")
  }

  private func looking<T>(_ body: () throws(SQLiteError) -> T) throws(LedgerError) -> T {
    do throws(SQLiteError) {
      return try body()
    } catch {
      throw LedgerError(error, doing: "looking for what is to be removed")
    }
  }

  private func hasMoved(_ stream: Int64) throws(LedgerError) -> Bool {
    try looking { () throws(SQLiteError) in
      statements.archived.bind(1, stream)
      return try statements.archived.firstRow { _ in true } != nil
    }
  }

  private func entryToPurge(_ id: UploadID) throws(LedgerError) -> FoldCache.Entry? {
    try looking { () throws(SQLiteError) in try load(id) }
  }

  private func runs(_ positions: [ClosedRange<Int64>]) throws(LedgerError) -> LeavingRuns {
    try looking { () throws(SQLiteError) in try LeavingRuns(positions, connection) }
  }

  private func positions(of streams: [Int64]) throws(LedgerError) -> [ClosedRange<Int64>] {
    try looking { () throws(SQLiteError) in
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
    }
  }
}
