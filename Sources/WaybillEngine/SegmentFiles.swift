internal import WaybillHash
internal import WaybillLedger
internal import WaybillModel
internal import WaybillSystem
internal import WaybillTrace

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The trace segments in the folder `archive` of a ledger.
struct SegmentFiles: Sendable {
  let folder: String
  let app: String

  /// A segment that lies under its name, and was read back from there.
  struct Written: Sendable {
    /// What is to be recorded of it; nil without events, and then there is no file.
    let archived: Archived?
    /// The length of the file in bytes.
    let byteCount: Int64
  }

  /// Takes the events of a segment, in the order of position.
  struct Writer {
    fileprivate let trace: TraceWriter

    func add(_ event: RecordedEvent, chainBefore: ContentHash?) throws(ArchiveError) {
      try ArchiveError.of { () throws(TraceError) in
        try trace.append(event, chainBefore: chainBefore)
      }
    }
  }

  /// Gives the events of a segment that was recorded.
  struct Reader {
    fileprivate let segment: RecordedSegment
    fileprivate let trace: TraceReader

    /// The next event; nil at the end of a segment in which nothing is wrong.
    func next() throws(ArchiveError) -> RecordedEvent? {
      while let item = try nextItem() {
        switch item {
        case .header: continue
        case .event(let event): return event
        case .end(let receipt):
          guard receipt.digest == segment.archived.digest else {
            throw .damaged(segment.name, "it is not the file that was recorded")
          }
        }
      }
      return nil
    }

    private func nextItem() throws(ArchiveError) -> TraceReader.Item? {
      do throws(TraceFinding) {
        return try trace.next()
      } catch {
        throw .damaged(segment.name, error.description)
      }
    }
  }

  // MARK: Writing

  /// Writes a segment, puts it on stable storage, and reads it again from its first byte to its
  /// last, so that what lies under its name is what was given.
  func write(
    first: GlobalPosition, last: GlobalPosition, format: Int64,
    _ fill: (Writer) async throws(ArchiveError) -> Void
  ) async throws(ArchiveError) -> Written {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw ArchiveError(.last, doing: "make the folder \(EscapedText.escape(folder))")
    }
    let file = try ArchiveError.of { () throws(TraceError) in try TraceFile(folder: folder) }
    let trace = TraceWriter(
      header: TraceHeader(app: app, ledgerFormat: format, first: first, last: last),
      to: file.sink)
    try await fill(Writer(trace: trace))
    let receipt = try ArchiveError.of { () throws(TraceError) in try trace.finish() }
    guard let first = receipt.first, let last = receipt.last else {
      return Written(archived: nil, byteCount: 0)
    }
    let archived = Archived(
      first: first, last: last, count: receipt.eventCount, digest: receipt.digest)
    try publish(file, as: SegmentName(archived))
    try check(archived)
    return Written(archived: archived, byteCount: receipt.byteCount)
  }

  /// A name that is taken belongs to the same bytes, left by a crash: `check` reads them.
  private func publish(_ file: TraceFile, as name: SegmentName) throws(ArchiveError) {
    do throws(TraceError) {
      try file.publish(as: name.text)
    } catch  where error.code != .exists {
      throw ArchiveError(error)
    } catch {}
  }

  private func check(_ archived: Archived) throws(ArchiveError) {
    let name = SegmentName(archived)
    let verification = TraceVerification(try source(of: name), limits: .none)
    if let finding = verification.finding { throw .damaged(name, finding.description) }
    guard verification.receipts.count == 1, let receipt = verification.receipts.first,
      receipt.digest == archived.digest, receipt.eventCount == archived.count
    else { throw .damaged(name, "it does not read back as it was written") }
  }

  // MARK: Reading

  func open(_ segment: RecordedSegment) throws(ArchiveError) -> Reader {
    Reader(segment: segment, trace: TraceReader(try source(of: segment.name), limits: .none))
  }

  private func source(of name: SegmentName) throws(ArchiveError) -> TraceSource {
    do throws(TraceError) {
      return try TraceInputFile(path: "\(folder)/\(name.text)").source
    } catch {
      throw .damaged(name, error.message)
    }
  }

  // MARK: Removing

  /// Whether there is any file.
  var hasAny: Bool { !SegmentFiles.names(in: folder).isEmpty }

  /// Removes segments by name; one that is gone already is fine.
  func remove(_ names: [SegmentName]) throws(ArchiveError) {
    guard !names.isEmpty else { return }
    for name in names { try SegmentFiles.remove("\(folder)/\(name.text)") }
    try sync()
  }

  /// Removes every segment and every unfinished one, but those with some names. Files that are not
  /// ours stay.
  func removeAll(but kept: Set<String> = []) throws(ArchiveError) {
    let (prefix, suffix) = TraceFile.temporaryName
    var isChanged = false
    for name in SegmentFiles.names(in: folder) where !kept.contains(name) {
      let isUnfinished = name.hasPrefix(prefix) && name.hasSuffix(suffix)
      guard isUnfinished || name.hasSuffix(SegmentName.suffix) else { continue }
      try SegmentFiles.remove("\(folder)/\(name)")
      isChanged = true
    }
    if isChanged { try sync() }
  }

  private func sync() throws(ArchiveError) {
    do throws(SystemError) {
      try Folder.sync(folder)
    } catch {
      throw ArchiveError(error, doing: "sync the folder \(EscapedText.escape(folder))")
    }
  }

  /// Removes every file in a folder.
  static func empty(_ folder: String) throws(ArchiveError) {
    for name in names(in: folder) { try remove("\(folder)/\(name)") }
  }

  /// Removes a file; one that is gone already is fine.
  static func remove(_ path: String) throws(ArchiveError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw ArchiveError(.last, doing: "remove \(EscapedText.escape(path))")
    }
  }

  /// The names of the files in a folder, in order; none where there is no folder.
  static func names(in folder: String) -> [String] {
    var names: [String] = []
    try? Folder.forEachName(in: folder) { names.append(String(decoding: $0, as: UTF8.self)) }
    return names.sorted()
  }
}

extension ArchiveError {
  /// Gives the errors of a trace this form.
  fileprivate static func of<T>(
    _ work: () throws(TraceError) -> T
  ) throws(ArchiveError) -> T {
    do {
      return try work()
    } catch {
      throw ArchiveError(error)
    }
  }

  fileprivate static func damaged(_ name: SegmentName, _ what: String) -> ArchiveError {
    ArchiveError(
      .damagedSegment, "segment \(name.text): \(what)",
      remedy: "keep a copy of it, and restore it from a backup if there is one")
  }
}
