#if os(Linux)
  internal import Glibc
  internal import WaybillModel
  internal import WaybillSystem

  /// A way to the agent of a place, which is started where none runs.
  struct AgentConnection {
    let channel: MessageChannel
    /// The transfers of the session that run or whose result waits.
    let tasks: [TransferDescription]
    /// The agent's process, where this connection has started it.
    let process: pid_t?

    /// Connects and says hello.
    ///
    /// - Parameters:
    ///   - session: whose transfers the connection is about; nil only asks or ends.
    ///   - command: starts an agent; nil starts none.
    ///   - patience: how long an agent may take to start and to answer, in seconds.
    static func open(
      _ place: AgentPlace, session: String?, program: String, command: [String]?, patience: Int
    ) async throws(AgentError) -> AgentConnection {
      if command == nil { try place.check() } else { try place.prepare() }
      var starter = AgentStarter(command: command)
      let deadline = ContinuousClock.now + .seconds(patience)
      while ContinuousClock.now < deadline, !Task.isCancelled {
        if let channel = try connect(place) {
          if let tasks = try await hello(
            on: channel, session: session, program: program, patience: patience)
          {
            return AgentConnection(channel: channel, tasks: tasks, process: starter.process)
          }
        } else {
          try starter.startIfNeeded()
        }
        // Nothing announces a socket; an agent is there within some milliseconds.
        try? await Task.sleep(for: .milliseconds(10))
      }
      throw AgentError(
        .noAnswer, "the agent does not answer",
        remedy: "run 'waybill agent' to see why, or end the one that hangs")
    }

    /// A channel to whoever listens; nil when nobody does.
    private static func connect(_ place: AgentPlace) throws(AgentError) -> MessageChannel? {
      do throws(SystemError) {
        return MessageChannel(descriptor: try UnixSocket.connect(place.socket))
      } catch {
        if error.number == ENOENT || error.number == ECONNREFUSED { return nil }
        throw AgentError(
          .unusable, "the agent's socket \(place.socket) cannot be used: \(error.text)",
          remedy: "check the folder, its owner, its mode and the length of its path")
      }
    }

    /// The transfers of the session; nil when the agent is just ending.
    private static func hello(
      on channel: MessageChannel, session: String?, program: String, patience: Int
    ) async throws(AgentError) -> [TransferDescription]? {
      channel.expectMessage(withinSeconds: (patience + 1) / 2)
      let hello = ClientMessage.hello(
        version: AgentProtocol.version, program: program, session: session)
      channel.send(hello.bytes)
      guard let answer = await channel.next() else { return nil }
      switch AgentMessage(answer) {
      case .welcome(_, _, let tasks): return tasks
      case .refused(let version, let other):
        throw AgentError(
          .otherVersion,
          "the agent that runs is \(EscapedText.escape(other)) and speaks version \(version) of"
            + " the protocol, \(program) speaks version \(AgentProtocol.version)",
          remedy: "run 'waybill agent stop', which lets its transfers finish, then try again")
      default:
        throw AgentError(
          .otherVersion, "what answers at the agent's socket is no agent",
          remedy: "see which process listens there")
      }
    }
  }

  /// Starts the agent as a process of its own: another session of the system, no terminal, nothing
  /// inherited but `/dev/null`, and no variable of the environment that is not needed.
  struct AgentStarter {
    /// The most tries: an agent ends at once where another one was quicker.
    private static let maximumStarts = 5
    /// What an agent needs to know of its surroundings. A credential would be in another one.
    private static let variables = [
      "HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TZ", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
      "ALL_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "no_proxy",
      "SSL_CERT_DIR", "SSL_CERT_FILE",
    ]

    let command: [String]?
    private(set) var process: pid_t?
    private var starts = 0

    init(command: [String]?) { self.command = command }

    /// Starts an agent unless one that was started is on its way.
    mutating func startIfNeeded() throws(AgentError) {
      guard let command else {
        throw AgentError(
          .notRunning, "no agent runs", remedy: "'waybill push --background' starts one")
      }
      if let process {
        var status: Int32 = 0
        guard waitpid(process, &status, Int32(WNOHANG)) == process else { return }
        self.process = nil
        let code = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
        // 11 is the exit code of a program that found another one in its place.
        guard code == 0 || code == 11 else { throw AgentStarter.failure("it ended with \(code)") }
      }
      guard starts < AgentStarter.maximumStarts else {
        throw AgentStarter.failure("it ends at once, again and again")
      }
      starts += 1
      process = try AgentStarter.start(command)
    }

    private static func start(_ command: [String]) throws(AgentError) -> pid_t {
      let environment = variables.compactMap { name in
        getenv(name).map { "\(name)=\(String(cString: $0))" }
      }
      do throws(SystemError) {
        return try ChildProgram.start(command, environment: environment, hasOwnSession: true)
      } catch {
        throw failure(error.text)
      }
    }

    private static func failure(_ reason: String) -> AgentError {
      AgentError(
        .noAnswer, "the agent does not start: \(reason)", remedy: "run 'waybill agent' to see why")
    }
  }
#endif
