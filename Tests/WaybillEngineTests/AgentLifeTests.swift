#if os(Linux)
  import Foundation
  import Testing
  import WaybillLedger
  import WaybillModel

  @testable import WaybillEngine

  /// How an agent comes to be and how it ends.
  @Suite(.timeLimit(.minutes(4)))
  struct AgentLifeTests {
    private func mode(_ path: String) -> UInt32 {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func `there is one agent at a place, and when it ends the place is free`() async throws {
      let rig = try AgentRig()
      let error = #expect(throws: AgentError.self) { try AgentRig(at: rig.place) }
      #expect(error?.code == .busy)
      // The one that was refused has broken nothing.
      let client = try await rig.connect()
      await client.shutDown()
      await rig.stop()
      let next = try AgentRig(at: rig.place)
      await next.stop()
    }

    @Test func `only its user can open what it has`() async throws {
      let rig = try AgentRig()
      #expect(mode(rig.place.folder) == 0o700)
      for file in [rig.place.socket, rig.place.lease, rig.place.results] {
        #expect(mode(file) == 0o600, "\(file)")
      }
      await rig.stop()
      #expect(mode(rig.place.socket) == 0)
    }

    @Test(arguments: ["open", "link", "file", "foreign"])
    func `a folder that is not ours alone is refused by agent and client`(kind: String) async throws
    {
      let folder = NSTemporaryDirectory() + "waybill-place-\(UUID().uuidString.prefix(8))"
      defer { try? FileManager.default.removeItem(atPath: folder) }
      switch kind {
      case "open": mkdir(folder, 0o755)
      case "link": symlink(NSTemporaryDirectory(), folder)
      case "file": _ = FileManager.default.createFile(atPath: folder, contents: nil)
      default:
        mkdir(folder, 0o700)
        // Only a superuser can give a folder away.
        guard chown(folder, 1, 1) == 0 else { return }
      }
      let place = AgentPlace(folder: folder)
      let error = #expect(throws: AgentError.self) { try AgentRig(at: place) }
      #expect(error?.code == .unusable)
      let options = AgentTransport.Options(place: place, command: nil)
      let refused = await #expect(throws: AgentError.self) {
        try await AgentTransport(session: "a", options: options)
      }
      #expect(refused?.code == .unusable)
    }

    @Test func `a path too long for a socket is named as what is wrong`() async throws {
      let folder = NSTemporaryDirectory() + String(repeating: "long", count: 30)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let error = #expect(throws: AgentError.self) {
        try AgentRig(at: AgentPlace(folder: folder))
      }
      #expect(error?.remedy.contains("length of its path") == true)
    }

    @Test func `a socket that nobody listens at any more is replaced`() async throws {
      let rig = try AgentRig()
      let socket = rig.place.socket
      await rig.stop()
      close(try UnixSocket.listen(socket))
      let options = AgentTransport.Options(place: rig.place, command: nil)
      let error = await #expect(throws: AgentError.self) {
        try await AgentTransport(session: "a", options: options)
      }
      #expect(error?.code == .notRunning)
      let next = try AgentRig(at: rig.place)
      let client = try await next.connect()
      await client.shutDown()
      await next.stop()
    }

    @Test func `an idle agent ends by itself`() async throws {
      var options = TransferAgent.Options.test
      options.idle = .milliseconds(1)
      let rig = try AgentRig(options: options)
      await rig.end()
      #expect(mode(rig.place.socket) == 0)
    }

    @Test func `an agent whose folder is gone ends when what runs has ended`() async throws {
      let server = try NastyServer { $0.serve() }
      defer { server.stop() }
      let rig = try AgentRig()
      let client = try await rig.connect()
      try FileManager.default.removeItem(atPath: rig.place.folder)
      await rig.end()
      await client.shutDown()
    }

    @Test func `stop lets what runs finish and takes nothing new`() async throws {
      let group = DispatchGroup()
      group.enter()
      let server = try NastyServer { peer in
        while peer.readRequest() != nil {
          group.wait()
          peer.reply("200 OK")
        }
      }
      defer { server.stop() }
      let rig = try AgentRig()
      let client = try await rig.connect()
      let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
      await client.start(.sample(part: 0), request)
      try await eventually { server.seen.count == 1 }
      await rig.agent.stop(cancels: false)
      await client.start(.sample(part: 1), request)
      group.leave()
      await rig.end()
      let outcomes = await client.completions(2)
      #expect(outcomes[.sample(part: 0)]?.map(\.status) == [200])
      // There is no next agent to hand it to.
      #expect(outcomes[.sample(part: 1)] == [.noReply(.dropped)])
      #expect(server.seen.count == 1)
      await client.shutDown()
    }

    @Test func `stop with cancel ends what runs and leaves nothing of it`() async throws {
      let server = try NastyServer { peer in
        while peer.readHead() != nil { peer.waitForHangup() }
      }
      defer { server.stop() }
      let rig = try AgentRig()
      let client = try await rig.connect()
      let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
      for part in 0..<4 { await client.start(.sample(part: part), request) }
      await client.start(
        .sample(part: 4), request, notBefore: SystemClock.now.adding(milliseconds: 3_600_000))
      try await eventually { server.connectionCount == 4 }
      await rig.stop()
      let outcomes = await client.completions(5)
      #expect(outcomes.values.allSatisfy { $0 == [.noReply(.cancelled)] })
      #expect(rig.results == "")
      await client.shutDown()
    }

    @Test func `an agent of another version says so, and can still be asked and ended`()
      async throws
    {
      let rig = try AgentRig()
      let channel = MessageChannel(descriptor: try UnixSocket.connect(rig.place.socket))
      channel.send(ClientMessage.hello(version: 99, program: "newer/9", session: "a").bytes)
      guard
        case .refused(let version, let program)? = (await channel.next()).flatMap(AgentMessage.init)
      else {
        Issue.record("it was not refused")
        return
      }
      #expect(version == AgentProtocol.version && program == "waybill/test")
      channel.close()
      let other = MessageChannel(descriptor: try UnixSocket.connect(rig.place.socket))
      other.send(ClientMessage.hello(version: 99, program: "newer/9", session: nil).bytes)
      #expect(await other.next() != nil)
      other.send(ClientMessage.stop(cancels: true).bytes)
      #expect(await other.next() == nil)
      await rig.end()
    }

    @Test func `a client that meets another version says what to do`() async throws {
      let place = AgentPlace(
        folder: NSTemporaryDirectory() + "waybill-place-\(UUID().uuidString.prefix(8))")
      try place.prepare()
      defer { try? FileManager.default.removeItem(atPath: place.folder) }
      let listener = try AgentListener(path: place.socket)
      let answering = Task {
        for await channel in listener.channels {
          _ = await channel.next()
          channel.send(AgentMessage.refused(version: 7, program: "waybill/7\u{1b}").bytes)
          _ = await channel.next()
        }
      }
      let error = await #expect(throws: AgentError.self) {
        var options = AgentTransport.Options(place: place, command: nil)
        options.patienceSeconds = 240
        return try await AgentTransport(session: "a", options: options)
      }
      #expect(error?.code == .otherVersion)
      #expect(error?.message.contains("waybill/7\\x1b and speaks version 7") == true)
      #expect(error?.remedy.contains("waybill agent stop") == true)
      listener.close()
      answering.cancel()
    }

    @Test func `the place follows the environment and ignores relative paths`() {
      func folder(_ values: [String: String]) -> String? {
        AgentPlace(environment: { values[$0] })?.folder
      }
      let home = ["HOME": "/h"]
      #expect(folder(home) == "/h/.local/state/waybill/agent")
      #expect(folder(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/waybill/agent")
      #expect(
        folder(["HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r"]) == "/r/waybill")
      #expect(
        folder(["HOME": "/h", "XDG_STATE_HOME": "s", "XDG_RUNTIME_DIR": "r"]) == folder(home))
      #expect(folder([:]) == nil)
    }
  }
#endif
