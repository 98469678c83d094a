#if os(Linux)
  internal import Glibc
  internal import WaybillLedger
  internal import WaybillModel
  internal import WaybillSystem

  /// Owns transfers for processes that may end before them: what a background session of the system
  /// is elsewhere.
  ///
  /// At most one for each place. It judges nothing and retries nothing. Requests, and with them
  /// the credentials, are in its memory and nowhere else; results are in a file as well until they
  /// are acknowledged. When it ends, the transfers that run end with it.
  package actor TransferAgent {
    /// Deadlines and bounds.
    package struct Options: Sendable {
      /// How long it stays without a client, a transfer and a result that waits.
      package var idle: Duration = .seconds(60)
      /// How long it stays while results wait and nothing else goes on; they are in the file.
      package var idleWithResults: Duration = .seconds(3600)
      /// The most transfers and results together; what is beyond is not taken.
      package var maximumTasks = 1_024
      /// How long a client may take to say who it is, in seconds.
      package var helloSeconds = 10
      /// The most clients.
      package var maximumClients = 16
      /// Program and version, such as `waybill 1.0`.
      package var program = "waybill"

      package init() {}
    }

    private struct Client {
      let channel: MessageChannel
      /// Nil until it said hello; empty for one that only asks or ends.
      var session: String?
      /// The newest result it was given.
      var given: Int64 = 0
      /// Whether it gets more as soon as it has read what was sent.
      var isBehind = false
    }

    private struct TransferTask {
      let session: String
      let request: HTTPRequest
      /// Not started before; nil once it runs.
      var notBefore: Timestamp?
    }

    private let options: Options
    private let transport: any Transport
    private let lease: AgentLease
    private let listener: AgentListener
    private let ticks = FileChanges(path: nil, everyMilliseconds: 250)
    private let started = SystemClock.now
    private var results: AgentResults
    private var tasks: [TransferDescription: TransferTask] = [:]
    private var clients: [Int: Client] = [:]
    private var connected = 0
    private var lastUse = ContinuousClock.now
    private var isEnding = false
    private var isForgetting = false
    private var end: AsyncStream<Void>.Continuation?

    /// Becomes the agent of a place.
    ///
    /// - Parameter transport: moves the bytes; used by this agent alone.
    /// - Throws: `busy` when there is one already, `unusable` for a folder that is not ours.
    package init(
      place: AgentPlace, transport: any Transport, options: Options = Options()
    ) throws(AgentError) {
      try place.prepare()
      guard let lease = try AgentLease(place) else {
        throw AgentError(
          .busy, "an agent runs already", remedy: "see 'waybill agent status'")
      }
      self.lease = lease
      do throws(SystemError) {
        results = try AgentResults(path: place.results)
        listener = try AgentListener(path: place.socket)
      } catch {
        throw AgentError(
          .unusable, "the files in \(place.folder) cannot be used: \(error.text)",
          remedy: "check the folder, its owner, its mode and the length of its path")
      }
      self.transport = transport
      self.options = options
    }

    /// Works until it is idle for long enough or is asked to end; then the place is free.
    package func run() async {
      let (ended, end) = AsyncStream<Void>.makeStream()
      self.end = end
      let accepting = Task { for await channel in listener.channels { admit(channel) } }
      let hearing = Task { for await event in transport.events { receive(event) } }
      let watching = Task { for await _ in ticks.signals { await look() } }
      for await _ in ended {}
      accepting.cancel()
      watching.cancel()
      listener.close()
      await transport.shutDown()
      await hearing.value
      await withTaskGroup { group in
        for client in clients.values {
          group.addTask {
            await client.channel.flush()
            client.channel.close()
          }
        }
      }
      clients = [:]
      results.close()
      lease.release()
    }

    /// Takes nothing more and ends when what runs has ended.
    ///
    /// - Parameter cancels: whether to cancel what runs and forget it, as a force quit does: the
    ///   next launch of a client misses it and asks the server.
    package func stop(cancels: Bool) async {
      isEnding = true
      if cancels {
        isForgetting = true
        for (description, task) in tasks {
          if task.notBefore == nil {
            await transport.cancel(description)
          } else {
            finish(description, .noReply(.cancelled))
          }
        }
      }
      endIfDone()
    }

    private func endIfDone() {
      if isEnding, tasks.isEmpty { end?.finish() }
    }

    /// What no message brings about: dates that have come, and the end of idleness.
    private func look() async {
      let now = SystemClock.now
      for (description, task) in tasks {
        if let notBefore = task.notBefore, notBefore <= now { await begin(description) }
      }
      // Another folder in place of ours: nobody finds us any more, so nobody is waited for.
      if !listener.isReachable { isEnding = true }
      endIfDone()
      if !tasks.isEmpty || !clients.isEmpty { lastUse = .now }
      let idle = results.count == 0 ? options.idle : options.idleWithResults
      if ContinuousClock.now - lastUse >= idle {
        isEnding = true
        endIfDone()
      }
    }

    // MARK: Clients

    private func admit(_ channel: MessageChannel) {
      guard clients.count < options.maximumClients, !isEnding || !tasks.isEmpty else {
        return channel.close()
      }
      connected += 1
      let number = connected
      clients[number] = Client(channel: channel)
      channel.expectMessage(withinSeconds: options.helloSeconds)
      Task {
        while let bytes = await channel.next() {
          guard let message = ClientMessage(bytes), await take(message, from: number) else { break }
        }
        leave(number)
      }
    }

    private func leave(_ number: Int) {
      clients.removeValue(forKey: number)?.channel.close()
      lastUse = .now
    }

    /// Does what a client says; false for what a client in its state may not say.
    private func take(_ message: ClientMessage, from number: Int) async -> Bool {
      guard let client = clients[number] else { return false }
      switch (message, client.session) {
      case (.hello(let version, _, let session), nil):
        return welcome(number, version, session)
      case (.status, _?): client.channel.send(AgentMessage.status(status).bytes)
      case (.stop(let cancels), _?): await stop(cancels: cancels)
      case (.start(let description, let request, let notBefore), let session?)
      where !session.isEmpty:
        let task = TransferTask(
          session: session, request: request, notBefore: notBefore ?? Timestamp(microseconds: 0))
        await start(description, task, for: client.channel)
      case (.cancel(let description), let session?):
        guard let task = tasks[description], task.session == session else { return true }
        if task.notBefore == nil {
          await transport.cancel(description)
        } else {
          finish(description, .noReply(.cancelled))
        }
      case (.acknowledge(let result, let description), let session?):
        results.acknowledge(result, of: description, session: session)
      default: return false
      }
      return true
    }

    /// Lets a client in. One session has one client: the newer one takes the place of an older one,
    /// whose process may be gone or hang.
    private func welcome(_ number: Int, _ version: Int64, _ session: String?) -> Bool {
      guard let channel = clients[number]?.channel,
        session.map({ 1...AgentProtocol.maximumSessionBytes ~= $0.utf8.count }) ?? true
      else { return false }
      // Whoever only asks or ends is served in every version.
      guard version == AgentProtocol.version || session == nil else {
        channel.send(
          AgentMessage.refused(version: AgentProtocol.version, program: options.program).bytes)
        return true
      }
      if let session {
        for (other, client) in clients where client.session == session {
          clients[other] = nil
          client.channel.send(AgentMessage.replaced.bytes)
          Task {
            await client.channel.flush()
            client.channel.close()
          }
        }
      }
      clients[number]?.session = session ?? ""
      var mine = tasks.filter { $0.value.session == session }.map(\.key)
      mine += session.map { results.results(of: $0).map(\.task) } ?? []
      channel.send(
        AgentMessage.welcome(
          program: options.program, process: Int64(getpid()), tasks: Array(Set(mine))
        ).bytes)
      give(to: number)
      return true
    }

    private var status: AgentStatus {
      AgentStatus(
        process: Int64(getpid()), program: options.program, started: started,
        tasks: Int64(tasks.count), results: Int64(results.count),
        clients: Int64(clients.values.count { $0.session?.isEmpty == false }), isEnding: isEnding)
    }

    // MARK: Transfers

    private func start(
      _ description: TransferDescription, _ task: TransferTask, for channel: MessageChannel
    ) async {
      if tasks[description]?.session == task.session { return }
      guard !isEnding, tasks[description] == nil, makeRoom() else {
        return channel.send(AgentMessage.notTaken(description, isEnding: isEnding).bytes)
      }
      tasks[description] = task
      if let notBefore = task.notBefore, notBefore <= SystemClock.now { await begin(description) }
    }

    /// Whether one more may be taken. Where results nobody collects have filled the place, such as
    /// those of a ledger that is gone, the oldest one goes: its client asks the server instead.
    private func makeRoom() -> Bool {
      if tasks.count + results.count < options.maximumTasks { return true }
      let sessions = Set(clients.values.compactMap(\.session))
      return results.forgetOldest { !sessions.contains($0) }
    }

    private func begin(_ description: TransferDescription) async {
      guard let request = tasks[description]?.request else { return }
      tasks[description]?.notBefore = nil
      await transport.start(description, request)
    }

    private func receive(_ event: TransportEvent) {
      switch event {
      case .progress(let description, let sent):
        // A client that is behind is not told: a newer number makes this one worthless.
        if let task = tasks[description],
          let client = clients.values.first(where: { $0.session == task.session }),
          client.channel.unsentBytes < MessageFrames.maximumFrameBytes
        {
          client.channel.send(AgentMessage.progress(description, sent: sent).bytes)
        }
      case .completed(let description, let outcome): finish(description, outcome)
      }
    }

    private func finish(_ description: TransferDescription, _ outcome: HTTPOutcome) {
      guard let task = tasks.removeValue(forKey: description) else { return }
      lastUse = .now
      let client = clients.first { $0.value.session == task.session }
      if isForgetting, outcome == .noReply(.cancelled) {
        client?.value.channel.send(AgentMessage.result(0, description, outcome).bytes)
      } else {
        _ = results.add(
          outcome, of: description, session: task.session, secrets: task.request.secrets)
        if let client { give(to: client.key) }
      }
      endIfDone()
    }

    /// Gives a client the results it has not been given, a bounded number of bytes ahead of its
    /// reading.
    private func give(to number: Int) {
      guard let client = clients[number], let session = client.session, !client.isBehind else {
        return
      }
      for result in results.results(of: session, after: client.given) {
        guard client.channel.unsentBytes < 1 << 20 else {
          clients[number]?.isBehind = true
          Task {
            await client.channel.flush()
            clients[number]?.isBehind = false
            give(to: number)
          }
          return
        }
        clients[number]?.given = result.number
        client.channel.send(
          AgentMessage.result(result.number, result.task, result.outcome).bytes)
      }
    }
  }

  extension HTTPRequest {
    /// What in it must not be written anywhere: words of credentials, the query of its URL, which
    /// in a signed one is the credential, and the path of one that names a session.
    fileprivate var secrets: [[UInt8]] {
      let names: Set = ["authorization", "proxy-authorization", "cookie"]
      let words = headers.filter { names.contains($0.name.lowercased()) }.flatMap {
        $0.value.split(separator: " ").map(String.init)
      }
      let query = url.split(separator: "?", maxSplits: 1).dropFirst().map(String.init)
      let session = method == .patch ? url.split(separator: "/").suffix(1).map(String.init) : []
      return (words + query + session).map { [UInt8]($0.utf8) }.filter { $0.count >= 8 }
    }
  }
#endif
