internal import WaybillLedger
internal import WaybillModel
internal import WaybillTrace

/// The beginning of an upload's stream that has moved into a segment.
struct ArchivedHistory {
  /// The segment's file, as it lies in the folder of the ledger.
  let name: String
  /// The events of the upload that are no longer in the log, in order; none where they are not all
  /// there as they were recorded.
  let events: [RecordedEvent]
  /// Why there are none; nil when they are all there.
  let problem: String?

  /// Reads the events of an upload before a revision from the folder of the segments.
  init(
    of id: UploadID, before revision: StreamRevision, in segment: RecordedSegment, folder: String?
  ) {
    name = "archive/\(segment.name.text)"
    do throws(Trouble) {
      guard let folder else {
        throw Trouble("only the database was named, so its archive is out of sight")
      }
      events = try ArchivedHistory.read(id, before: revision, segment, folder)
      problem = nil
    } catch {
      events = []
      problem = error.what
    }
  }

  private struct Trouble: Error {
    let what: String

    init(_ what: String) { self.what = what }
  }

  private static func read(
    _ id: UploadID, before revision: StreamRevision, _ segment: RecordedSegment, _ folder: String
  ) throws(Trouble) -> [RecordedEvent] {
    switch SegmentFile(segment, in: folder) {
    case .missing: throw Trouble("it is not there")
    case .damaged(let what): throw Trouble(what)
    case .whole: break
    }
    let file: TraceInputFile
    do throws(TraceError) {
      file = try TraceInputFile(path: "\(folder)/\(segment.name.text)")
    } catch {
      throw Trouble(error.description)
    }
    var found: [RecordedEvent] = []
    let verification = TraceVerification(file.source, limits: .none) { event in
      if event.upload == id, event.revision < revision { found.append(event) }
    }
    if let finding = verification.finding { throw Trouble(finding.description) }
    guard Int64(found.count) == revision.value - 1 else {
      throw Trouble("it holds \(found.count) of \(revision.value - 1) events of this upload")
    }
    return found
  }
}
