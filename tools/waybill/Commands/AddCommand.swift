internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let add = Command(
    name: "add", group: .upload, summary: "queue files without sending anything yet",
    usage: ["FILE… --to URL"],
    details: [
      "Copies each file into the ledger, hashes and queues it. 'waybill push' sends it later."
    ],
    operands: .atLeast(1, "FILE"), options: Option.destination + [.account, .recursive, .urgent],
    examples: [
      Example("waybill add *.jpg --to https://photos.example.org", "queue pictures for later"),
      Example("waybill add -r holiday --to https://photos.example.org", "queue a whole folder"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let files = try PickedFiles(invocation)
      let destination = try invocation.destination()
      let ledger = try await invocation.openLedger(createsIt: true)
      let engine = UploadEngine(
        ledger: ledger, transport: CurlTransport(options: .commandLine),
        credentials: CredentialProvider { _ in nil })
      let priority: Priority = invocation.arguments.has("urgent") ? .urgent : .normal
      let summary = try await Failure.from { () async throws(LedgerError) in
        try await engine.add(files.picks, to: destination, priority: priority)
      }
      let counts = try await Failure.from { () async throws(LedgerError) in
        try await ledger.reader.counts()
      }
      await ledger.close()
      return try PushReport(
        outcome: Push.Outcome(summary: summary, ending: .stopped), ended: Push.Ended(),
        picked: files.picks.count, refused: files.refused, counts: counts, destination: destination,
        isOnlyAdded: true
      ).print(invocation)
    })
}
