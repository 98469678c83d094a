#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillModel

  /// Starting, cancelling and ending, at any moment and in any order.
  @Suite(.timeLimit(.minutes(1)))
  struct CurlTransportLifeTests {
    /// Takes the head of a request and never reads on.
    private static let silent: NastyServer.Script = { peer in
      guard peer.readHead() != nil else { return }
      peer.waitForHangup()
    }

    @Test func `a call ends with its task`() async throws {
      try await withServer { peer in
        guard peer.readHead() != nil else { return }
        peer.reset()
        peer.waitForHangup()
      } body: { transport, server in
        let request = HTTPRequest(method: .get, url: server.url)
        let early = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return await transport.call(request)
        }
        #expect(await early.value == .noReply(.cancelled))
        #expect(server.connectionCount == 0)
        let late = Task { await transport.call(request) }
        while server.connectionCount == 0 { await Task.yield() }
        late.cancel()
        #expect(await late.value == .noReply(.cancelled))
      }
    }

    @Test func `more requests than may wait are cancelled at once`() async throws {
      var options = CurlTransport.Options.test
      options.maximumRequests = 10
      try await withServer(options, script: Self.silent) { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        for part in 0..<12 { await transport.start(.sample(part: part), request) }
        #expect(await transport.call(request) == .noReply(.cancelled))
        let outcomes = await transport.completions(2)
        #expect(Set(outcomes.keys) == [.sample(part: 10), .sample(part: 11)])
        #expect(await transport.liveTransfers().count == 10)
      }
    }

    @Test func `shutting down while four are sending ends everything once`() async throws {
      let file = try TestFile(size: 64 << 20)
      let server = try NastyServer(Self.silent)
      var options = CurlTransport.Options.test
      options.progressInterval = .milliseconds(5)
      let transport = CurlTransport(options: options)
      let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
      for part in 0..<4 { await transport.start(.sample(part: part), request) }
      for part in 4..<12 { await transport.start(.sample(part: part), request) }
      async let call = transport.call(HTTPRequest(method: .get, url: server.url))
      var moving: Set<TransferDescription> = []
      for await event in transport.events {
        if case .progress(let description, _) = event { moving.insert(description) }
        if moving.count == 4 { break }
      }
      #expect(file.openDescriptors >= 4)
      async let first: Void = transport.shutDown()
      async let second: Void = transport.shutDown()
      var outcomes: [TransferDescription: [HTTPOutcome]] = [:]
      for await event in transport.events {
        guard case .completed(let description, let outcome) = event else { continue }
        outcomes[description, default: []].append(outcome)
      }
      _ = await (first, second)
      await transport.shutDown()
      #expect(outcomes.count == 12)
      #expect(outcomes.values.allSatisfy { $0 == [.noReply(.cancelled)] })
      #expect(await call == .noReply(.cancelled))
      #expect(file.openDescriptors == 0)
      // Nothing is taken any more, and nothing hangs.
      await transport.start(.sample(part: 99), request)
      #expect(await transport.call(request) == .noReply(.cancelled))
      #expect(await transport.liveTransfers().isEmpty)
      server.stop()
    }

    @Test func `an idle transport that is let go ends its thread`() async throws {
      for _ in 0..<20 { _ = CurlTransport(options: .test) }
      let transport = CurlTransport(options: .test)
      await transport.shutDown()
      var events = transport.events.makeAsyncIterator()
      #expect(await events.next() == nil)
    }

    @Test func `progress that nobody takes does not pile up`() async throws {
      let file = try TestFile(size: 96 << 20)
      var options = CurlTransport.Options.test
      options.progressInterval = .milliseconds(5)
      try await withServer(options) {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 96 << 20))
        await transport.start(.sample(part: 0), request)
        while await !transport.liveTransfers().isEmpty { await Task.yield() }
        var progressCount = 0
        for await event in transport.events {
          guard case .progress = event else { break }
          progressCount += 1
        }
        #expect(progressCount <= 1)
      }
    }
  }
#endif
