internal import WaybillLedger

extension Command {
  static let resume = Command(
    name: "resume", group: .upload, summary: "no longer hold uploads back",
    usage: ["UPLOAD…", "--all"], operands: .atLeast(0, "UPLOAD"), options: [.all, .dryRun],
    examples: [
      Example("waybill resume 019ad2c1", "the upload whose id begins so"),
      Example("waybill resume -n 019ad2c1", "say what would be done, do nothing"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try await UploadWish(wish: { .resume($0) }, done: "resumed", unchanged: "was not paused").run(
        invocation)
    })
}
