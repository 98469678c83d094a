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

    /// Adds an event and gives its chain value, as its own bytes give it.
    func add(
      _ event: RecordedEvent, chainBefore: ContentHash?
    ) throws(ArchiveError) -> ContentHash {
      do throws(TraceError) {
        try trace.append(event, chainBefore: chainBefore)
        return trace.chainValue
      } catch {
        let isItsFault = error.code == .tooLong || error.code == .reservedKind
        throw ArchiveError(error, upload: isItsFault ? event.upload : nil)
      }
    }
  }

  /// Gives the events of a segment that was recorded.
  struct Reader {
    fileprivate let segment: RecordedSegment
    fileprivate let trace: TraceReader

    /// The next event with the chain value before it; nil at the end of a segment in which nothing
    /// is wrong.
    func next() throws(ArchiveError) -> (event: RecordedEvent, chainBefore: ContentHash)? {
      while let item = try nextItem() {
        switch item {
        case .header: continue
        case .event(let event): return (event, trace.chainBefore)
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

  /// A name that is taken belongs to the same bytes, left by a crash: `check` reads them. Whether
  /// the name had reached the disk nobody knows.
  private func publish(_ file: TraceFile, as name: SegmentName) throws(ArchiveError) {
    do throws(TraceError) {
      try file.publish(as: name.text)
    } catch {
      guard error.code == .exists else { throw ArchiveError(error) }
      try SegmentFiles.sync(folder)
    }
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
    try SegmentFiles.remove(names.map { "\(folder)/\($0.text)" }, syncing: [folder])
  }

  /// Removes every segment and every unfinished one, but those with some names. Files that are not
  /// ours stay.
  func removeAll(but kept: Set<String> = []) throws(ArchiveError) {
    let (prefix, suffix) = TraceFile.temporaryName
    let ours = SegmentFiles.names(in: folder).filter { name in
      let isUnfinished = name.hasPrefix(prefix) && name.hasSuffix(suffix)
      return !kept.contains(name) && (isUnfinished || name.hasSuffix(SegmentName.suffix))
    }
    try SegmentFiles.remove(ours.map { "\(folder)/\($0)" }, syncing: [folder])
  }

  /// Removes the copies of uploads from the staging folder, whole ones and files of single parts.
  static func removeCopies(of ids: [UploadID], in folder: String) throws(ArchiveError) {
    let gone = Set(ids)
    let copies = names(in: folder).filter { name in
      let upload = PartFileName(name)?.upload ?? UploadID(name)
      return upload.map { gone.contains($0) } ?? false
    }
    try remove(copies.map { "\(folder)/\($0)" }, syncing: [folder])
  }

  /// Removes every file in a folder.
  static func empty(_ folder: String) throws(ArchiveError) {
    try remove(names(in: folder).map { "\(folder)/\($0)" }, syncing: [folder])
  }

  /// Removes files, so that a power cut brings none of them back; one that is gone already is fine.
  static func remove(_ paths: [String], syncing folders: [String]) throws(ArchiveError) {
    guard !paths.isEmpty else { return }
    for path in paths {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw ArchiveError(.last, doing: "remove \(EscapedText.escape(path))")
      }
    }
    for folder in folders { try sync(folder) }
  }

  private static func sync(_ folder: String) throws(ArchiveError) {
    do throws(SystemError) {
      try Folder.sync(folder)
    } catch {
      guard error.number != ENOENT else { return }
      throw ArchiveError(error, doing: "sync the folder \(EscapedText.escape(folder))")
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
