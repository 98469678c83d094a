internal import WaybillLedger

extension Command {
  static let cancel = Command(
    name: "cancel", group: .upload, summary: "give uploads up; their copies are deleted",
    usage: ["UPLOAD…", "--all"],
    details: [
      "The ledger keeps the history. The copies it made are deleted by the push that runs now, or"
        + " by the next one; the files you named stay. What is committed cannot be cancelled."
    ],
    operands: .atLeast(0, "UPLOAD"), options: [.all, .dryRun, .yes],
    examples: [
      Example("waybill cancel 019ad2c1", "the upload whose id begins so, once you agree"),
      Example("waybill cancel -n 019ad2c1", "say what would be done, do nothing"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try await UploadWish(
        wish: { .cancel($0) }, done: "cancelled", unchanged: "was cancelled already",
        loss: "The ledger's copies are deleted."
      ).run(invocation)
    })
}
