#if os(Linux)
  import Foundation
  import WaybillEngine
  import WaybillModel

  /// An agent in this process, in a folder of its own.
  final class AgentRig: Sendable {
    let place: AgentPlace
    let agent: TransferAgent
    private let running: Task<Void, Never>

    /// Starts one, in the folder of an earlier one or in a new one.
    init(
      transport: any Transport = CurlTransport(options: .test), at place: AgentPlace? = nil,
      options: TransferAgent.Options = .test
    ) throws {
      let folder = NSTemporaryDirectory() + "waybill-agent-\(UUID().uuidString.prefix(8))"
      self.place = place ?? AgentPlace(folder: folder)
      let agent = try TransferAgent(place: self.place, transport: transport, options: options)
      self.agent = agent
      running = Task { await agent.run() }
    }

    deinit { try? FileManager.default.removeItem(atPath: place.folder) }

    func connect(session: String = "ledger") async throws -> AgentTransport {
      var options = AgentTransport.Options(place: place, command: nil)
      options.calls = .test
      // Hundreds of tests share two threads.
      options.patienceSeconds = 240
      return try await AgentTransport(session: session, options: options)
    }

    /// What is in its file of results.
    var results: String {
      (try? String(contentsOfFile: place.folder + "/agent.results", encoding: .utf8)) ?? ""
    }

    /// Returns when it has ended.
    func end() async { await running.value }

    /// Ends it with all it sends.
    func stop() async {
      await agent.stop(cancels: true)
      await end()
    }
  }

  extension TransferAgent.Options {
    static var test: TransferAgent.Options {
      var options = TransferAgent.Options()
      options.program = "waybill/test"
      options.helloSeconds = 240
      return options
    }
  }
#endif
