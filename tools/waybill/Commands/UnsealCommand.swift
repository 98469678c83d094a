internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let unseal = Command(
    name: "unseal", group: .upload, summary: "sign the account in again: its uploads go on",
    usage: ["[-n]"],
    details: [
      "Only for the account that signed out: what is queued here goes out with the credential of"
        + " the next 'waybill push'. What was to be discarded is given up first."
    ],
    options: [.dryRun],
    examples: [
      Example("waybill unseal", "let the uploads go on with the next push"),
      Example("waybill unseal -n", "say whether the ledger is sealed"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let state = try await Failure.from { () async throws(LedgerError) in
        try await reader.state()
      }
      let left = try await Failure.from { () async throws(LedgerError) in
        try await reader.unfinishedUploads(after: nil)
      }
      let discards = state.seal == .discard && !left.isEmpty
      await reader.close()
      let isDry = invocation.arguments.has("dry-run")
      if state.isSealed, !isDry {
        let ledger = try await invocation.openLedger(createsIt: false)
        do throws(LedgerError) {
          try await SignOut(ledger: ledger).unseal()
        } catch {
          await ledger.close()
          throw Failure(error)
        }
        await ledger.close()
      }
      try invocation.reportUnseal(
        wasSealed: state.isSealed, discards: discards, isDry: isDry)
      return .ok
    })
}

extension Invocation {
  fileprivate func reportUnseal(
    wasSealed: Bool, discards: Bool, isDry: Bool
  ) throws(Failure) {
    guard format == .text else {
      return try output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text("unseal")), .init("dry_run", .bool(isDry)),
          .init("was_sealed", .bool(wasSealed)),
        ]))
    }
    if discards {
      try output.line(
        "what has not ended \(isDry ? "would be" : "was") given up first, as the seal said")
    }
    guard wasSealed else { return try output.line("the ledger was not sealed") }
    try output.line(isDry ? "would unseal the ledger" : "the ledger is no longer sealed")
  }
}
