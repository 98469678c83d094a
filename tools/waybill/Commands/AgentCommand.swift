internal import WaybillEngine
internal import WaybillModel

#if canImport(Glibc)
  internal import Glibc
#endif

extension Command {
  static let agent = Command(
    name: "agent", group: .serve,
    summary: "own the transfers of 'push --background', so that they outlive it",
    usage: ["[--idle TIME]", "status", "stop [--cancel]"],
    details: [
      "'push --background' starts it when it is needed, and it ends by itself some time after the"
        + " last transfer. There is one for each user, behind a socket in $XDG_RUNTIME_DIR/waybill,"
        + " else in $XDG_STATE_HOME/waybill/agent. Results wait in a file beside the socket until a"
        + " push has recorded them."
        + " Where an agent runs already, another one ends with 11.",
      "The credential of a transfer is in the agent's memory while the transfer runs, and nowhere"
        + " else: not in its arguments, its environment or its files.",
      "'stop' takes no new transfers, lets those that run finish and waits for that. With --cancel"
        + " they end at once; the next push asks the server what it has and sends the rest. A push"
        + " that is still running starts a new agent.",
    ],
    operands: .atMost(1, "ACTION"),
    options: [
      Option(
        "idle", .duration(.seconds(1)...(.seconds(86_400))),
        help: "how long it stays with nothing to do; 60s if not given"),
      Option("cancel", help: "with stop: end what runs"),
      Option("detached", help: "work in / with nothing inherited, as a push starts it"),
    ],
    examples: [
      Example("waybill agent status", "say whether one runs and what it does"),
      Example("waybill agent stop --cancel", "end it and what it sends at once"),
    ],
    exitCodes: [.ok, .error, .usage, .busy],
    run: { (invocation) async throws(Failure) -> ExitCode in
      #if os(Linux)
        let action =
          try invocation.arguments.operands.isEmpty ? nil : invocation.operandText(0)
        guard action == "stop" || !invocation.arguments.has("cancel") else {
          throw Failure.usage("--cancel goes with 'agent stop'", command: "agent")
        }
        switch action {
        case nil: return try await invocation.runAgent()
        case "status": return try await invocation.showAgent()
        case "stop": return try await invocation.stopAgent()
        case let other?:
          throw Failure.usage(
            "agent has no action '\(EscapedText.escape(other))'; there are status and stop",
            command: "agent")
        }
      #else
        throw Failure(
          .failed, "there is no agent on this system: it sends in the background by itself",
          remedy: "Use a background URLSession.")
      #endif
    })
}

#if os(Linux)
  extension Invocation {
    /// Where the agent of this user is.
    func agentPlace() throws(Failure) -> AgentPlace {
      guard let place = AgentPlace(environment: { environment[$0] }) else {
        throw Failure.usage(
          "no place for the agent is known: set XDG_RUNTIME_DIR or HOME", command: command.name)
      }
      return place
    }

    private func control() throws(Failure) -> AgentControl {
      AgentControl(place: try agentPlace(), program: CurlTransport.Options.commandLine.userAgent)
    }

    fileprivate func runAgent() async throws(Failure) -> ExitCode {
      let place = try agentPlace()
      if arguments.has("detached") {
        // Before anything of ours is open.
        closefrom(3)
        _ = chdir("/")
      }
      umask(0o077)
      // A dump of its memory would put the credentials of its transfers onto a disk.
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
      let interrupts = try Interrupts.listen()
      var options = TransferAgent.Options()
      options.program = CurlTransport.Options.commandLine.userAgent
      if let idle = arguments.duration("idle") { options.idle = idle }
      let agent = try await start(at: place, options)
      messages.note("the agent listens in \(EscapedText.escape(place.folder))")
      let stopping = Task {
        for await _ in interrupts { await agent.stop(cancels: true) }
      }
      await agent.run()
      stopping.cancel()
      return .ok
    }

    /// Becomes the agent; waits a moment for one that is just ending.
    private func start(
      at place: AgentPlace, _ options: TransferAgent.Options
    ) async throws(Failure) -> TransferAgent {
      let control = try control()
      for _ in 0..<40 {
        do throws(AgentError) {
          return try TransferAgent(
            place: place, transport: CurlTransport(options: .commandLine), options: options)
        } catch {
          guard error.code == .busy, (try? await control.status()) == nil else {
            throw Failure(error)
          }
        }
        try? await Task.sleep(for: .milliseconds(50))
      }
      throw Failure(
        .busy, "an agent is ending and does not come to its end",
        remedy: "Look at its process, or end it.")
    }

    fileprivate func showAgent() async throws(Failure) -> ExitCode {
      let control = try control()
      let status: AgentStatus?
      do throws(AgentError) {
        status = try await control.status()
      } catch {
        guard error.code == .notRunning else { throw Failure(error) }
        status = nil
      }
      if format == .json {
        try output.json(.object(AgentText.members(of: status)))
      } else {
        try output.line(AgentText.line(of: status))
      }
      return .ok
    }

    fileprivate func stopAgent() async throws(Failure) -> ExitCode {
      let control = try control()
      let cancels = arguments.has("cancel")
      do throws(AgentError) {
        try await control.stop(cancels: cancels) { status in
          guard status.tasks > 0 else { return }
          let transfers = HumanText.count(Int(status.tasks), "transfer")
          messages.note(cancels ? "\(transfers) cancelled" : "\(transfers) to finish")
        }
      } catch {
        guard error.code == .notRunning else { throw Failure(error) }
        messages.note("no agent runs")
      }
      return .ok
    }
  }

  /// What an agent says of itself, in words.
  private enum AgentText {
    static func line(of status: AgentStatus?) -> String {
      guard let status else { return "no agent runs" }
      let parts = [
        HumanText.count(Int(status.tasks), "transfer"),
        HumanText.count(Int(status.results), "result") + " not collected",
        HumanText.count(Int(status.clients), "client"),
      ]
      return "process \(status.process), \(EscapedText.escape(status.program)): "
        + parts.joined(separator: ", ") + (status.isEnding ? "; it is ending" : "")
    }

    static func members(of status: AgentStatus?) -> [JSONValue.Member] {
      let head: [JSONValue.Member] = [
        .init("v", .integer(1)), .init("type", .text("agent")),
        .init("running", .bool(status != nil)),
      ]
      guard let status else { return head }
      return head + [
        .init("process", .integer(status.process)), .init("program", .text(status.program)),
        .init("started", .text(status.started.description)),
        .init("transfers", .integer(status.tasks)), .init("results", .integer(status.results)),
        .init("clients", .integer(status.clients)), .init("ending", .bool(status.isEnding)),
      ]
    }
  }

  extension Failure {
    /// A failure of the agent.
    init(_ error: AgentError) {
      self.init(
        error.code == .busy ? .busy : .failed, error.message, remedy: error.remedy.asSentence)
    }
  }
#endif
