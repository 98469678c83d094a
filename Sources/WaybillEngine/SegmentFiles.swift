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

  /// A reader of a segment; nil where there is no such file.
  ///
  /// - Throws: `damagedSegment` for anything but the file that was recorded.
  func open(_ segment: RecordedSegment) throws(ArchiveError) -> Reader? {
    switch SegmentFile(segment, in: folder) {
    case .missing: return nil
    case .damaged(let what): throw .damaged(segment.name, what)
    case .whole:
      return Reader(
        segment: segment, trace: TraceReader(try source(of: segment.name), limits: .none))
    }
  }

  /// Positions that follow one another, with the chain value of the last event.
  typealias Run = (positions: ClosedRange<Int64>, chain: ContentHash)

  /// The runs of positions in a file; nil for anything but a whole segment.
  func runs(of name: String) -> [Run]? {
    var runs: [Run] = []
    let isWhole = forEachEvent(of: name) { position, chain in
      if let last = runs.last, last.positions.upperBound + 1 == position {
        runs[runs.count - 1] = (last.positions.lowerBound...position, chain)
      } else {
        runs.append((position...position, chain))
      }
    }
    return isWhole ? runs : nil
  }

  /// The chain value of each event in a segment, by position; nil for anything but the file that
  /// was recorded.
  func chains(of segment: RecordedSegment) -> [Int64: ContentHash]? {
    guard SegmentFile(segment, in: folder) == .whole else { return nil }
    var chains: [Int64: ContentHash] = [:]
    return forEachEvent(of: segment.name.text) { chains[$0] = $1 } ? chains : nil
  }

  /// Gives position and chain value of each event in a file; false for anything but a whole
  /// segment.
  private func forEachEvent(of name: String, _ body: (Int64, ContentHash) -> Void) -> Bool {
    guard let file = try? TraceInputFile(path: "\(folder)/\(name)") else { return false }
    let trace = TraceReader(file.source, limits: .none)
    var chain = EventChain(value: .zero)
    do throws(TraceFinding) {
      while let item = try trace.next() {
        guard case .event(let event) = item else { continue }
        chain.reset(to: trace.chainBefore)
        body(event.position.value, chain.advance(over: event))
      }
    } catch {
      return false
    }
    return trace.remarks.isEmpty
  }

  private func source(of name: SegmentName) throws(ArchiveError) -> TraceSource {
    do throws(TraceError) {
      return try TraceInputFile(path: "\(folder)/\(name.text)").source
    } catch {
      throw .damaged(name, error.message)
    }
  }

  // MARK: Removing

  /// The names of finished segments that are there, recorded or not, in order.
  func finished() throws(ArchiveError) -> [String] {
    try SegmentFiles.names(in: folder).filter { SegmentName.isOne($0) }
  }

  /// Removes segments by name; one that is gone already is fine.
  func remove(_ names: [String]) throws(ArchiveError) {
    try SegmentFiles.remove(names.map { "\(folder)/\($0)" }, syncing: [folder])
  }

  /// Removes what a crash left unfinished.
  func removeUnfinished() throws(ArchiveError) {
    let (prefix, suffix) = TraceFile.temporaryName
    try remove(
      SegmentFiles.names(in: folder).filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) })
  }

  /// Removes the copies of uploads from the staging folder, whole ones and files of single parts.
  static func removeCopies(of ids: [UploadID], in folder: String) throws(ArchiveError) {
    let gone = Set(ids)
    let copies = try names(in: folder).filter { name in
      let upload = PartFileName(name)?.upload ?? UploadID(name)
      return upload.map { gone.contains($0) } ?? false
    }
    try remove(copies.map { "\(folder)/\($0)" }, syncing: [folder])
  }

  /// Removes every file in a folder.
  static func empty(_ folder: String) throws(ArchiveError) {
    try remove(try names(in: folder).map { "\(folder)/\($0)" }, syncing: [folder])
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

  /// The names of the plain files in a folder, in order; none where there is no folder.
  static func names(in folder: String) throws(ArchiveError) -> [String] {
    var names: [String] = []
    do throws(SystemError) {
      try Folder.forEachName(in: folder) { names.append(String(decoding: $0, as: UTF8.self)) }
    } catch {
      guard error.number == ENOENT else {
        throw ArchiveError(error, doing: "list the folder \(EscapedText.escape(folder))")
      }
    }
    return names.filter { name in
      var status = stat()
      return lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }.sorted()
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
      remedy: "restore it from a copy; or move it out of the folder, and what it holds is given up")
  }
}
