#if os(Linux)
  internal import Glibc
  public import WaybillModel
  internal import WaybillSystem

  /// The transport on Linux whose transfers outlive the process: an agent owns them, a small
  /// process of the same user that is started when there is none.
  ///
  /// The next process with the same session hears of what runs and of what has ended meanwhile. If
  /// the agent itself ends, its transfers are gone: they complete as `.noReply(.dropped)` here, and
  /// a later launch misses them. Calls are made by this process and end with it.
  ///
  /// A request travels to the agent over a Unix socket that only this user can open. Credentials
  /// stay in the memory of the two processes.
  public final class AgentTransport: Transport {
    /// What has happened since this process took up the session, and the results from before.
    public let events: AsyncStream<TransportEvent>

    /// The agent reads any slice of a file.
    public let sendsSlices = true

    /// Transfers go on in the agent.
    public let outlivesProcess = true

    private let mailbox: EventMailbox
    private let calls: CurlTransport
    private let session: String
    private let options: Options
    private let state = Locked(AgentSession())

    /// Takes up a session at the agent, which is started where none runs.
    ///
    /// - Parameters:
    ///   - session: one for each ledger, such as its folder's absolute path, 1 to 4,096 bytes. A
    ///     process that takes up a session of another one gets it; in the other one everything
    ///     ends as `.noReply(.cancelled)`.
    ///   - options: where the agent is and how it is started.
    /// - Throws: `AgentError` when no agent can be reached or started, with what to do.
    public init(session: String, options: Options) async throws(AgentError) {
      mailbox = EventMailbox()
      events = mailbox.makeStream()
      calls = CurlTransport(options: options.calls)
      self.session = session
      self.options = options
      do throws(AgentError) {
        adopt(try await connect())
      } catch {
        await calls.shutDown()
        throw error
      }
    }

    deinit { state.withLock { $0.channel?.close() } }

    /// Hands one part to the agent; its completion arrives in `events`.
    public func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      await start(description, request, notBefore: nil)
    }

    /// Hands one part to the agent, which does not begin before a date.
    ///
    /// Beyond what the agent takes the completion is `.noReply(.notTaken)`; a request that is too
    /// long to be handed over is `.noReply(.unusable)`.
    public func start(
      _ description: TransferDescription, _ request: HTTPRequest, notBefore: Timestamp?
    ) async {
      let message = ClientMessage.start(
        description, request.withAbsolutePath, notBefore: notBefore
      ).bytes
      let isLost = state.withLock { state -> Bool in
        guard state.live[description] == nil else { return false }
        guard !state.isShutDown else {
          // Not at once: a process whose session was taken over may go on asking.
          mailbox.post(completion: .noReply(.notTaken), of: description)
          return false
        }
        state.live[description] = AgentSession.Transfer(
          number: state.makeNumber(), message: message, waitsForAgent: state.channel == nil)
        guard MessageFrames.encode(message) != nil else {
          complete(description, .noReply(.unusable), &state)
          return false
        }
        state.channel?.send(message)
        return state.channel == nil && !state.isConnecting
      }
      if isLost { await reconnect() }
    }

    /// Makes one small call from this process and waits for its reply.
    public func call(_ request: HTTPRequest) async -> HTTPOutcome { await calls.call(request) }

    /// The parts in the agent's hands, also those of an earlier process, and those whose completion
    /// nobody has taken from `events` yet.
    public func liveTransfers() async -> [TransferDescription] {
      state.withLock { state in
        let live = state.live.sorted { $0.value.number < $1.value.number }.map(\.key)
        return mailbox.waitingCompletions.filter { state.live[$0] == nil } + live
      }
    }

    /// Stops one transfer; its completion arrives as `.noReply(.cancelled)`.
    public func cancel(_ description: TransferDescription) async {
      state.withLock { state in
        guard let transfer = state.live[description] else { return }
        if transfer.waitsForAgent || state.channel == nil {
          complete(description, .noReply(.cancelled), &state)
        } else {
          state.channel?.send(ClientMessage.cancel(description).bytes)
        }
      }
    }

    /// Lets the agent forget a result that has been recorded.
    public func acknowledge(_ description: TransferDescription) async {
      state.withLock { state in
        guard let number = state.takeResult(of: description) else { return }
        state.channel?.send(ClientMessage.acknowledge(number, description).bytes)
      }
    }

    /// Ends calls and `events`; the agent goes on with the transfers.
    public func shutDown() async {
      let channel = state.withLock { state in
        state.isShutDown = true
        defer { state.channel = nil }
        return state.channel
      }
      await channel?.flush()
      channel?.close()
      await calls.shutDown()
      mailbox.finish()
    }

    // MARK: The agent

    private func connect() async throws(AgentError) -> AgentConnection {
      state.withLock { $0.reap() }
      return try await AgentConnection.open(
        options.place, session: session, program: options.calls.userAgent,
        command: options.command, patience: options.patienceSeconds)
    }

    private func adopt(_ connection: AgentConnection) {
      let isTaken = state.withLock { state in
        state.isConnecting = false
        state.process = connection.process ?? state.process
        guard !state.isShutDown else { return false }
        state.channel = connection.channel
        let known = Set(connection.tasks)
        for (description, transfer) in state.live where !known.contains(description) {
          if transfer.waitsForAgent {
            state.live[description]?.waitsForAgent = false
            transfer.message.map(connection.channel.send)
          } else {
            complete(description, .noReply(.dropped), &state)
          }
        }
        for description in connection.tasks where state.live[description] == nil {
          // A result that this process has already goes on waiting to be acknowledged.
          guard state.results[description] == nil else { continue }
          state.live[description] = AgentSession.Transfer(number: state.makeNumber())
        }
        return true
      }
      guard isTaken else { return connection.channel.close() }
      let channel = connection.channel
      Task { [weak self] in
        while let bytes = await channel.next() {
          guard let message = AgentMessage(bytes) else { break }
          self?.take(message)
        }
        channel.close()
        await self?.lose(channel)
      }
    }

    private func take(_ message: AgentMessage) {
      state.withLock { state in
        switch message {
        case .progress(let description, let sent):
          guard let transfer = state.live[description] else { return }
          let ticket = Ticket(number: transfer.number)
          mailbox.post(progress: sent, of: description, ticket: ticket)
        case .result(let number, let description, let outcome):
          guard number == 0 || state.take(result: number, of: description) else { return }
          complete(description, outcome, &state)
        case .notTaken(let description, let isEnding):
          if isEnding {
            state.live[description]?.waitsForAgent = true
          } else {
            complete(description, .noReply(.notTaken), &state)
          }
        case .replaced:
          state.isShutDown = true
          for description in state.live.keys { complete(description, .noReply(.cancelled), &state) }
        case .welcome, .refused, .status: break
        }
      }
    }

    /// The mailbox gets it under the lock, so that a transfer is always in one of the two.
    private func complete(
      _ description: TransferDescription, _ outcome: HTTPOutcome, _ state: inout AgentSession
    ) {
      state.live[description] = nil
      mailbox.post(completion: outcome, of: description)
    }

    private func lose(_ channel: MessageChannel) async {
      let isLost = state.withLock { state in
        guard state.channel === channel else { return false }
        state.channel = nil
        return true
      }
      if isLost { await reconnect() }
    }

    /// Goes to the next agent; where there is none, everything that waits for one is dropped, and
    /// the next start tries again.
    private func reconnect() async {
      let isOurs = state.withLock { state in
        guard !state.isShutDown, state.channel == nil, !state.isConnecting else { return false }
        state.isConnecting = true
        return true
      }
      guard isOurs else { return }
      do throws(AgentError) {
        adopt(try await connect())
      } catch {
        state.withLock { state in
          state.isConnecting = false
          for description in state.live.keys { complete(description, .noReply(.dropped), &state) }
        }
      }
    }
  }

  extension AgentTransport {
    /// Where the agent is, and how it is started.
    public struct Options: Sendable {
      /// Where the agent is.
      public var place: AgentPlace
      /// Path and words of the program that becomes the agent, such as `/usr/bin/waybill`, `agent`
      /// and `--detached`; nil starts none.
      public var command: [String]?
      /// How long an agent may take to start and to answer, in seconds.
      public var patienceSeconds = 20
      /// How calls are made, and who we say we are.
      public var calls = CurlTransport.Options()

      /// Makes options from the two that have no default.
      public init(place: AgentPlace, command: [String]?) {
        self.place = place
        self.command = command
      }
    }
  }

  /// What a client knows of its session at the agent.
  struct AgentSession {
    /// A transfer that has not completed.
    struct Transfer {
      /// Its place in the order of starts; also tells its progress from that of an earlier one.
      let number: UInt64
      /// What was handed over, by this process.
      var message: [UInt8]?
      /// The agent is ending and has not taken it: it is for the next one.
      var waitsForAgent = false
    }

    var channel: MessageChannel?
    var live: [TransferDescription: Transfer] = [:]
    /// Numbers of results that were handed on and are not acknowledged, oldest first.
    var results: [TransferDescription: [Int64]] = [:]
    var isConnecting = true
    var isShutDown = false
    /// An agent that this process has started.
    var process: pid_t?
    private var lastNumber: UInt64 = 0

    mutating func makeNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    /// Whether a result is new.
    mutating func take(result number: Int64, of description: TransferDescription) -> Bool {
      if results[description, default: []].contains(number) { return false }
      results[description, default: []].append(number)
      return true
    }

    mutating func takeResult(of description: TransferDescription) -> Int64? {
      guard var numbers = results[description], !numbers.isEmpty else { return nil }
      let number = numbers.removeFirst()
      results[description] = numbers.isEmpty ? nil : numbers
      return number
    }

    /// Lets the system forget an agent of ours that has ended.
    mutating func reap() {
      if let process, waitpid(process, nil, Int32(WNOHANG)) != 0 { self.process = nil }
    }
  }

  extension HTTPRequest {
    /// The request with the path of its file from the root: an agent works elsewhere.
    var withAbsolutePath: HTTPRequest {
      guard case .file(let slice) = body, !slice.path.hasPrefix("/"),
        let folder = getcwd(nil, 0)
      else { return self }
      defer { free(folder) }
      var request = self
      request.body = .file(
        FileSlice(
          path: "\(String(cString: folder))/\(slice.path)", offset: slice.offset,
          count: slice.count))
      return request
    }
  }
#endif
