public import WaybillModel
internal import WaybillSQLite

extension Ledger {
  /// Removes events from the log that are in a verified segment, and records where they went.
  ///
  /// One transaction: a crash leaves the log as it was, with the segment beside it, or without the
  /// events. The last event of each stream that stays goes on saying what became of the upload, and
  /// the hash of its bytes goes on answering "already uploaded".
  ///
  /// - Parameters:
  ///   - selection: what moves, as `LedgerReader.archivable` gave it.
  ///   - digest: the SHA-256 of the segment file, which must be on stable storage.
  /// - Returns: what was recorded; the segment's name follows from it.
  /// - Throws: `LedgerError`, `conflict` when some of it has moved before.
  public func archive(
    _ selection: ArchiveSelection, digest: ContentHash
  ) throws(LedgerError) -> Archived {
    let archived = Archived(
      first: selection.first, last: selection.last, count: selection.eventCount, digest: digest)
    _ = try openWriter().archive(selection, as: archived)
    announceChange()
    return archived
  }

  /// Removes uploads for good: their events, their hashes, and every row that names them.
  ///
  /// What was in the write-ahead log or in freed pages of the database is overwritten as well; a
  /// flash drive may keep older copies of a page. Segments are the caller's: those that hold one of
  /// the uploads are written anew without it first, and given as replacements.
  ///
  /// - Parameters:
  ///   - ids: which; unknown ones are passed over.
  ///   - isForced: whether an upload that has not ended goes too, and its bytes with it.
  ///   - replacements: the new segments, by the position of the `ledger.archived` of the old ones.
  /// - Returns: how many uploads and events went.
  /// - Throws: `LedgerError`, `notEnded` without `isForced`; then nothing was removed.
  @discardableResult
  public func purge(
    _ ids: [UploadID], isForced: Bool = false,
    replacing replacements: [GlobalPosition: Archived] = [:]
  ) throws(LedgerError) -> Purged {
    let purged = try openWriter().purge(ids, isForced: isForced, replacing: replacements)
    announceChange()
    return purged
  }
}

/// A trace segment the log speaks of.
public struct RecordedSegment: Equatable, Sendable {
  /// The position of the event that records it.
  public let position: GlobalPosition
  /// What the event says.
  public let archived: Archived
  /// The name of its file in the folder `archive` of the ledger.
  public var name: SegmentName { SegmentName(archived) }
}

extension LedgerReader {
  /// The segments that hold events of uploads the ledger still knows, in the order in which they
  /// were recorded; one that was written anew stands for the one before.
  public func segments() throws(LedgerError) -> [RecordedSegment] {
    try segments("SELECT archived FROM archived_streams", nil)
  }

  /// The segment that holds the beginning of an upload; nil while the log has all of it.
  public func segment(of id: UploadID) throws(LedgerError) -> RecordedSegment? {
    try segments(
      "SELECT archived FROM archived_streams"
        + " WHERE stream = (SELECT stream FROM streams WHERE upload = ?)", id
    ).first
  }

  /// The chain value of the event before a position, whether that is in the log or has left it;
  /// nil where the log cannot say.
  package func chain(before position: GlobalPosition) throws(LedgerError) -> ContentHash? {
    try read("reading the chain") { connection throws(SQLiteError) in
      try connection.chain(before: position.value)
    }
  }

  private func segments(
    _ positions: String, _ id: UploadID?
  ) throws(LedgerError) -> [RecordedSegment] {
    guard formatVersion >= 2 else { return [] }
    return try read("reading the list of segments") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
          + " WHERE e.position IN (\(positions)) ORDER BY e.position")
      if let id { statement.bind(1, id.description) }
      var segments: [RecordedSegment] = []
      try LogReading.each(statement) { event in
        guard case .ledger(.archived(let archived)) = event.body else { return }
        segments.append(RecordedSegment(position: event.position, archived: archived))
      }
      return segments
    }
  }

  /// Uploads with events in the log, in the order of adding.
  ///
  /// - Parameter limit: how many at most, up to `maximumPage`.
  public func recordedUploads(limit: Int) throws(LedgerError) -> [UploadID] {
    try read("listing uploads") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT upload FROM streams AS s"
          + " WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.stream = s.stream)"
          + " ORDER BY stream LIMIT ?")
      statement.bind(1, Int64(min(max(limit, 1), LedgerReader.maximumPage)))
      return try statement.ids()
    }
  }
}
