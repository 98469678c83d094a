internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let show = Command(
    name: "show", group: .look, summary: "one upload: what it is, where it stands, its history",
    usage: ["UPLOAD"], operands: .exactly(1, "UPLOAD"),
    examples: [
      Example("waybill show 019ad2c1", "the upload whose id begins so"),
      Example("waybill show 019ad2c1 --json", "the same for a script"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let id = try await invocation.upload(named: invocation.operandText(0), in: reader)
      let (conditions, segment) = try await Failure.from { () async throws(LedgerError) in
        (try await reader.state().conditions, try await reader.segment(of: id))
      }
      var events = try await logged(id, reader)
      guard let first = events.first else {
        throw Failure(
          .failed, "nothing is known any more of the upload \(id)",
          remedy: "It was purged; if not, run 'waybill verify'.")
      }
      var history: ArchivedHistory?
      if let segment {
        let found = ArchivedHistory(
          of: id, before: first.revision, in: segment, folder: reader.archiveDirectory)
        if let problem = found.problem {
          invocation.messages.warning(
            "its first events are in \(found.name): \(EscapedText.escape(problem))")
        }
        events = found.events + events
        history = found
      }
      var upload = Upload(id: id)
      for event in events { upload.evolve(event) }
      if invocation.format == .json {
        try invocation.output.json(upload.document(events, missing: history?.problem))
        return .ok
      }
      for line in upload.summary(conditions, invocation.times) {
        try invocation.output.line(line)
      }
      try invocation.output.line("")
      var list = EventList(invocation, namesUploads: false)
      for event in events { try list.add(event) }
      try list.end()
      return .ok
    })
}

/// The events of an upload that are in the log.
private func logged(
  _ id: UploadID, _ reader: LedgerReader
) async throws(Failure) -> [RecordedEvent] {
  var events: [RecordedEvent] = []
  var query = EventQuery()
  query.upload = id
  while true {
    let page = try await Failure.from { [query] () async throws(LedgerError) in
      try await reader.events(query)
    }
    events += page
    guard page.count == LedgerReader.maximumPage, let last = page.last else { return events }
    query.after = last.position
  }
}

extension Upload {
  /// What it is and where it stands, for people.
  fileprivate func summary(_ conditions: Conditions, _ times: TimeText) -> [String] {
    var lines = ["upload     \(id)"]
    if let copy {
      lines.append("name       \(copy.name.display)")
      lines.append("size       \(HumanText.byteCount(copy.byteCount)) (\(copy.byteCount) bytes)")
    }
    if let hash { lines.append("sha256     \(hash)") }
    if let intent { lines.append("goes to    \(EscapedText.escape(intent.destination))") }
    lines.append("state      \(stateText(conditions, times))")
    if let session {
      let confirmed = (0..<session.plan.partCount).count { isConfirmed(PartNumber($0)) }
      lines.append(
        "parts      \(confirmed) of \(session.plan.partCount) confirmed, session"
          + " \(session.reference.text)")
    }
    if round > 0 { lines.append("retried    \(HumanText.count(round, "time"))") }
    return lines
  }

  private func stateText(_ conditions: Conditions, _ times: TimeText) -> String {
    switch (ending, state) {
    case (.cancelled(let reason), _): return "cancelled by \(reason.rawValue)"
    case (.deduplicated(.upload(let other)), _): return "already there: same bytes as \(other)"
    case (.deduplicated(.remote(let remote)), _):
      return "already there: the server has these bytes as \(remote.text)"
    case (_, .queued(nil)?), (_, .sending?), (_, .verifying?):
      let held = conditions.waiting.map { "; waiting: \($0.reason.words)" } ?? ""
      return (state?.words(times) ?? "") + held
    default: return state?.words(times) ?? "nothing is known of it yet"
    }
  }

  /// The upload and its history for machines.
  fileprivate func document(_ events: [RecordedEvent], missing: String?) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("v", .integer(1)), .init("type", .text("show")),
      .init("upload", .text(id.description)),
      .init("name", copy.map { .text($0.name.repaired) } ?? .null),
      .init("bytes", .integer(byteCount)),
      .init("sha256", hash.map { .text($0.description) } ?? .null),
      .init("state", stateWord.map { .text($0.rawValue) } ?? .null),
      .init("confirmed", .integer(confirmedBytes)), .init("in_flight", .integer(bytesInFlight)),
    ]
    if let attention {
      members.append(.init("reason", .text(attention.reason.rawValue)))
      members.append(.init("actions", .array(attention.actions.map { .text($0.rawValue) })))
    } else if let waiting {
      members.append(.init("reason", .text(waiting.reason.rawValue)))
    }
    if case .committed(let committed) = ending {
      members.append(.init("remote_id", .text(committed.remote.text)))
    }
    if let missing { members.append(.init("missing_events", .text(missing))) }
    members.append(.init("events", .array(events.map(\.document))))
    return .object(members)
  }
}
