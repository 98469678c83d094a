internal import WaybillLedger
internal import WaybillModel
internal import WaybillTrace

/// The beginning of an upload's stream that has moved into a segment.
struct ArchivedHistory {
  /// The segment's file, as it lies in the folder of the ledger.
  let name: String
  /// The events of the upload that are no longer in the log, in order.
  let events: [RecordedEvent]
  /// Why they are not all there; nil when they are.
  let problem: String?

  /// Reads the events of an upload before a revision from the folder of the segments.
  init(
    of id: UploadID, before revision: StreamRevision, in segment: RecordedSegment, folder: String?
  ) {
    name = "archive/\(segment.name.text)"
    guard let folder else {
      events = []
      problem = "only the database was named, so its archive is out of sight"
      return
    }
    var found: [RecordedEvent] = []
    do throws(TraceError) {
      let file = try TraceInputFile(path: "\(folder)/\(segment.name.text)")
      let verification = TraceVerification(file.source, limits: .none) { event in
        if event.upload == id, event.revision < revision { found.append(event) }
      }
      problem = verification.finding?.description
    } catch {
      problem = error.description
    }
    events = found
  }
}
