internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let push = Command(
    name: "push", group: .upload,
    summary: "queue files and upload until the server has committed them",
    usage: ["FILE… --to URL --token-file FILE", ""],
    details: [
      "Copies each file into the ledger, hashes and queues it, then sends what is queued and"
        + " waits until the server has bound every object to its record. Bytes that are queued or"
        + " committed already are not sent again.",
      "Ctrl-C stops safely. Run it again, also without files, to go on where it stopped.",
    ],
    operands: .atLeast(0, "FILE"),
    options: Option.destination + [.tokenFile, .recursive, .patience, .urgent],
    examples: [
      Example(
        "waybill push cellar.mov --to https://photos.example.org --token-file token",
        "upload one file"),
      Example("waybill push --token-file token", "go on with what is queued"),
    ],
    exitCodes: [.ok, .error, .usage, .needsAttention, .noLedger, .busy, .interrupted],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let files = try PickedFiles(invocation)
      let destination = try files.isEmpty ? nil : invocation.destination()
      let credential = try TokenFile(invocation)
      let ledger = try await invocation.openLedger(createsIt: !files.isEmpty)
      var options = UploadEngine.Options()
      options.patienceMilliseconds = invocation.patienceMilliseconds
      options.destination = destination
      let engine = UploadEngine(
        ledger: ledger, transport: CurlTransport(options: .commandLine),
        credentials: credential.provider, options: options)
      let push = Push(
        engine: engine, files: files.picks, destination: destination,
        priority: invocation.arguments.has("urgent") ? .urgent : .normal)
      let outcome = try await invocation.withLiveBoard { board async throws(Failure) in
        try await push.run(on: board)
      }
      let counts = try await Failure.from { () async throws(LedgerError) in
        try await ledger.reader.counts()
      }
      await ledger.close()
      return try PushReport(outcome: outcome, refused: files.refused, counts: counts)
        .print(invocation)
    })
}

/// One push: adding, sending and showing side by side.
struct Push: Sendable {
  let engine: UploadEngine
  let files: [PickedFile]
  let destination: Destination?
  let priority: Priority

  /// What became of it.
  struct Outcome: Sendable {
    let summary: AddSummary
    let ending: UploadEngine.Ending
    /// Queued files whose bytes the server turned out to have.
    var foundOnServer = 0
  }

  /// Adds the files, uploads until nothing is left to do, and keeps the board current.
  func run(on board: LiveBoard) async throws(Failure) -> Outcome {
    let interrupts = try Interrupts.listen()
    let showing = Task { await QueueBoard(engine.ledger, board).follow() }
    let running = Task { () async throws(LedgerError) in try await engine.run(.follow) }
    let adding = Task { () async throws(LedgerError) -> AddSummary in
      guard let destination else { return AddSummary() }
      return try await engine.add(files, to: destination, priority: priority)
    }
    let stopping = Task {
      for await _ in interrupts {
        await board.note("stopping; what is queued stays, run 'waybill push' to go on")
        adding.cancel()
        await engine.stop()
      }
    }
    defer {
      stopping.cancel()
      showing.cancel()
    }
    let added = await adding.result
    await engine.endWhenIdle()
    let ran = await running.result
    do {
      let summary = try added.typed()
      let ending = try ran.typed()
      return Outcome(
        summary: summary, ending: ending, foundOnServer: try await foundOnServer(summary))
    } catch {
      throw Failure(error)
    }
  }
}

extension Push {
  private func foundOnServer(_ summary: AddSummary) async throws(LedgerError) -> Int {
    var count = 0
    for (_, id) in summary.queued {
      if case .deduplicated = try await engine.ledger.upload(id).ending { count += 1 }
    }
    return count
  }
}

extension Result {
  /// The value, or the failure in its own type: a task's result has lost it.
  fileprivate func typed() throws(LedgerError) -> Success {
    switch self {
    case .success(let value): return value
    case .failure(let error):
      guard let error = error as? LedgerError else {
        preconditionFailure("the ledger throws its own errors only, not \(error)")
      }
      throw error
    }
  }
}
