internal import WaybillLedger
internal import WaybillModel

/// Commands that wish something of single uploads. The owner of the ledger grants them: this
/// process where nobody else is it, and through the inbox where somebody is.
struct UploadWish: Sendable {
  /// The wish about one upload.
  let wish: @Sendable (UploadID) -> InboxCommand
  /// What is done, in a person's words, such as `cancelled`.
  let done: String
  /// What holds where there is nothing to do, such as `was cancelled already`.
  let unchanged: String
  /// What a person has to agree to, as the end of a question; nil where nothing is lost.
  var loss: String?

  /// What became of the wish about one upload.
  private enum Outcome: Equatable {
    case done
    case wouldBeDone
    case asked
    case unchanged
    case refused(String)
  }

  func run(_ invocation: Invocation) async throws(Failure) -> ExitCode {
    let isAll = invocation.arguments.has("all")
    guard isAll == invocation.arguments.operands.isEmpty else {
      throw Failure.usage("name uploads, or say --all", command: invocation.command.name)
    }
    let reader = try await invocation.openReader()
    if isAll { return try await runOnAll(invocation, reader) }
    let uploads = try await named(invocation, reader)
    let isTrial = invocation.arguments.has("dry-run")
    let affected = uploads.filter(isAbout)
    if !isTrial, !affected.isEmpty, let loss, try !invocation.agrees(to: loss, affected) {
      invocation.messages.note("nothing was \(done)")
      return .error
    }
    let outcomes =
      isTrial || affected.isEmpty
      ? uploads.map(judge) : try await act(on: uploads.map(\.id), reader, invocation)
    await reader.close()
    return try report(Array(zip(uploads, outcomes)), invocation)
  }

  /// The outcomes of the wish about some uploads, in their order: granted here, or asked of whoever
  /// owns the ledger.
  private func act(
    on ids: [UploadID], _ reader: LedgerReader, _ invocation: Invocation
  ) async throws(Failure) -> [Outcome] {
    if let owner = reader.owner { return try await ask(ids, reader, owner, invocation) }
    do throws(Failure) {
      return try await grant(ids, invocation)
    } catch {
      // Somebody took the ledger since we looked.
      guard error.code == .busy else { throw error }
      return try await ask(ids, reader, reader.owner ?? "another process", invocation)
    }
  }

  // MARK: All of them

  /// Wishes it of every upload it says anything about.
  private func runOnAll(
    _ invocation: Invocation, _ reader: LedgerReader
  ) async throws(Failure) -> ExitCode {
    var ids: [UploadID] = []
    var last: UploadID?
    while true {
      let page = try await Failure.from { () async throws(LedgerError) in
        try await reader.unfinishedUploads(after: last)
      }
      guard let end = page.last else { break }
      last = end
      for id in page where isAbout(try await upload(id, reader)) { ids.append(id) }
    }
    let what = HumanText.count(ids.count, "upload")
    guard !ids.isEmpty, !invocation.arguments.has("dry-run") else {
      return try reportAll(ids.map { ($0, .wouldBeDone) }, invocation)
    }
    if let loss, try !invocation.agrees(to: loss, what: what) {
      invocation.messages.note("nothing was \(done)")
      return .error
    }
    let outcomes = try await act(on: ids, reader, invocation)
    await reader.close()
    return try reportAll(Array(zip(ids, outcomes)), invocation)
  }

  private func reportAll(
    _ results: [(UploadID, Outcome)], _ invocation: Invocation
  ) throws(Failure) -> ExitCode {
    guard invocation.format == .text else {
      try invocation.output.json(document(results, invocation))
      return .ok
    }
    // What has ended or changed since it was looked at is nothing to be warned of.
    let count = results.count { [Outcome.done, .wouldBeDone, .asked].contains($0.1) }
    let what = HumanText.count(count, "upload")
    let isOne = count == 1
    switch results.first(where: { $0.1 != .unchanged })?.1 {
    case .wouldBeDone?: try invocation.output.line("\(what) would be \(done)")
    case .asked?: try invocation.output.line("\(what) will be \(done)")
    default: try invocation.output.line("\(what) \(isOne ? "is" : "are") \(done)")
    }
    return .ok
  }

  /// The uploads the operands name, each once.
  private func named(
    _ invocation: Invocation, _ reader: LedgerReader
  ) async throws(Failure) -> [Upload] {
    var uploads: [Upload] = []
    for index in invocation.arguments.operands.indices {
      let name = try invocation.operandText(index)
      let id = try await invocation.upload(named: name, in: reader)
      if uploads.contains(where: { $0.id == id }) { continue }
      uploads.append(try await upload(id, reader))
    }
    return uploads
  }

  private func upload(_ id: UploadID, _ reader: LedgerReader) async throws(Failure) -> Upload {
    try await Failure.from { () async throws(LedgerError) in try await reader.upload(id) }
      ?? Upload(id: id)
  }

  // MARK: Granting

  /// What would become of the wish, by what is known now.
  private func judge(_ upload: Upload) -> Outcome {
    do throws(Rejection) {
      return try upload.decide(wish(upload.id).command).isEmpty ? .unchanged : .wouldBeDone
    } catch {
      return .refused(upload.endText ?? error.message)
    }
  }

  /// Whether there is something to do for an upload, by what is known now.
  private func isAbout(_ upload: Upload) -> Bool { judge(upload) == .wouldBeDone }

  private func ask(
    _ ids: [UploadID], _ reader: LedgerReader, _ owner: String, _ invocation: Invocation
  ) async throws(Failure) -> [Outcome] {
    let inbox = Inbox(ledgerDirectory: try invocation.ledgerPath())
    var random = SystemRandomNumberGenerator()
    var outcomes: [Outcome] = []
    for id in ids {
      let known = judge(try await upload(id, reader))
      guard known == .wouldBeDone else {
        outcomes.append(known)
        continue
      }
      let halves = UUIDv7.halves(time: SystemClock.now, random: random.next())
      let command = EventID(high: halves.high, low: halves.low)
      try await Failure.from { () async throws(LedgerError) in
        try inbox.drop(wish(id), id: command)
      }
      outcomes.append(.asked)
    }
    invocation.messages.note("the ledger is in use by \(owner), which does what is asked")
    return outcomes
  }

  private func grant(
    _ ids: [UploadID], _ invocation: Invocation
  ) async throws(Failure) -> [Outcome] {
    let ledger = try await invocation.openLedger(createsIt: false)
    var outcomes: [Outcome] = []
    for id in ids { outcomes.append(try await grant(id, in: ledger)) }
    await ledger.close()
    return outcomes
  }

  private func grant(_ id: UploadID, in ledger: Ledger) async throws(Failure) -> Outcome {
    try await Failure.from { () async throws(LedgerError) in
      let upload = try await ledger.upload(id)
      let events: [ProposedEvent]
      do throws(Rejection) {
        events = try upload.decide(wish(id).command)
      } catch {
        return .refused(upload.endText ?? error.message)
      }
      guard !events.isEmpty else { return .unchanged }
      try await ledger.append(events, to: id, expecting: .exactly(upload.revision))
      return .done
    }
  }

  // MARK: Reporting

  private func report(
    _ results: [(Upload, Outcome)], _ invocation: Invocation
  ) throws(Failure) -> ExitCode {
    var exit = ExitCode.ok
    for (upload, outcome) in results {
      if case .refused(let reason) = outcome {
        exit = .error
        invocation.messages.warning("\(upload.title) was not \(done): \(reason)")
      } else if invocation.format == .text {
        try invocation.output.line(line(upload, outcome))
      }
    }
    if invocation.format == .json {
      try invocation.output.json(document(results.map { ($0.0.id, $0.1) }, invocation))
    }
    return exit
  }

  private func line(_ upload: Upload, _ outcome: Outcome) -> String {
    switch outcome {
    case .done: "\(upload.title) is \(done)"
    case .wouldBeDone: "\(upload.title) would be \(done)"
    case .asked: "\(upload.title) will be \(done)"
    case .unchanged: "\(upload.title) \(unchanged)"
    case .refused(let reason): "\(upload.title): \(reason)"
    }
  }

  private func document(
    _ results: [(UploadID, Outcome)], _ invocation: Invocation
  ) -> JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text(invocation.command.name)),
      .init(
        "uploads",
        .array(
          results.map { id, outcome in
            var members: [JSONValue.Member] = [
              .init("upload", .text(id.description)),
              .init("outcome", .text(UploadWish.word(outcome))),
            ]
            if case .refused(let reason) = outcome {
              members.append(.init("message", .text(reason)))
            }
            return .object(members)
          })),
    ])
  }

  private static func word(_ outcome: Outcome) -> String {
    switch outcome {
    case .done: "done"
    case .wouldBeDone: "would_be_done"
    case .asked: "asked"
    case .unchanged: "unchanged"
    case .refused: "refused"
    }
  }
}

extension Upload {
  /// What a person calls it: its name and its id.
  var title: String { copy.map { "\($0.name.display) (\(id))" } ?? "\(id)" }

  /// Why nothing can be wished of it any more; nil while something can.
  fileprivate var endText: String? {
    switch ending {
    case .committed(let committed):
      "it is committed, the server has it as \(committed.remote.text)"
    case .deduplicated(.upload(let other)): "it has ended: \(other) brings the same bytes"
    case .deduplicated(.remote(let remote)):
      "it has ended: the server had the same bytes as \(remote.text)"
    case .cancelled: "it was cancelled; add the file again to upload it after all"
    case nil: nil
    }
  }
}
