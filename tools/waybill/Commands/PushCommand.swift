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
      "With --background the parts on their way belong to an agent, a process of its own: they go"
        + " on when this one ends, by Ctrl-C or otherwise. The next push with --background collects"
        + " what became of them. The credential is in the agent's memory while they run; see"
        + " 'waybill help agent'.",
      "With --wifi-only, --on-charger or --window nothing is sent while the rule forbids it,"
        + " however urgent it is: what is on its way is stopped, and goes on by itself when the"
        + " rule allows it again. A push that may send nothing for as long as --patience says, or"
        + " knows that it may not, ends with exit code 1; what is queued stays. A rule holds for"
        + " this push, and for an agent's parts as long as the push runs.",
    ],
    operands: .atLeast(0, "FILE"),
    options: Option.destination + [
      .tokenFile, .account, .recursive, .patience, .urgent, .background,
    ]
      + Option.rules,
    examples: [
      Example(
        "waybill push cellar.mov --to https://photos.example.org --token-file token",
        "upload one file"),
      Example("waybill push --token-file token", "go on with what is queued"),
      Example(
        "waybill push --background --token-file token",
        "go on, and let what is on its way outlive this command"),
      Example(
        "waybill push --wifi-only --window 22:00-06:00 --patience 12h",
        "go on in the night, over a network that does not cost"),
    ],
    exitCodes: [
      .ok, .error, .usage, .needsAttention, .noLedger, .busy, .newerFormat, .corrupt, .interrupted,
    ],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let files = try PickedFiles(invocation)
      if files.isEmpty { try await invocation.requireLedger() }
      let destination = try files.isEmpty ? nil : invocation.destination()
      let credential = try TokenFile(invocation)
      let policy = try invocation.policy()
      let ledger = try await invocation.openLedger(createsIt: !files.isEmpty)
      if let destination {
        // Before anything runs: the credential at hand is for this service and no other.
        try await Failure.from { () async throws(LedgerError) in
          try await ledger.reader.requireDestination(destination)
        }
      }
      var options = UploadEngine.Options()
      options.patienceMilliseconds = invocation.patienceMilliseconds
      options.destination = destination
      options.policy = policy.rules
      options.conditions = policy.device
      let transport = try await invocation.transport(for: ledger)
      let engine = UploadEngine(
        ledger: ledger, transport: transport, credentials: credential.provider, options: options)
      let push = Push(
        engine: engine, files: files.picks, destination: destination,
        priority: invocation.arguments.has("urgent") ? .urgent : .normal)
      let outcome = try await invocation.withLiveBoard { board async throws(Failure) in
        try await push.run(on: board)
      }
      let report = try await Failure.from { () async throws(LedgerError) in
        PushReport(
          outcome: outcome, ended: try await Push.Ended(launch: ledger.launch, of: ledger.reader),
          picked: files.picks.count, refused: files.refused,
          counts: try await ledger.reader.counts(), destination: destination,
          isInBackground: transport.outlivesProcess)
      }
      // What was recorded is acknowledged by then.
      if transport.outlivesProcess { await transport.shutDown() }
      await ledger.close()
      return try report.print(invocation)
    })
}

extension Invocation {
  /// What moves the bytes: this process, or with `--background` the agent.
  fileprivate func transport(for ledger: Ledger) async throws(Failure) -> any Transport {
    #if os(Linux)
      guard arguments.has("background") else { return CurlTransport(options: .commandLine) }
      guard let program = Environment.programPath else {
        throw Failure(
          .failed, "the path of this program is not known", remedy: "Mount /proc, or do without.")
      }
      var options = AgentTransport.Options(
        place: try agentPlace(), command: [program, "agent", "--detached"])
      options.calls = .commandLine
      do throws(AgentError) {
        return try await AgentTransport(session: ledger.directory, options: options)
      } catch {
        throw Failure(error)
      }
    #else
      return CurlTransport(options: .commandLine)
    #endif
  }

  /// Makes sure that there is something to go on with where no file is named.
  fileprivate func requireLedger() async throws(Failure) {
    do throws(Failure) {
      await (try openReader()).close()
    } catch {
      guard error.code == .noLedger else { throw error }
      throw Failure(
        .noLedger, "no file is named, and \(error.what)",
        remedy: "Name files and --to URL to begin, or the ledger to go on with by --ledger.")
    }
  }
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
  }

  /// Adds the files, uploads until nothing is left to do, and keeps the board current.
  func run(on board: LiveBoard) async throws(Failure) -> Outcome {
    let interrupts = try Interrupts.listen()
    let rows = QueueBoard(engine.ledger, board)
    let showing = Task { await rows.follow() }
    let running = Task { () async throws(LedgerError) in try await engine.run(.follow) }
    let adding = Task { () async throws(LedgerError) -> AddSummary in
      guard let destination else { return AddSummary() }
      return try await engine.add(files, to: destination, priority: priority)
    }
    let stopping = Task {
      for await _ in interrupts {
        await board.note("stopping; Ctrl-C again ends it at once")
        adding.cancel()
        running.cancel()
      }
    }
    defer { stopping.cancel() }
    let added = await adding.result
    await engine.endWhenIdle()
    let ran = await running.result
    showing.cancel()
    await showing.value
    await rows.settle()
    do {
      return Outcome(summary: try added.typed(), ending: try ran.typed())
    } catch {
      throw Failure(error)
    }
  }

  /// The uploads that came to a good end in one launch, as the log tells it.
  struct Ended: Sendable {
    /// Uploads the server has bound to their records.
    var committed = 0
    /// Uploads whose bytes the server turned out to have; nothing was sent for them.
    var foundOnServer = 0

    /// None.
    init() {}

    /// Reads the events of a launch, page by page.
    init(launch: LaunchGeneration, of reader: LedgerReader) async throws(LedgerError) {
      var query = EventQuery()
      query.launch = launch
      query.kinds = [EventKind.uploadCommitted.rawValue, EventKind.uploadDeduplicated.rawValue]
      while true {
        let page = try await reader.events(query)
        for event in page {
          switch event.body {
          case .upload(.committed): committed += 1
          case .upload(.deduplicated(let fact)):
            if case .remote = fact.original { foundOnServer += 1 }
          default: break
          }
        }
        guard page.count == LedgerReader.maximumPage, let last = page.last else { return }
        query.after = last.position
      }
    }
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
