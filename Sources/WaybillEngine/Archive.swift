internal import WaybillHash
public import WaybillLedger
public import WaybillModel
internal import WaybillSystem
internal import WaybillTrace

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Moves ended uploads out of a ledger into trace segments, and removes uploads for good.
///
/// A segment is a trace (`schema/trace.md`) in the folder `archive` of the ledger. It is written,
/// put on stable storage and read again from its first byte to its last before one event leaves the
/// log; a crash at any moment leaves the events in both or in the log alone.
///
/// The ledger goes on answering what became of an archived upload, and that its bytes are stored.
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

  private let ledger: Ledger
  private let files: SegmentFiles
  private let clock: @Sendable () -> Timestamp

  /// Makes the archive of a ledger.
  ///
  /// - Parameters:
  ///   - ledger: the ledger, opened by this process. While something is archived or purged, no
  ///     engine should run on it.
  ///   - app: the app and its version, written into each segment.
  ///   - clock: the current time.
  public init(
    ledger: Ledger, app: String, clock: @escaping @Sendable () -> Timestamp = { SystemClock.now }
  ) {
    self.ledger = ledger
    self.clock = clock
    files = SegmentFiles(folder: ledger.archiveDirectory, app: app)
  }

  /// Moves what a policy lets go, one segment after the other, until nothing is left to be moved or
  /// the caller is cancelled.
  ///
  /// - Parameters:
  ///   - policy: what stays.
  ///   - moved: called with each segment once its events have left the log.
  /// - Returns: the segments, oldest first; none when everything stays.
  /// - Throws: `ArchiveError`; what was moved before stays moved, and the rest is in the log.
  @discardableResult
  public func archive(
    _ policy: RetentionPolicy, moved: (Segment) -> Void = { _ in }
  ) async throws(ArchiveError) -> [Segment] {
    try await sweep()
    var segments: [Segment] = []
    while !Task.isCancelled {
      let selection = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.archivable(policy, now: clock())
      }
      if selection.isEmpty { break }
      let segment = try await move(selection)
      segments.append(segment)
      moved(segment)
    }
    return segments
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
          try writer.add(archived.event, chainBefore: archived.chainBefore)
        }
        position = last.event.position
      }
    }
    guard let archived = written.archived, archived.count == selection.eventCount else {
      throw ArchiveError(
        .changed, "\(selection.eventCount) events were to move, but others were read",
        remedy: "run 'waybill verify' on the ledger; nothing has left the log")
    }
    _ = try await ArchiveError.from { () async throws(LedgerError) in
      try await ledger.archive(selection, digest: archived.digest)
    }
    return Segment(
      name: SegmentName(archived), uploads: selection.uploads.count, events: archived.count,
      removed: selection.removedCount, byteCount: written.byteCount)
  }

  // MARK: Removing for good

  /// Removes ended uploads for good, from the log and from the segments that hold them.
  ///
  /// A segment is written anew without them before they leave the log, and the old one is deleted
  /// after. Backups of an older format are not touched: see `copies`.
  ///
  /// - Returns: how many uploads and events went.
  /// - Throws: `ArchiveError`, with the `LedgerError` `notEnded` for an upload that has not ended.
  public func purge(_ ids: [UploadID]) async throws(ArchiveError) -> Purged {
    try await sweep()
    let gone = Set(ids)
    var affected: [GlobalPosition: RecordedSegment] = [:]
    var replacements: [GlobalPosition: Archived] = [:]
    for id in ids {
      let segment = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.segment(of: id)
      }
      if let segment { affected[segment.position] = segment }
    }
    for segment in affected.values {
      replacements[segment.position] = try await rewrite(segment, without: gone)
    }
    let replacing = replacements
    let purged = try await ArchiveError.from { () async throws(LedgerError) in
      try await ledger.purge(ids, replacing: replacing)
    }
    let kept = Set(replacements.values.map { SegmentName($0) })
    try files.remove(affected.values.map(\.name).filter { !kept.contains($0) })
    return purged
  }

  /// Removes every upload for good, whatever has become of it, with all copies, segments and
  /// backups: what a sign-out with `discard` asks for.
  ///
  /// - Returns: how many uploads and events went.
  /// - Throws: `ArchiveError`; what went before is gone, and the next call goes on.
  public func purgeAll() async throws(ArchiveError) -> Purged {
    var (uploads, events): (Int64, Int64) = (0, 0)
    while true {
      let ids = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.reader.recordedUploads(limit: Archive.purgedTogether)
      }
      if ids.isEmpty { break }
      let purged = try await ArchiveError.from { () async throws(LedgerError) in
        try await ledger.purge(ids, isForced: true)
      }
      uploads += purged.uploads
      events += purged.count
    }
    try files.removeAll()
    try SegmentFiles.empty(ledger.stagingDirectory)
    for copy in copies { try SegmentFiles.remove(copy) }
    return Purged(uploads: uploads, count: events)
  }

  /// How many uploads leave in one transaction when all do.
  private static let purgedTogether = 200

  /// Files beside the ledger that hold events or bytes of an earlier day, and that a purge of
  /// single uploads leaves alone: backups made before a change of format, and copies whose record
  /// was lost.
  public var copies: [String] {
    let backups = SegmentFiles.names(in: ledger.directory).filter { LedgerFiles.isBackup($0) }
    let setAside = SegmentFiles.names(in: "\(ledger.directory)/set-aside").map { "set-aside/\($0)" }
    return (backups + setAside).map { "\(ledger.directory)/\($0)" }
  }

  /// Writes a segment anew without some uploads; nil when nothing of it is left.
  private func rewrite(
    _ segment: RecordedSegment, without gone: Set<UploadID>
  ) async throws(ArchiveError) -> Archived? {
    let reader = ledger.reader
    let old = try files.open(segment)
    var chain = EventChain(value: .zero)
    var last = GlobalPosition.start
    let written = try await files.write(
      first: segment.archived.first, last: segment.archived.last, format: reader.formatVersion
    ) { (writer) async throws(ArchiveError) in
      while let event = try old.next() {
        let position = event.position
        if position != last.next || last == .start {
          let before = try await ArchiveError.from { () async throws(LedgerError) in
            try await reader.chain(before: position)
          }
          chain.reset(to: before ?? .zero)
        }
        last = position
        let before = chain.value
        _ = chain.advance(over: event)
        if let upload = event.upload, gone.contains(upload) { continue }
        try writer.add(event, chainBefore: before)
      }
    }
    return written.archived
  }

  // MARK: What a crash leaves behind

  /// Removes files that a crash left: segments that were not finished, that no event in the log
  /// speaks of, or that were written anew since. A ledger in which something is missing keeps all.
  private func sweep() async throws(ArchiveError) {
    guard files.hasAny else { return }
    let reader = ledger.reader
    let (isSound, segments) = try await ArchiveError.from { () async throws(LedgerError) in
      (try await reader.verify(.fast).isSound, try await reader.segments())
    }
    guard isSound else { return }
    try files.removeAll(but: Set(segments.map(\.name.text)))
  }
}
