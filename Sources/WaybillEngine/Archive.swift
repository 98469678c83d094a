public import WaybillLedger
public import WaybillModel
internal import WaybillSystem
internal import WaybillTrace

/// Moves ended uploads out of a ledger into trace segments, and removes uploads for good.
///
/// A segment is a trace (`schema/trace.md`) in the folder `archive` of the ledger. It is written,
/// held against the ledger's chain, put on stable storage and read again from its first byte to its
/// last before one event leaves the log; a crash at any moment leaves the events in both or in the
/// log alone. The ledger goes on answering what became of an archived upload, and that its bytes
/// are stored.
///
/// One call at a time works on a ledger; others wait. An engine may go on: what has ended is none
/// of its work. It must not while everything is purged.
public struct Archive: Sendable {
  /// One segment that was written.
  public struct Segment: Equatable, Sendable {
    /// Its file in the folder `archive`.
    public let name: SegmentName
    /// How many uploads moved into it.
    public let uploads: Int
    /// How many events it holds.
    public let events: Int64
    /// How many of them left the log.
    public let removed: Int64
    /// The length of the file in bytes.
    public let byteCount: Int64
  }

  /// What an archive came to.
  public struct Result: Equatable, Sendable {
    /// The segments that were written, oldest first.
    public internal(set) var segments: [Segment] = []
    /// Uploads that no segment can hold, since one of their events is too long for a line.
    public internal(set) var skipped: [UploadID] = []
    /// Whether files that nobody needs were kept, since the ledger is not sound or a segment is
    /// missing; `verify` says what is wrong.
    public internal(set) var keptFiles = false
  }

  /// What a purge came to.
  public struct Removal: Equatable, Sendable {
    /// How many uploads went.
    public internal(set) var uploads: Int64 = 0
    /// How many events left the log.
    public internal(set) var events: Int64 = 0
    /// Whether nothing of them is left in the write-ahead log. A reader that holds it keeps it from
    /// being emptied; the next launch does it.
    public internal(set) var isErased = true
    /// Whether segments that may hold them were kept, since the ledger is not sound or a segment is
    /// missing; `verify` says what is wrong.
    public internal(set) var keptFiles = false
  }

  private let ledger: Ledger
  private let files: SegmentFiles
  private let clock: @Sendable () -> Timestamp

  /// Makes the archive of a ledger.
  ///
  /// - Parameters:
  ///   - ledger: the ledger, opened by this process.
  ///   - app: the app and its version, written into each segment.
  ///   - clock: the current time.
  public init(
    ledger: Ledger, app: String, clock: @escaping @Sendable () -> Timestamp = { SystemClock.now }
  ) {
    self.ledger = ledger
    self.clock = clock
    files = SegmentFiles(folder: ledger.archiveDirectory, app: app)
  }

  // MARK: Moving

  /// Moves what a policy lets go, one segment after the other, until nothing is left to be moved or
  /// the caller is cancelled.
  ///
  /// - Throws: `ArchiveError`; what was moved before stays moved, and the rest is in the log.
  @discardableResult
  public func archive(_ policy: RetentionPolicy) async throws(ArchiveError) -> Result {
    await ledger.retentionTurn.take()
    defer { ledger.retentionTurn.give() }
    var result = Result()
    result.keptFiles = try await !sweep()
    while !Task.isCancelled {
      let skipped = Set(result.skipped)
      let selection = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.archivable(policy, now: clock(), skipping: skipped)
      }
      if selection.isEmpty { break }
      do throws(ArchiveError) {
        result.segments.append(try await move(selection))
      } catch {
        guard let upload = error.upload else { throw error }
        result.skipped.append(upload)
      }
    }
    return result
  }

  private func move(_ selection: ArchiveSelection) async throws(ArchiveError) -> Segment {
    let reader = ledger.reader
    let written = try await files.write(
      first: selection.first, last: selection.last, format: reader.formatVersion
    ) { (writer) async throws(ArchiveError) in
      var position = GlobalPosition.start
      while true {
        let after = position
        let page = try await ArchiveError.from { () async throws(LedgerError) in
          try await reader.events(of: selection, after: after)
        }
        guard let last = page.last else { return }
        for archived in page {
          let chain = try writer.add(archived.event, chainBefore: archived.chainBefore)
          guard chain == archived.chain else { throw .changed(archived.event.position) }
        }
        position = last.event.position
      }
    }
    guard let segment = written.archived, segment.count == selection.eventCount else {
      throw .changed(selection.first)
    }
    let archived = try await ArchiveError.from { () async throws(LedgerError) in
      try await ledger.archive(selection, digest: segment.digest)
    }
    return Segment(
      name: SegmentName(archived), uploads: selection.uploads.count, events: archived.count,
      removed: selection.removedCount, byteCount: written.byteCount)
  }

  // MARK: Removing for good

  /// Removes ended uploads for good, with their local copies, from the log and from the segments
  /// that hold them. What is unknown, or gone already, is passed over.
  ///
  /// A segment is written anew without them before they leave the log, and the old one is deleted
  /// after. Backups of an older format are not touched: see `copies`.
  ///
  /// - Throws: `ArchiveError`, with the `LedgerError` `notEnded` for an upload that has not ended;
  ///   what went before is gone, and the next call goes on.
  public func purge(_ ids: [UploadID]) async throws(ArchiveError) -> Removal {
    await ledger.retentionTurn.take()
    defer { ledger.retentionTurn.give() }
    var removal = Removal()
    removal.keptFiles = try await !sweep()
    for some in try await portions(of: ids) { try await purge(some, &removal) }
    return removal
  }

  private func purge(_ ids: [UploadID], _ removal: inout Removal) async throws(ArchiveError) {
    let gone = Set(ids)
    var affected: [GlobalPosition: RecordedSegment] = [:]
    for id in ids {
      let segment = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.segment(of: id)
      }
      if let segment { affected[segment.position] = segment }
    }
    var replacements: [GlobalPosition: Archived] = [:]
    for segment in affected.values {
      replacements[segment.position] = try await rewrite(segment, without: gone)
    }
    try await remove(ids, isForced: false, replacing: replacements, &removal)
    let kept = Set(replacements.values.map { SegmentName($0) })
    try files.remove(affected.values.map(\.name).filter { !kept.contains($0) }.map(\.text))
  }

  /// Removes every upload for good, whatever has become of it, with all copies, segments and
  /// backups: what a sign-out with `discard` asks for. No engine may run on the ledger.
  ///
  /// - Throws: `ArchiveError`; what went before is gone, and the next call goes on.
  public func purgeAll() async throws(ArchiveError) -> Removal {
    await ledger.retentionTurn.take()
    defer { ledger.retentionTurn.give() }
    var removal = Removal()
    while true {
      let ids = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.recordedUploads(limit: LedgerReader.maximumPage)
      }
      if ids.isEmpty { break }
      for some in try await portions(of: ids) {
        try await remove(some, isForced: true, replacing: [:], &removal)
      }
    }
    try files.removeUnfinished()
    try files.remove(try files.finished())
    try SegmentFiles.empty(ledger.stagingDirectory)
    let setAside = "\(ledger.directory)/set-aside"
    try SegmentFiles.remove(
      try Archive.copies(in: ledger.directory), syncing: [ledger.directory, setAside])
    return removal
  }

  private func remove(
    _ ids: [UploadID], isForced: Bool, replacing replacements: [GlobalPosition: Archived],
    _ removal: inout Removal
  ) async throws(ArchiveError) {
    let (purged, isErased) = try await ArchiveError.from { () async throws(LedgerError) in
      try await ledger.purge(ids, isForced: isForced, replacing: replacements)
    }
    removal.uploads += purged.uploads
    removal.events += purged.removed.count
    removal.isErased = removal.isErased && isErased
    try SegmentFiles.removeCopies(of: ids, in: ledger.stagingDirectory)
  }

  /// Cuts a list so that each piece has no more events than move in one transaction, but for a
  /// single upload that has more by itself.
  private func portions(of ids: [UploadID]) async throws(ArchiveError) -> [[UploadID]] {
    var portions: [[UploadID]] = []
    var events: Int64 = 0
    for id in ids {
      let upload = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.upload(id)
      }
      events += upload.revision.value
      if portions.isEmpty || events > LedgerReader.maximumArchivedEvents {
        portions.append([])
        events = upload.revision.value
      }
      portions[portions.count - 1].append(id)
    }
    return portions
  }

  /// Files in the folder of a ledger that hold events or bytes of an earlier day, and that a purge
  /// of single uploads leaves alone: backups made before a change of format, and copies whose
  /// record was lost.
  ///
  /// - Throws: `ArchiveError` when a folder cannot be listed.
  public static func copies(in directory: String) throws(ArchiveError) -> [String] {
    let setAside = "\(directory)/set-aside"
    let backups = try SegmentFiles.names(in: directory).filter { LedgerFiles.isBackup($0) }
    return backups.map { "\(directory)/\($0)" }
      + (try SegmentFiles.names(in: setAside)).map { "\(setAside)/\($0)" }
  }

  /// Writes a segment anew without some uploads; nil when nothing of it is left, or was there.
  private func rewrite(
    _ segment: RecordedSegment, without gone: Set<UploadID>
  ) async throws(ArchiveError) -> Archived? {
    guard let old = try files.open(segment) else { return nil }
    let written = try await files.write(
      first: segment.archived.first, last: segment.archived.last,
      format: ledger.reader.formatVersion
    ) { (writer) async throws(ArchiveError) in
      while let (event, chainBefore) = try old.next() {
        if let upload = event.upload, gone.contains(upload) { continue }
        _ = try writer.add(event, chainBefore: chainBefore)
      }
    }
    return written.archived
  }

  // MARK: What a crash leaves behind

  /// Removes files that a crash left: what was not finished, segments that were written anew since,
  /// and finished ones that no event speaks of and that the log and the segments in use hold word
  /// for word.
  ///
  /// - Returns: whether it looked. A ledger in which something is wrong, or a segment missing,
  ///   keeps every file: it may be the only copy.
  private func sweep() async throws(ArchiveError) -> Bool {
    try files.removeUnfinished()
    let found = try files.finished()
    guard !found.isEmpty else { return true }
    let reader = ledger.reader
    let (isSound, segments, recorded) = try await ArchiveError.from {
      () async throws(LedgerError) in
      (
        try await reader.verify(.fast).isSound, try await reader.segments(),
        Set(try await reader.segmentsOnRecord().map(\.name.text))
      )
    }
    let inUse = Set(segments.map(\.name.text))
    guard isSound, inUse.isSubset(of: found) else { return false }
    for name in found where !inUse.contains(name) {
      if recorded.contains(name) {
        try files.remove([name])
      } else if try await isCopy(name, of: segments) {
        try files.remove([name])
      }
    }
    return true
  }

  /// Whether everything in a file is in the log or in a segment in use as well: a purge that was
  /// cut short leaves a segment whose events left the log long ago.
  private func isCopy(
    _ name: String, of segments: [RecordedSegment]
  ) async throws(ArchiveError) -> Bool {
    guard let runs = files.runs(of: name) else { return false }
    var missing: [SegmentFiles.Run] = []
    for run in runs {
      let isHeld = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.holds(run.positions, chain: run.chain)
      }
      if !isHeld { missing.append(run) }
    }
    for segment in segments {
      let (first, last) = (segment.archived.first.value, segment.archived.last.value)
      let isNear = missing.contains { $0.positions.overlaps(first...max(first, last)) }
      guard isNear, let chains = files.chains(of: segment) else { continue }
      // The last value proves the values before it, but not that their events are in this file.
      missing.removeAll { run in
        chains[run.positions.upperBound] == run.chain
          && run.positions.allSatisfy { chains[$0] != nil }
      }
    }
    return missing.isEmpty
  }
}
