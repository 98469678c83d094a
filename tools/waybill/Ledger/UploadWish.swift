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
  private enum Outcome {
    case done
    case wouldBeDone
    case asked
    case unchanged
    case refused(String)
  }

  func run(_ invocation: Invocation) async throws(Failure) -> ExitCode {
    let reader = try await invocation.openReader()
    let uploads = try await named(invocation, reader)
    let isTrial = invocation.arguments.has("dry-run")
    let affected = uploads.filter { if case .wouldBeDone = judge($0) { true } else { false } }
    if !isTrial, !affected.isEmpty, let loss, try !invocation.agrees(to: loss, affected) {
      invocation.messages.note("nothing was \(done)")
      return .error
    }
    let results: [(Upload, Outcome)]
    if isTrial || affected.isEmpty {
      results = uploads.map { ($0, judge($0)) }
    } else if let owner = reader.owner {
      results = try await ask(uploads, owner, invocation)
    } else {
      do throws(Failure) {
        results = try await grant(uploads, invocation)
      } catch {
        // Somebody took the ledger since we looked.
        guard error.code == .busy else { throw error }
        results = try await ask(uploads, reader.owner ?? "another process", invocation)
      }
    }
    await reader.close()
    return try report(results, invocation)
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
      let upload = try await Failure.from { () async throws(LedgerError) in
        try await reader.upload(id)
      }
      uploads.append(upload ?? Upload(id: id))
    }
    return uploads
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

  private func ask(
    _ uploads: [Upload], _ owner: String, _ invocation: Invocation
  ) async throws(Failure) -> [(Upload, Outcome)] {
    let inbox = Inbox(ledgerDirectory: try invocation.ledgerPath())
    var random = SystemRandomNumberGenerator()
    var results: [(Upload, Outcome)] = []
    for upload in uploads {
      guard case .wouldBeDone = judge(upload) else {
        results.append((upload, judge(upload)))
        continue
      }
      let halves = UUIDv7.halves(time: SystemClock.now, random: random.next())
      let command = EventID(high: halves.high, low: halves.low)
      try await Failure.from { () async throws(LedgerError) in
        try inbox.drop(wish(upload.id), id: command)
      }
      results.append((upload, .asked))
    }
    invocation.messages.note("the ledger is in use by \(owner), which does what is asked")
    return results
  }

  private func grant(
    _ uploads: [Upload], _ invocation: Invocation
  ) async throws(Failure) -> [(Upload, Outcome)] {
    let ledger = try await invocation.openLedger(createsIt: false)
    var results: [(Upload, Outcome)] = []
    for upload in uploads {
      results.append((upload, try await grant(upload.id, in: ledger)))
    }
    await ledger.close()
    return results
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
      try invocation.output.json(document(results, invocation))
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

  private func document(_ results: [(Upload, Outcome)], _ invocation: Invocation) -> JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text(invocation.command.name)),
      .init(
        "uploads",
        .array(
          results.map { upload, outcome in
            var members: [JSONValue.Member] = [
              .init("upload", .text(upload.id.description)),
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
