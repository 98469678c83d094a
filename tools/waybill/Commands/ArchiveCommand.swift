internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let archive = Command(
    name: "archive", group: .keep, summary: "move uploads that ended long ago out of the log",
    usage: ["[--older-than TIME] [--keep-events N] [--keep-bytes SIZE] [-n]"],
    details: [
      "An upload that is committed, cancelled or a duplicate leaves the log once nothing was"
        + " recorded of it for some time, or earlier while the log is larger than it may be; then"
        + " those that were added first go. Its events move into a trace in the folder 'archive' of"
        + " the ledger, which is read back before one of them leaves.",
      "The ledger goes on saying what became of it and that its bytes are stored: 'show' finds it,"
        + " and the same file is not uploaded again.",
    ],
    options: [
      Option(
        "older-than", .duration(.zero...(.seconds(3650 * 86_400))),
        help: "how long after its last event an upload stays; 30d if not given"),
      Option(
        "keep-events", .number(0...Int64.max),
        help: "how many events the log may hold; 1000000 if not given"),
      Option(
        "keep-bytes", .byteCount(0...Int64.max),
        help: "how large the log may be; 64MiB if not given"),
      .dryRun,
    ],
    examples: [
      Example("waybill archive -n", "say how much would move"),
      Example("waybill archive --older-than 7d", "move what ended more than a week ago"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let result =
        invocation.arguments.has("dry-run")
        ? try await invocation.wouldArchive() : try await invocation.archive()
      try result.report(invocation)
      return .ok
    })
}

extension Invocation {
  private var retention: RetentionPolicy {
    var policy = RetentionPolicy()
    if let age = arguments.duration("older-than") { policy.ageSeconds = age.components.seconds }
    if let events = arguments.number("keep-events") { policy.maximumEvents = events }
    if let bytes = arguments.number("keep-bytes") { policy.maximumBytes = bytes }
    return policy
  }

  fileprivate func wouldArchive() async throws(Failure) -> ArchiveResult {
    let reader = try await openReader()
    let selection = try await Failure.from { () async throws(LedgerError) in
      try await reader.archivable(retention, now: SystemClock.now, limit: .max)
    }
    await reader.close()
    return ArchiveResult(
      isTrial: true, uploads: selection.uploads.count, events: selection.eventCount,
      removed: selection.removedCount)
  }

  fileprivate func archive() async throws(Failure) -> ArchiveResult {
    let ledger = try await openLedger(createsIt: false)
    let archive = Archive(ledger: ledger, app: "waybill \(Version.waybill)")
    let result: Archive.Result
    do throws(ArchiveError) {
      result = try await archive.archive(retention)
    } catch {
      await ledger.close()
      throw Failure(error)
    }
    await ledger.close()
    return ArchiveResult(
      uploads: result.segments.reduce(0) { $0 + $1.uploads },
      events: result.segments.reduce(0) { $0 + $1.events },
      removed: result.segments.reduce(0) { $0 + $1.removed }, segments: result.segments,
      skipped: result.skipped, keptFiles: result.keptFiles)
  }
}

/// What moved, or would.
private struct ArchiveResult {
  var isTrial = false
  let uploads: Int
  let events: Int64
  let removed: Int64
  var segments: [Archive.Segment] = []
  var skipped: [UploadID] = []
  var keptFiles = false

  func report(_ invocation: Invocation) throws(Failure) {
    if keptFiles {
      invocation.messages.warning(
        "the ledger is not sound, so files that nobody may need were kept; see 'waybill verify'")
    }
    for id in skipped {
      invocation.messages.warning("\(id) stays: one of its events is too long for a segment")
    }
    guard invocation.format == .text else { return try invocation.output.json(document) }
    guard uploads > 0 else {
      return try invocation.output.line(
        "nothing to move: no upload ended that long ago, with its copy deleted since")
    }
    let what =
      HumanText.count(uploads, "upload") + " with "
      + HumanText.count(Int(clamping: events), "event")
    let left = HumanText.count(Int(clamping: removed), "event")
    guard !isTrial else {
      return try invocation.output.line("would move \(what); \(left) would leave the log")
    }
    for segment in segments {
      try invocation.output.line(
        "archive/\(segment.name.text)  \(HumanText.count(segment.uploads, "upload")),"
          + " \(HumanText.byteCount(segment.byteCount))")
    }
    try invocation.output.line("moved \(what); \(left) left the log")
  }

  private var document: JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text("archive")), .init("dry_run", .bool(isTrial)),
      .init("uploads", .integer(Int64(uploads))), .init("events", .integer(events)),
      .init("removed", .integer(removed)),
      .init(
        "segments",
        .array(
          segments.map { segment in
            .object([
              .init("name", .text(segment.name.text)),
              .init("uploads", .integer(Int64(segment.uploads))),
              .init("events", .integer(segment.events)),
              .init("removed", .integer(segment.removed)),
              .init("bytes", .integer(segment.byteCount)),
            ])
          })), .init("skipped", .array(skipped.map { .text($0.description) })),
    ])
  }
}
