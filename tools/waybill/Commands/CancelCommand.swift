internal import WaybillLedger

extension Command {
  static let cancel = Command(
    name: "cancel", group: .upload,
    summary: "give uploads up; their copies are deleted, their history stays",
    usage: ["UPLOAD…"], operands: .atLeast(1, "UPLOAD"), options: [.dryRun],
    examples: [
      Example("waybill cancel 019ad2c1", "the upload whose id begins so"),
      Example("waybill cancel -n 019ad2c1", "say what would be done, do nothing"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try await UploadWish(wish: { .cancel($0) }, done: "cancelled").run(invocation)
    })
}
