internal import WaybillLedger

extension Command {
  static let retry = Command(
    name: "retry", group: .upload, summary: "try uploads again that need attention or wait",
    usage: ["UPLOAD…", "--all"], operands: .atLeast(0, "UPLOAD"), options: [.all, .dryRun],
    examples: [
      Example("waybill retry 019ad2c1", "the upload whose id begins so"),
      Example("waybill retry -n 019ad2c1", "say what would be done, do nothing"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      try await UploadWish(
        wish: { .retry($0) }, done: "queued again",
        unchanged: "is neither held up nor in need of attention"
      ).run(invocation)
    })
}
