internal import WaybillLedger
internal import WaybillModel

/// Commands that wish something of single uploads. The owner of the ledger grants them: this
/// process where nobody else is it, and through the inbox where somebody is.
struct UploadWish: Sendable {
  /// The wish about one upload.
  let wish: @Sendable (UploadID) -> InboxCommand
  /// What was done, in a person's words, such as `cancelled`.
  let done: String

  func run(_ invocation: Invocation) async throws(Failure) -> ExitCode {
    let reader = try await invocation.openReader()
    var ids: [UploadID] = []
    for index in invocation.arguments.operands.indices {
      ids.append(try await invocation.upload(named: invocation.operandText(index), in: reader))
    }
    if invocation.arguments.has("dry-run") {
      for id in ids { try invocation.output.line("would be \(done): \(id)") }
      return .ok
    }
    if let owner = reader.owner {
      try await drop(ids, for: owner, invocation)
      return .ok
    }
    await reader.close()
    let ledger = try await invocation.openLedger(createsIt: false)
    var exit = ExitCode.ok
    for id in ids {
      if let rejection = try await grant(id, in: ledger) {
        invocation.messages.warning("\(id) was not \(done): \(rejection.message)")
        exit = .error
      } else {
        try report(id, invocation)
      }
    }
    await ledger.close()
    return exit
  }

  private func drop(
    _ ids: [UploadID], for owner: String, _ invocation: Invocation
  ) async throws(Failure) {
    let inbox = Inbox(ledgerDirectory: try invocation.ledgerPath())
    var random = SystemRandomNumberGenerator()
    for id in ids {
      let halves = UUIDv7.halves(time: SystemClock.now, random: random.next())
      let command = EventID(high: halves.high, low: halves.low)
      try await Failure.from { () async throws(LedgerError) in
        try inbox.drop(wish(id), id: command)
      }
    }
    invocation.messages.note("the ledger is in use by \(owner), which was asked to do it")
  }

  private func grant(_ id: UploadID, in ledger: Ledger) async throws(Failure) -> Rejection? {
    try await Failure.from { () async throws(LedgerError) in
      let upload = try await ledger.upload(id)
      let events: [ProposedEvent]
      do throws(Rejection) {
        events = try upload.decide(wish(id).command)
      } catch {
        return error
      }
      try await ledger.append(events, to: id, expecting: .exactly(upload.revision))
      return nil
    }
  }

  private func report(_ id: UploadID, _ invocation: Invocation) throws(Failure) {
    if invocation.format == .json {
      try invocation.output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text(done)),
          .init("upload", .text(id.description)),
        ]))
    } else {
      try invocation.output.line("\(done): \(id)")
    }
  }
}
