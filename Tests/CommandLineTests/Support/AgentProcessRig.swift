#if os(Linux)
  import Foundation
  import Glibc
  import Testing
  import WaybillModel
  import WaybillServer

  /// A folder with a ledger, a place for an agent, and a server in this process, so that what it
  /// has seen can be counted.
  final class AgentProcessRig {
    static let token = "canary-of-the-agent-0123456789"

    let folder: URL
    private(set) var server: WaybillServer
    private let environment: [String: String]

    /// Starts a server that rehearses `faults`, with parts of 64 KiB.
    init(faults: String = "") throws {
      folder = FileManager.default.temporaryDirectory
        .appending(path: "waybill-\(UUID().uuidString.prefix(8))")
      try FileManager.default.createDirectory(
        at: folder.appending(path: "run"), withIntermediateDirectories: true)
      server = try Self.startServer(in: folder, faults: faults)
      environment = [
        "HOME": folder.path, "WAYBILL_LEDGER": folder.appending(path: "ledger").path,
        "WAYBILL_TOKEN": Self.token, "XDG_RUNTIME_DIR": folder.appending(path: "run").path,
        "TZ": "UTC",
      ]
    }

    private static func startServer(
      in folder: URL, port: UInt16 = 0, faults: String = ""
    ) throws -> WaybillServer {
      var options = ServerOptions(
        dataDirectory: folder.appending(path: "server").path,
        tokens: try AccessTokens("\(token) alice\n"))
      options.port = port
      options.partSizeBytes = 65_536
      options.faults = try FaultScript(faults)
      return try WaybillServer.start(options)
    }

    /// Ends the server with what it was told to delay, and starts one without faults on its files,
    /// which counts anew.
    func replaceServer() throws {
      let port = server.port
      server.stop(graceMilliseconds: 0)
      server = try Self.startServer(in: folder, port: port)
    }

    deinit {
      for process in (try? agentProcesses()) ?? [] { kill(process, SIGKILL) }
      server.stop(graceMilliseconds: 0)
      try? FileManager.default.removeItem(at: folder)
    }

    var url: String { server.baseURL }
    var agentFolder: String { folder.appending(path: "run/waybill").path }

    /// Makes a file of so many parts, and gives its path.
    func file(_ name: String, _ parts: Int) throws -> String {
      let path = folder.appending(path: name)
      let seed = name.utf8.reduce(0) { $0 &+ Int($1) }
      var bytes = Data(count: parts * 65_536)
      for place in stride(from: 0, to: bytes.count, by: 509) {
        bytes[place] = UInt8(truncatingIfNeeded: place / 509 &+ seed)
      }
      try bytes.write(to: path)
      return path.path
    }

    func run(_ arguments: String...) async throws -> Binary.Ended {
      await AgentProcessRig.end(of: try Binary.start(arguments, environment: environment))
    }

    /// Waits for the end of a program on a thread of its own: the tests that run beside this one
    /// need those they share.
    static func end(of running: RunningBinary) async -> Binary.Ended {
      nonisolated(unsafe) let running = running
      return await withCheckedContinuation { waiter in
        Thread.detachNewThread { waiter.resume(returning: running.end()) }
      }
    }

    func start(_ arguments: String...) throws -> RunningBinary {
      try Binary.start(arguments, environment: environment)
    }

    /// What `agent status` says.
    func agent() async throws -> JSONValue {
      let ended = try await run("agent", "status", "--json")
      return try JSONValue.read([UInt8](ended.output.utf8))
    }

    /// How often each kind stands in the log.
    func kinds() async throws -> [String: Int] {
      let log = try await run("log", "--jsonl")
      var counts: [String: Int] = [:]
      for line in log.output.split(separator: "\n") {
        let event = try JSONValue.read([UInt8](line.utf8))
        counts[event["kind"]?.text ?? "", default: 0] += 1
      }
      return counts
    }

    /// The agents of this rig, by what their environment says.
    func agentProcesses() throws -> [pid_t] {
      let files = FileManager.default
      return try files.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
        guard let words = files.contents(atPath: "/proc/\($0)/cmdline"),
          let variables = files.contents(atPath: "/proc/\($0)/environ")
        else { return false }
        return String(decoding: words, as: UTF8.self).contains("\0agent\0")
          && String(decoding: variables, as: UTF8.self).contains(folder.path)
      }
    }

    /// Waits until a condition that nothing announces holds.
    func until(_ condition: () async throws -> Bool) async throws {
      let deadline = ContinuousClock.now + .seconds(100)
      while try await !condition() {
        try #require(ContinuousClock.now < deadline, "it never came")
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }
#endif
