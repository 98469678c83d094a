#if os(Linux)
  /// Asks about the agent of a place, or ends it.
  package struct AgentControl: Sendable {
    private let place: AgentPlace
    private let program: String
    private let patienceSeconds: Int

    /// - Parameter patienceSeconds: how long an agent may take to answer.
    package init(place: AgentPlace, program: String, patienceSeconds: Int = 20) {
      self.place = place
      self.program = program
      self.patienceSeconds = patienceSeconds
    }

    /// What the agent says of itself.
    ///
    /// - Throws: `notRunning` when there is none.
    package func status() async throws(AgentError) -> AgentStatus {
      let channel = try await open()
      defer { channel.close() }
      channel.send(ClientMessage.status.bytes)
      return try await AgentControl.status(on: channel)
    }

    /// Lets the agent end and waits until it has.
    ///
    /// - Parameters:
    ///   - cancels: whether it cancels what runs; otherwise it lets that finish.
    ///   - willWait: called with what goes on, before the wait.
    /// - Throws: `notRunning` when there is none.
    package func stop(
      cancels: Bool, willWait: (AgentStatus) -> Void = { _ in }
    ) async throws(AgentError) {
      let channel = try await open()
      defer { channel.close() }
      channel.send(ClientMessage.status.bytes)
      willWait(try await AgentControl.status(on: channel))
      channel.send(ClientMessage.stop(cancels: cancels).bytes)
      while await channel.next() != nil {}
    }

    private func open() async throws(AgentError) -> MessageChannel {
      try await AgentConnection.open(
        place, session: nil, program: program, command: nil, patience: patienceSeconds
      ).channel
    }

    private static func status(on channel: MessageChannel) async throws(AgentError) -> AgentStatus {
      guard let bytes = await channel.next(), case .status(let status) = AgentMessage(bytes) else {
        throw AgentError(
          .noAnswer, "the agent went away", remedy: "see 'waybill agent status'")
      }
      return status
    }
  }
#endif
