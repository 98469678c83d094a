internal import WaybillHash
package import WaybillModel
internal import WaybillSQLite

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What lies in the archive folder where a recorded segment should be.
package enum SegmentFile: Equatable, Sendable {
  /// Nothing.
  case missing
  /// Something else: another file, a damaged one, a folder, a pipe, or what cannot be read.
  case damaged(String)
  /// The file that was recorded, byte for byte.
  case whole

  /// Looks at a segment, and reads all of it; nothing but a plain file is opened for long.
  package init(_ segment: RecordedSegment, in folder: String) {
    let descriptor = open(
      "\(folder)/\(segment.name.text)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = errno == ENOENT ? .missing : .damaged("it cannot be opened")
      return
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      self = .damaged("it is no plain file")
      return
    }
    guard let digest = SegmentFile.digest(descriptor) else {
      self = .damaged("it cannot be read")
      return
    }
    self =
      digest == segment.archived.digest ? .whole : .damaged("it is not the file that was recorded")
  }

  private static func digest(_ descriptor: Int32) -> ContentHash? {
    let hasher = SHA256()
    let length = 262_144
    return withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, length)
        if count == 0 { return hasher.finish() }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return nil }
        hasher.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
      }
    }
  }
}

extension LedgerReader {
  /// Holds every segment in use against what was recorded of it.
  func checkSegments(_ report: inout Verification) throws(LedgerError) {
    guard let folder = archiveDirectory else { return }
    for segment in try segments() {
      switch SegmentFile(segment, in: folder) {
      case .whole: break
      case .missing:
        report.add(
          "segment_missing", at: segment.position, "segment \(segment.name.text) is not there")
      case .damaged(let what):
        report.add(
          "segment_damaged", at: segment.position, "segment \(segment.name.text): \(what)")
      }
    }
  }

  /// Whether the log still holds every event of a run of positions, and the last of them with a
  /// chain value: then all of them are the same.
  package func holds(
    _ run: ClosedRange<Int64>, chain: ContentHash
  ) throws(LedgerError) -> Bool {
    try read("comparing a segment with the log") { connection throws(SQLiteError) in
      let events = try connection.prepare(
        "SELECT count(*), (SELECT chain FROM events WHERE position = ?2) FROM events"
          + " WHERE position BETWEEN ?1 AND ?2")
      events.bind(1, run.lowerBound)
      events.bind(2, run.upperBound)
      return try events.firstRow { row in
        row.int(0) == Int64(run.count) && EventCodec.hash(row, 1) == chain
      } ?? false
    }
  }
}
