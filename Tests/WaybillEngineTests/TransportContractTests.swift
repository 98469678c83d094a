#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillHash
  import WaybillModel

  /// What every transport owes its engine, asked of each of them.
  @Suite(.timeLimit(.minutes(4)))
  struct TransportContractTests {
    /// Takes the head of a request and never reads on.
    private static let silent: NastyServer.Script = { peer in
      guard peer.readHead() != nil else { return }
      peer.waitForHangup()
    }

    @Test(arguments: TransportKind.allCases)
    func `a slice of a file arrives byte by byte with its exact length`(
      _ kind: TransportKind
    ) async throws {
      let bytes = TestFile.pattern(3_000_000)
      let file = try TestFile(bytes)
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(
          method: .put, url: server.url + "/part?x=1", headers: [HTTPHeader("X-Empty", "")],
          body: file.slice(1_234_567, 1_000_001))
        #expect(await transport.send(request).status == 200)
        let seen = try #require(server.seen.first)
        #expect(seen.method == "PUT" && seen.path == "/part?x=1")
        #expect(seen.bodyCount == 1_000_001)
        #expect(seen.bodyHash == SHA256.hash(Array(bytes[1_234_567..<2_234_568])))
        let head = seen.head.lowercased()
        #expect(head.contains("user-agent: waybill/test\r\n") && head.contains("x-empty:"))
        for unwanted in ["expect:", "transfer-encoding:", "cookie:"] {
          #expect(!head.contains(unwanted))
        }
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `four transfers at a time each carry their own bytes`(
      _ kind: TransportKind
    ) async throws {
      let part = 4_000_000
      let files = try (0..<4).map { try TestFile(TestFile.pattern(part + $0)) }
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        for (number, file) in files.enumerated() {
          await transport.start(
            .sample(part: number),
            HTTPRequest(
              method: .put, url: server.url + "/\(number)",
              body: file.slice(Int64(number), Int64(part))))
        }
        let outcomes = await transport.completions(4)
        #expect(outcomes.values.allSatisfy { $0.map(\.status) == [200] })
        for (number, file) in files.enumerated() {
          let seen = server.seen.first { $0.path == "/\(number)" }
          let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
          #expect(seen?.bodyHash == SHA256.hash(Array(bytes.dropFirst(number).prefix(part))))
        }
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `a redirect is a reply and nothing more`(
      _ kind: TransportKind
    ) async throws {
      let file = try TestFile(TestFile.pattern(100_000))
      try await withServer(kind) { peer in
        while peer.readRequest() != nil {
          peer.reply("307 Temporary Redirect", headers: "Location: http://127.0.0.1:1/\r\n")
        }
      } body: { transport, server in
        let outcome = await transport.send(
          HTTPRequest(method: .put, url: server.url, body: file.slice(0, 100_000)))
        #expect(outcome.status == 307)
        #expect(outcome.reply?.header("location") == "http://127.0.0.1:1/")
        #expect(server.seen.count == 1)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `a refusal before the body is sent is delivered`(
      _ kind: TransportKind
    ) async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer(kind) { peer in
        guard peer.readHead() != nil else { return }
        peer.reply("401 Unauthorized", "{}")
        peer.drain()
      } body: { transport, server in
        let outcome = await transport.send(
          HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20)))
        #expect(outcome.status == 401)
        #expect(server.seen.isEmpty)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `progress only grows and stays within the slice`(
      _ kind: TransportKind
    ) async throws {
      let count: Int64 = 96 << 20
      let file = try TestFile(size: Int(count))
      var options = CurlTransport.Options.test
      options.progressInterval = .milliseconds(5)
      try await withServer(kind, options) {
        $0.serve()
      } body: { transport, server in
        await transport.start(
          .sample(part: 0),
          HTTPRequest(method: .put, url: server.url, body: file.slice(0, count)))
        var sent: [Int64] = []
        for await event in transport.events {
          guard case .progress(_, let bytes) = event else { break }
          sent.append(bytes)
        }
        #expect(!sent.isEmpty)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 < $1 })
        #expect(sent.allSatisfy { 1...count ~= $0 })
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `starting what is alive changes nothing`(
      _ kind: TransportKind
    ) async throws {
      try await withServer(kind, script: Self.silent) { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        for _ in 0..<3 { await transport.start(.sample(part: 7), request) }
        #expect(await transport.liveTransfers() == [.sample(part: 7)])
        await transport.cancel(.sample(part: 7))
        await transport.start(.sample(part: 8), request)
        await transport.cancel(.sample(part: 8))
        let outcomes = await transport.completions(2)
        #expect(outcomes[.sample(part: 7)] == [.noReply(.cancelled)])
        #expect(outcomes[.sample(part: 8)] == [.noReply(.cancelled)])
        #expect(await transport.liveTransfers().isEmpty)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `what has completed may be started again`(
      _ kind: TransportKind
    ) async throws {
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        for _ in 0..<50 { #expect(await transport.send(request).status == 200) }
        #expect(server.seen.count == 50)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `cancelling what is not alive changes nothing`(
      _ kind: TransportKind
    ) async throws {
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        await transport.cancel(.sample(part: 0))
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        #expect(await transport.send(request).status == 200)
        await transport.cancel(.sample(part: 0))
        #expect(await transport.send(request).status == 200)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `three hundred starts with cancels at any moment complete once each`(
      _ kind: TransportKind
    ) async throws {
      let file = try TestFile(TestFile.pattern(200_000))
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 200_000))
        async let outcomes = transport.completions(300)
        var seed: UInt64 = 42
        for part in 0..<300 {
          await transport.start(.sample(part: part), request)
          seed = seed &* 6_364_136_223_846_793_005 &+ 1
          for _ in 0..<(seed >> 60) { await Task.yield() }
          await transport.cancel(.sample(part: Int(seed >> 33) % (part + 1)))
        }
        let ended = await outcomes
        #expect(ended.count == 300)
        #expect(ended.values.allSatisfy { $0.count == 1 })
        let replies = ended.values.filter { $0.first?.status == 200 }.count
        let cancelled = ended.values.filter { $0.first == .noReply(.cancelled) }.count
        #expect(replies + cancelled == 300)
        #expect(await transport.liveTransfers().isEmpty)
        #expect(file.openDescriptors == 0)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `a consumer that is cancelled ends the events and holds nothing up`(
      _ kind: TransportKind
    ) async throws {
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        let consumer = Task { for await _ in transport.events {} }
        consumer.cancel()
        await consumer.value
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        for part in 0..<20 { await transport.start(.sample(part: part), request) }
        while await !transport.liveTransfers().isEmpty { await Task.yield() }
        #expect(server.seen.count == 20)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `what cannot be sent completes with its reason`(_ kind: TransportKind) async throws {
      let file = try TestFile([1, 2, 3])
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        let requests: [(HTTPRequest, NoReply)] = [
          (HTTPRequest(method: .put, url: "gopher://a", body: .bytes([1])), .unusable),
          (HTTPRequest(method: .put, url: server.url, body: file.slice(0, 4)), .unreadableFile),
          (HTTPRequest(method: .put, url: "http://127.0.0.1:1", body: file.slice(0, 3)), .refused),
        ]
        for (number, (request, reason)) in requests.enumerated() {
          #expect(await transport.send(request, part: number) == .noReply(reason))
        }
        #expect(server.seen.isEmpty)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `the largest reply arrives whole and a larger one is cut`(
      _ kind: TransportKind
    ) async throws {
      let limit = HTTPReply.maximumBodyBytes
      try await withServer(kind) { peer in
        while let seen = peer.readRequest() {
          let size = seen.path == "/whole" ? limit : limit + 1
          peer.reply("500 Oh", String(repeating: "\u{7f}", count: size))
        }
      } body: { transport, server in
        let whole = await transport.send(
          HTTPRequest(method: .put, url: server.url + "/whole", body: .bytes([1])), part: 0)
        #expect(whole.reply?.body == [UInt8](repeating: 0x7f, count: limit))
        #expect(whole.reply?.isTruncated == false)
        let cut = await transport.send(
          HTTPRequest(method: .put, url: server.url + "/cut", body: .bytes([1])), part: 1)
        #expect(cut.reply?.body.count == limit)
        #expect(cut.reply?.isTruncated == true)
      }
    }

    @Test(arguments: TransportKind.allCases)
    func `an acknowledgement of what nobody knows changes nothing`(
      _ kind: TransportKind
    ) async throws {
      try await withServer(kind) {
        $0.serve()
      } body: { transport, server in
        await transport.acknowledge(.sample(part: 0))
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        #expect(await transport.send(request).status == 200)
        await transport.acknowledge(.sample(part: 0))
        await transport.acknowledge(.sample(part: 0))
        #expect(await transport.send(request).status == 200)
      }
    }
  }

  /// The transports there are on this system.
  enum TransportKind: CaseIterable {
    case curl
    case agent
  }

  /// Runs a test between a transport and a server that does as its script says; ends both.
  func withServer(
    _ kind: TransportKind, _ options: CurlTransport.Options = .test,
    script: @escaping NastyServer.Script,
    body: (any Transport, NastyServer) async throws -> Void
  ) async throws {
    switch kind {
    case .curl:
      try await withServer(options, script: script) { transport, server in
        try await body(transport, server)
      }
    case .agent:
      let server = try NastyServer(script)
      defer { server.stop() }
      let rig = try AgentRig(transport: CurlTransport(options: options))
      let transport = try await rig.connect()
      try await body(transport, server)
      await transport.shutDown()
      await rig.stop()
    }
  }
#endif
