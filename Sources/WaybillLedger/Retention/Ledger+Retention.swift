package import WaybillModel
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
  package func archive(
    _ selection: ArchiveSelection, digest: ContentHash
  ) throws(LedgerError) -> Archived {
    let archived = try openWriter().archive(selection, digest: digest)
    announceChange()
    return archived
  }

  /// Removes uploads for good: their events, their hashes, and every row that is derived from them.
  /// Their ids stay in the table `streams`.
  ///
  /// Segments are the caller's: those that hold one of the uploads are written anew without it
  /// first, and given as replacements.
  ///
  /// - Parameters:
  ///   - ids: which; those without events are passed over.
  ///   - isForced: whether an upload that has not ended goes too, and its bytes with it.
  ///   - replacements: the new segments, by the position of the `ledger.archived` of the old ones.
  /// - Returns: what was recorded; and whether the write-ahead log was emptied, which a reader that
  ///   holds it for more than five seconds prevents.
  /// - Throws: `LedgerError`, `notEnded` without `isForced`; then nothing was removed.
  @discardableResult
  package func purge(
    _ ids: [UploadID], isForced: Bool = false,
    replacing replacements: [GlobalPosition: Archived] = [:]
  ) throws(LedgerError) -> (purged: Purged, isErased: Bool) {
    let result = try openWriter().purge(ids, isForced: isForced, replacing: replacements)
    announceChange()
    return result
  }
}

/// A trace segment the log speaks of.
package struct RecordedSegment: Equatable, Sendable {
  /// The position of the event that records it.
  package let position: GlobalPosition
  /// What the event says.
  package let archived: Archived
  /// The name of its file in the folder `archive` of the ledger.
  package var name: SegmentName { SegmentName(archived) }
}

extension LedgerReader {
  /// The segments that hold events of uploads the ledger still knows, in the order in which they
  /// were recorded; one that was written anew stands for the one before.
  package func segments() throws(LedgerError) -> [RecordedSegment] {
    try segments("SELECT archived FROM archived_streams", nil)
  }

  /// The segment that holds the beginning of an upload; nil while the log has all of it.
  package func segment(of id: UploadID) throws(LedgerError) -> RecordedSegment? {
    try segments(
      "SELECT archived FROM archived_streams"
        + " WHERE stream = (SELECT stream FROM streams WHERE upload = ?)", id
    ).first
  }

  /// How many uploads have the beginning of their history in a segment.
  package func archivedUploadCount() throws(LedgerError) -> Int64 {
    guard formatVersion >= 2 else { return 0 }
    return try read("counting archived uploads") { connection throws(SQLiteError) in
      try connection.integer("SELECT count(*) FROM archived_streams") ?? 0
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
  package func recordedUploads(limit: Int) throws(LedgerError) -> [UploadID] {
    try read("listing uploads") { connection throws(SQLiteError) in
      let statement = try connection.prepare(
        "SELECT upload FROM streams AS s"
          + " WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.stream = s.stream)"
          + " ORDER BY stream LIMIT ?")
      statement.bind(1, Int64(min(max(limit, 1), LedgerReader.maximumPage)))
      return try statement.ids()
    }
  }

  /// Every segment that was ever recorded, in the order of position, also those that others have
  /// replaced since.
  package func segmentsOnRecord() throws(LedgerError) -> [RecordedSegment] {
    var query = EventQuery()
    query.kinds = [EventKind.ledgerArchived.rawValue]
    var segments: [RecordedSegment] = []
    while true {
      let page = try events(query)
      for event in page {
        guard case .ledger(.archived(let archived)) = event.body else { continue }
        segments.append(RecordedSegment(position: event.position, archived: archived))
      }
      guard page.count == LedgerReader.maximumPage, let last = page.last else { return segments }
      query.after = last.position
    }
  }
}
