#if os(Linux)
  import Foundation
  import Testing
  import WaybillLedger
  import WaybillModel

  @testable import WaybillEngine

  /// What an agent owes its clients, one by one and all together.
  @Suite(.timeLimit(.minutes(4)))
  struct TransferAgentTests {
    /// Reads requests and answers them once the gate is open.
    private final class Gate: Sendable {
      private let group = DispatchGroup()
      init() { group.enter() }
      func open() { group.leave() }
      var script: NastyServer.Script {
        { [group] peer in
          while peer.readRequest() != nil {
            group.wait()
            peer.reply("200 OK", "{}")
          }
        }
      }
    }

    private func put(_ server: NastyServer, _ path: String = "") -> HTTPRequest {
      HTTPRequest(method: .put, url: server.url + path, body: .bytes([1]))
    }

    /// A client that speaks the protocol by hand.
    private func raw(_ rig: AgentRig) throws -> MessageChannel {
      MessageChannel(descriptor: try UnixSocket.connect(rig.place.socket))
    }

    private func hello(_ session: String?, version: Int64 = AgentProtocol.version) -> [UInt8] {
      ClientMessage.hello(version: version, program: "test/1", session: session).bytes
    }

    // MARK: Results

    @Test func `results wait for the next client and are given until they are acknowledged`()
      async throws
    {
      let gate = Gate()
      let server = try NastyServer(gate.script)
      defer { server.stop() }
      let rig = try AgentRig()
      let first = try await rig.connect()
      for part in 0..<4 { await first.start(.sample(part: part), put(server)) }
      try await eventually { server.seen.count == 4 }
      await first.shutDown()
      gate.open()
      let control = AgentControl(place: rig.place, program: "test", patienceSeconds: 240)
      try await eventually { try await control.status().results == 4 }

      // Looked at, but not recorded.
      let second = try await rig.connect()
      #expect(await second.liveTransfers().count == 4)
      #expect(await second.completions(4).values.allSatisfy { $0.map(\.status) == [200] })
      #expect(await second.liveTransfers().isEmpty)
      await second.acknowledge(.sample(part: 0))
      try await eventually { try await control.status().results == 3 }
      await second.shutDown()

      let third = try await rig.connect()
      let again = await third.completions(3)
      #expect(again.keys.map(\.part.index).sorted() == [1, 2, 3])
      for description in again.keys { await third.acknowledge(description) }
      try await eventually { try await control.status().results == 0 }
      await third.shutDown()
      let fourth = try await rig.connect()
      #expect(await fourth.liveTransfers().isEmpty)
      await fourth.shutDown()
      #expect(server.seen.count == 4)
      #expect(rig.results == "")
      await rig.stop()
    }

    @Test func `an agent that is started anew still has the results`() async throws {
      let server = try NastyServer { $0.serve() }
      defer { server.stop() }
      let rig = try AgentRig()
      let first = try await rig.connect()
      #expect(await first.send(put(server)).status == 200)
      await first.shutDown()
      await rig.stop()
      let next = try AgentRig(at: rig.place)
      let second = try await next.connect()
      #expect(await second.liveTransfers() == [.sample(part: 0)])
      #expect(await second.completions(1).values.first?.map(\.status) == [200])
      await second.shutDown()
      await next.stop()
    }

    @Test func `a session sees nothing of another one`() async throws {
      let gate = Gate()
      let server = try NastyServer(gate.script)
      defer { server.stop() }
      let rig = try AgentRig()
      let (mine, theirs) = (try await rig.connect(), try await rig.connect(session: "other"))
      await mine.start(.sample(part: 0), put(server, "/mine"))
      try await eventually { server.seen.count == 1 }
      #expect(await theirs.liveTransfers().isEmpty)
      await theirs.cancel(.sample(part: 0))
      // The same description of a copied ledger: it cannot be told apart, so it is not taken.
      await theirs.start(.sample(part: 0), put(server, "/theirs"))
      #expect(await theirs.completions(1).values.first == [.noReply(.notTaken)])
      gate.open()
      #expect(await mine.completions(1).values.first?.map(\.status) == [200])
      #expect(server.seen.map(\.path) == ["/mine"])
      for transport in [mine, theirs] { await transport.shutDown() }
      await rig.stop()
    }

    @Test func `a newer client of a session takes its place, and the transfer goes on`()
      async throws
    {
      let gate = Gate()
      let server = try NastyServer(gate.script)
      defer { server.stop() }
      let rig = try AgentRig()
      let older = try await rig.connect()
      await older.start(.sample(part: 0), put(server))
      try await eventually { server.seen.count == 1 }
      let newer = try await rig.connect()
      #expect(await older.completions(1).values.first == [.noReply(.cancelled)])
      await older.start(.sample(part: 1), put(server))
      #expect(await older.completions(1).values.first == [.noReply(.notTaken)])
      gate.open()
      #expect(await newer.completions(1).values.first?.map(\.status) == [200])
      #expect(server.seen.count == 1)
      for transport in [older, newer] { await transport.shutDown() }
      await rig.stop()
    }

    // MARK: Clients that misbehave

    @Test func `garbage ends its own connection and no other`() async throws {
      let gate = Gate()
      let server = try NastyServer(gate.script)
      defer { server.stop() }
      let rig = try AgentRig()
      let client = try await rig.connect()
      await client.start(.sample(part: 0), put(server))
      let framed: [[UInt8]] = [
        Array("nonsense".utf8), Array("{}".utf8), Array("{\"type\":\"dance\"}".utf8),
        Array("{\"type\":\"hello\",\"protocol\":\"1\"}".utf8), hello(""),
        hello(String(repeating: "x", count: 5_000)), ClientMessage.status.bytes,
        ClientMessage.start(.sample(part: 9), put(server), notBefore: nil).bytes,
        Array(repeating: UInt8(ascii: "["), count: 60_000), [0xff, 0xfe, 0],
      ]
      for message in framed {
        let channel = try raw(rig)
        channel.send(message)
        #expect(await channel.next() == nil)
      }
      // Known, then out of turn.
      for message in [hello("x"), Array("{\"type\":\"start\",\"task\":\"1\"}".utf8)] {
        let channel = try raw(rig)
        channel.send(hello("y"))
        #expect(await channel.next() != nil)
        channel.send(message)
        #expect(await channel.next() == nil)
      }
      for bytes in ["GET / HTTP/1.1\r\n\r\n", "\u{0}\u{0}\u{0}\u{0}"] {
        let descriptor = try UnixSocket.connect(rig.place.socket)
        _ = write(descriptor, bytes, bytes.utf8.count)
        var answer: UInt8 = 0
        #expect(read(descriptor, &answer, 1) <= 0)
        close(descriptor)
      }
      gate.open()
      #expect(await client.completions(1).values.first?.map(\.status) == [200])
      await client.shutDown()
      await rig.stop()
    }

    @Test func `a client that never reads harms no other and loses nothing`()
      async throws
    {
      let count = 30
      let server = try NastyServer { peer in
        while peer.readRequest() != nil, peer.reply("200 OK", String(repeating: "x", count: 60_000))
        {}
      }
      defer { server.stop() }
      let rig = try AgentRig()
      let descriptor = try UnixSocket.connect(rig.place.socket)
      var words = MessageFrames.encode(hello("hung")) ?? []
      for part in 0..<count {
        words +=
          MessageFrames.encode(
            ClientMessage.start(.sample(part: part), put(server), notBefore: nil).bytes) ?? []
      }
      #expect(words.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == words.count)
      try await eventually { server.seen.count == count }
      let client = try await rig.connect()
      #expect(await client.send(put(server), part: 1_000).status == 200)
      await client.shutDown()
      close(descriptor)
      let next = try await rig.connect(session: "hung")
      #expect(await next.completions(count).values.allSatisfy { $0.map(\.status) == [200] })
      await next.shutDown()
      await rig.stop()
    }

    @Test func `a channel ends where too much waits for a peer that does not read`() async throws {
      var ends: [Int32] = [0, 0]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      defer { close(ends[1]) }
      let channel = MessageChannel(descriptor: ends[0])
      let message = [UInt8](repeating: 1, count: 500_000)
      for _ in 0..<20 { channel.send(message) }
      #expect(await channel.next() == nil)
      #expect(channel.unsentBytes <= MessageChannel.maximumUnsentBytes + 500_100)
    }

    @Test func `a channel reads no further than its reader keeps up`() async throws {
      var ends: [Int32] = [0, 0]
      try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      let (writer, reader) = (
        MessageChannel(descriptor: ends[0]), MessageChannel(descriptor: ends[1])
      )
      let count = 400
      for number in 0..<count {
        writer.send([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20_000))
      }
      for number in 0..<count {
        let message = await reader.next()
        #expect(message?.count == 20_000 && message?.first == UInt8(truncatingIfNeeded: number))
      }
      writer.close()
      #expect(await reader.next() == nil)
    }

    @Test func `more clients than may be are turned away`() async throws {
      var options = TransferAgent.Options.test
      options.maximumClients = 2
      let rig = try AgentRig(options: options)
      let clients = [try await rig.connect(session: "a"), try await rig.connect(session: "b")]
      let third = try raw(rig)
      third.send(hello("c"))
      #expect(await third.next() == nil)
      await clients[0].shutDown()
      try await eventually {
        let channel = try self.raw(rig)
        channel.send(self.hello("c"))
        return await channel.next() != nil
      }
      await clients[1].shutDown()
      await rig.stop()
    }

    @Test func `more transfers than may be are not taken`() async throws {
      var options = TransferAgent.Options.test
      options.maximumTasks = 2
      let gate = Gate()
      let server = try NastyServer(gate.script)
      defer { server.stop() }
      let rig = try AgentRig(options: options)
      let client = try await rig.connect()
      for part in 0..<3 { await client.start(.sample(part: part), put(server)) }
      #expect(await client.completions(1) == [.sample(part: 2): [.noReply(.notTaken)]])
      gate.open()
      // What waits to be acknowledged takes its place as well.
      #expect(await client.completions(2).count == 2)
      await client.start(.sample(part: 3), put(server))
      #expect(await client.completions(1) == [.sample(part: 3): [.noReply(.notTaken)]])
      await client.acknowledge(.sample(part: 0))
      await client.start(.sample(part: 4), put(server))
      #expect(await client.completions(1).values.first?.map(\.status) == [200])
      await client.shutDown()
      await rig.stop()
    }

    @Test func `results that nobody collects make room for new transfers, oldest first`()
      async throws
    {
      var options = TransferAgent.Options.test
      options.maximumTasks = 3
      let server = try NastyServer { $0.serve() }
      defer { server.stop() }
      let rig = try AgentRig(options: options)
      let gone = try await rig.connect(session: "gone")
      for part in 0..<3 { #expect(await gone.send(put(server), part: part).status == 200) }
      await gone.shutDown()
      let client = try await rig.connect()
      for part in 10..<12 { #expect(await client.send(put(server), part: part).status == 200) }
      let back = try await rig.connect(session: "gone")
      #expect(await back.liveTransfers() == [.sample(part: 2)])
      for transport in [client, back] { await transport.shutDown() }
      await rig.stop()
    }

    // MARK: Dates

    @Test func `a transfer does not begin before its date and can be cancelled until then`()
      async throws
    {
      let rig = try AgentRig()
      try await withNasty {
        $0.serve()
      } body: { server in
        let client = try await rig.connect()
        let date = SystemClock.now.adding(milliseconds: 300)
        await client.start(.sample(part: 0), put(server), notBefore: date)
        await client.start(
          .sample(part: 1), put(server), notBefore: date.adding(milliseconds: 3_600_000))
        #expect(await client.liveTransfers().count == 2)
        await client.cancel(.sample(part: 1))
        let outcomes = await client.completions(2)
        #expect(outcomes[.sample(part: 1)] == [.noReply(.cancelled)])
        #expect(outcomes[.sample(part: 0)]?.map(\.status) == [200])
        #expect(SystemClock.now >= date)
        #expect(server.seen.count == 1)
        await client.shutDown()
      }
      await rig.stop()
    }

    @Test func `an agent is told where a file is from the root`() {
      func path(_ path: String) -> String? {
        let body = HTTPRequest.Body.file(FileSlice(path: path, offset: 3, count: 4))
        let request = HTTPRequest(method: .put, url: "", body: body).withAbsolutePath
        guard case .file(let slice) = request.body, slice.offset == 3, slice.count == 4 else {
          return nil
        }
        return slice.path
      }
      #expect(path("/a/b") == "/a/b")
      #expect(path("a/b") == FileManager.default.currentDirectoryPath + "/a/b")
    }

    private func withNasty(
      _ script: @escaping NastyServer.Script, body: (NastyServer) async throws -> Void
    ) async throws {
      let server = try NastyServer(script)
      defer { server.stop() }
      try await body(server)
    }
  }
#endif
