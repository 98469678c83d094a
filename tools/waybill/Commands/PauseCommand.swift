internal import WaybillLedger

extension Command {
  static let pause = Command(
    name: "pause", group: .upload, summary: "hold uploads back",
    usage: ["UPLOAD…", "--all"], operands: .atLeast(0, "UPLOAD"), options: [.all, .dryRun],
    examples: [
      Example("waybill pause 019ad2c1", "the upload whose id begins so"),
      Example("waybill pause -n 019ad2c1", "say what would be done, do nothing"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try await UploadWish(wish: { .pause($0) }, done: "paused", unchanged: "was paused already")
        .run(invocation)
    })
}
