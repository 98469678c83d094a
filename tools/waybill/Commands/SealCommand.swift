internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let seal = Command(
    name: "seal", group: .upload, summary: "sign the account out: nothing is sent from its ledger",
    usage: ["[--discard] [-n] [--yes]"],
    details: [
      "Uploads and their copies stay as they are and go on after 'waybill unseal'. Parts that an"
        + " agent is sending are stopped. Nothing can be added meanwhile: another account has a"
        + " ledger of its own.",
      "With --discard uploads that have not ended are cancelled and all local copies deleted; what"
        + " the server has is not touched, and the history stays until 'waybill purge --all'.",
    ],
    options: [
      Option("discard", help: "cancel what has not ended, and delete the copies"), .dryRun, .yes,
    ],
    examples: [
      Example("waybill seal", "sign out, keep everything"),
      Example("waybill seal --discard -n", "say what would be given up"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let copies: LocalCopies = invocation.arguments.has("discard") ? .discard : .keep
      let reader = try await invocation.openReader()
      let counts = try await Failure.from { () async throws(LedgerError) in
        try await reader.counts()
      }
      await reader.close()
      let open = counts.unfinished
      if invocation.arguments.has("dry-run") {
        try invocation.reportSeal(copies, uploads: copies == .discard ? open : 0, isDone: false)
        return .ok
      }
      if copies == .discard, open > 0 {
        let what = HumanText.count(Int(clamping: open), "upload")
        let loss = "What is not on the server yet is lost, unless the originals are elsewhere."
        guard try invocation.agrees(to: loss, what: "\(what) and the local copies") else {
          invocation.messages.note("nothing was sealed")
          return .error
        }
      }
      let discarded = try await invocation.signOut(copies)
      try invocation.reportSeal(copies, uploads: Int64(discarded.uploads), isDone: true)
      guard discarded.copiesLeft == 0 else {
        let what = HumanText.count(discarded.copiesLeft, "copy", plural: "copies")
        throw Failure(
          .failed, "\(what) could not be deleted", remedy: "Run the same command again.")
      }
      return .ok
    })
}

extension LedgerCounts {
  /// Uploads that have not ended.
  fileprivate var unfinished: Int64 {
    let ended: Set<StateWord> = [.committed, .cancelled, .deduplicated]
    return uploads.reduce(0) { ended.contains($1.key) ? $0 : $0 + $1.value }
  }
}

extension Invocation {
  /// Seals the ledger; what an agent sends of it is stopped before anything is discarded.
  fileprivate func signOut(_ copies: LocalCopies) async throws(Failure) -> SignOut.Discarded {
    let ledger = try await openLedger(createsIt: false)
    let signOut = SignOut(ledger: ledger)
    let discarded: SignOut.Discarded
    do throws(LedgerError) {
      try await signOut.record(copies)
      #if os(Linux)
        await stopAgentTransfers(of: ledger)
      #endif
      discarded = try await signOut.seal(copies)
    } catch {
      await ledger.close()
      throw Failure(error)
    }
    await ledger.close()
    return discarded
  }

  #if os(Linux)
    private func stopAgentTransfers(of ledger: Ledger) async {
      guard let place = try? agentPlace() else { return }
      let transport: AgentTransport
      do throws(AgentError) {
        transport = try await AgentTransport(
          session: ledger.directory, options: AgentTransport.Options(place: place, command: nil))
      } catch {
        guard error.code != .notRunning else { return }
        return messages.warning(
          "parts may still be on their way in the agent: \(error.message); \(error.remedy)")
      }
      for transfer in await transport.liveTransfers() { await transport.cancel(transfer) }
      await transport.shutDown()
    }
  #endif

  fileprivate func reportSeal(
    _ copies: LocalCopies, uploads: Int64, isDone: Bool
  ) throws(Failure) {
    guard format == .text else {
      return try output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text("seal")), .init("dry_run", .bool(!isDone)),
          .init("copies", .text(copies.rawValue)), .init("uploads", .integer(uploads)),
        ]))
    }
    try output.line(isDone ? "the ledger is sealed" : "would seal the ledger")
    guard copies == .discard else { return }
    let what = HumanText.count(Int(clamping: uploads), "upload")
    try output.line(
      isDone
        ? "\(what) cancelled, their copies deleted"
        : "would cancel \(what) and delete the copies")
  }
}
