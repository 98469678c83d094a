#if os(Linux)
  package import WaybillModel

  /// The language between an agent and its clients: one JSON object a message, `type` first.
  ///
  /// `hello`, `refused`, `status` and `stop` keep their form in every version, so that a program of
  /// any version can end an agent of any other.
  enum AgentProtocol {
    /// The version of everything else.
    static let version: Int64 = 1
    /// The most bytes of a session's name.
    static let maximumSessionBytes = 4_096

    static func message(_ type: String, _ members: [JSONValue.Member] = []) -> [UInt8] {
      [UInt8](JSONValue.object([.init("type", .text(type))] + members).serialized.utf8)
    }
  }

  /// What a client says.
  enum ClientMessage {
    /// Who it is; a client without a session only asks about the agent or ends it.
    case hello(version: Int64, program: String, session: String?)
    /// Send this.
    case start(TransferDescription, HTTPRequest, notBefore: Timestamp?)
    /// Stop sending that.
    case cancel(TransferDescription)
    /// The result is recorded; forget it.
    case acknowledge(Int64, TransferDescription)
    /// What goes on?
    case status
    /// Take nothing more, and end; cancel what runs, or let it finish.
    case stop(cancels: Bool)

    /// The message.
    var bytes: [UInt8] {
      switch self {
      case .hello(let version, let program, let session):
        AgentProtocol.message(
          "hello",
          [.init("protocol", .integer(version)), .init("program", .text(program))]
            + (session.map { [.init("session", .text($0))] } ?? []))
      case .start(let task, let request, let notBefore):
        AgentProtocol.message(
          "start",
          [.init("task", .text(task.description))] + request.members
            + (notBefore.map { [.init("not_before", .integer($0.microseconds))] } ?? []))
      case .cancel(let task):
        AgentProtocol.message("cancel", [.init("task", .text(task.description))])
      case .acknowledge(let number, let task):
        AgentProtocol.message(
          "acknowledge",
          [.init("result", .integer(number)), .init("task", .text(task.description))])
      case .status: AgentProtocol.message("status")
      case .stop(let cancels):
        AgentProtocol.message("stop", [.init("cancel", .bool(cancels))])
      }
    }

    /// Reads a message; nil for anything else.
    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONValue.read(bytes), let type = json["type"]?.text else { return nil }
      let task = json["task"]?.text.flatMap { TransferDescription($0) }
      switch type {
      case "hello":
        guard let version = json["protocol"]?.integer, let program = json["program"]?.text
        else { return nil }
        self = .hello(version: version, program: program, session: json["session"]?.text)
      case "start":
        guard let task, let request = HTTPRequest(json) else { return nil }
        self = .start(
          task, request,
          notBefore: json["not_before"]?.integer.map { Timestamp(microseconds: $0) })
      case "cancel":
        guard let task else { return nil }
        self = .cancel(task)
      case "acknowledge":
        guard let task, let number = json["result"]?.integer else { return nil }
        self = .acknowledge(number, task)
      case "status": self = .status
      case "stop":
        guard let cancels = json["cancel"]?.bool else { return nil }
        self = .stop(cancels: cancels)
      default: return nil
      }
    }
  }

  /// What an agent says.
  enum AgentMessage {
    /// The client is known; these transfers of its session run or have a result that waits.
    case welcome(program: String, process: Int64, tasks: [TransferDescription])
    /// The client cannot be served; `program` is the agent's.
    case refused(version: Int64, program: String)
    /// Bytes of a body handed to the network so far.
    case progress(TransferDescription, sent: Int64)
    /// What became of a transfer; a number of 0 is not to be acknowledged.
    case result(Int64, TransferDescription, HTTPOutcome)
    /// A newer client of the session has taken the place of this one.
    case replaced
    /// A start that changed nothing: the agent is ending, or it has no room.
    case notTaken(TransferDescription, isEnding: Bool)
    /// What goes on.
    case status(AgentStatus)

    var bytes: [UInt8] {
      switch self {
      case .welcome(let program, let process, let tasks):
        AgentProtocol.message(
          "welcome",
          [
            .init("program", .text(program)), .init("process", .integer(process)),
            .init("tasks", .array(tasks.map { .text($0.description) })),
          ])
      case .refused(let version, let program):
        AgentProtocol.message(
          "refused", [.init("protocol", .integer(version)), .init("program", .text(program))])
      case .progress(let task, let sent):
        AgentProtocol.message(
          "progress", [.init("task", .text(task.description)), .init("sent", .integer(sent))])
      case .result(let number, let task, let outcome):
        AgentProtocol.message(
          "result",
          [.init("result", .integer(number)), .init("task", .text(task.description))]
            + outcome.members)
      case .replaced: AgentProtocol.message("replaced")
      case .notTaken(let task, let isEnding):
        AgentProtocol.message(
          "not_taken", [.init("task", .text(task.description)), .init("ending", .bool(isEnding))])
      case .status(let status): AgentProtocol.message("status", status.members)
      }
    }

    init?(_ bytes: [UInt8]) {
      guard let json = try? JSONValue.read(bytes), let type = json["type"]?.text else { return nil }
      let task = json["task"]?.text.flatMap { TransferDescription($0) }
      switch type {
      case "welcome":
        guard let program = json["program"]?.text, let process = json["process"]?.integer,
          let tasks = json["tasks"]?.array
        else { return nil }
        let described = tasks.compactMap { $0.text.flatMap { TransferDescription($0) } }
        self = .welcome(program: program, process: process, tasks: described)
      case "refused":
        guard let version = json["protocol"]?.integer, let program = json["program"]?.text
        else { return nil }
        self = .refused(version: version, program: program)
      case "progress":
        guard let task, let sent = json["sent"]?.integer else { return nil }
        self = .progress(task, sent: sent)
      case "result":
        guard let task, let number = json["result"]?.integer, let outcome = HTTPOutcome(json)
        else { return nil }
        self = .result(number, task, outcome)
      case "replaced": self = .replaced
      case "not_taken":
        guard let task, let isEnding = json["ending"]?.bool else { return nil }
        self = .notTaken(task, isEnding: isEnding)
      case "status":
        guard let status = AgentStatus(json) else { return nil }
        self = .status(status)
      default: return nil
      }
    }
  }

  /// What an agent says of itself.
  package struct AgentStatus: Equatable, Sendable {
    /// The agent's process.
    package let process: Int64
    /// The agent's program and version.
    package let program: String
    /// When it started.
    package let started: Timestamp
    /// Transfers that run or wait for their date.
    package let tasks: Int64
    /// Results that nobody has acknowledged yet.
    package let results: Int64
    /// Clients that are connected, the asking one not counted.
    package let clients: Int64
    /// Whether it takes nothing more.
    package let isEnding: Bool

    var members: [JSONValue.Member] {
      [
        .init("process", .integer(process)), .init("program", .text(program)),
        .init("started", .integer(started.microseconds)), .init("tasks", .integer(tasks)),
        .init("results", .integer(results)), .init("clients", .integer(clients)),
        .init("ending", .bool(isEnding)),
      ]
    }
  }

  extension AgentStatus {
    init?(_ json: JSONValue) {
      guard let process = json["process"]?.integer, let program = json["program"]?.text,
        let started = json["started"]?.integer, let tasks = json["tasks"]?.integer,
        let results = json["results"]?.integer, let clients = json["clients"]?.integer,
        let isEnding = json["ending"]?.bool
      else { return nil }
      self.init(
        process: process, program: program, started: Timestamp(microseconds: started),
        tasks: tasks, results: results, clients: clients, isEnding: isEnding)
    }
  }
#endif
