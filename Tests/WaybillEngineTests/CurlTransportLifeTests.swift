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

    @Test func `starting what is alive changes nothing`() async throws {
      try await withServer(script: Self.silent) { transport, server in
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

    @Test func `what has completed may be started again`() async throws {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        for _ in 0..<50 { #expect(await transport.send(request).status == 200) }
        #expect(server.seen.count == 50)
      }
    }

    @Test func `cancelling what is not alive changes nothing`() async throws {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        await transport.cancel(.sample(part: 0))
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1]))
        #expect(await transport.send(request).status == 200)
        await transport.cancel(.sample(part: 0))
        #expect(await transport.send(request).status == 200)
      }
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

    @Test func `three hundred starts with cancels at any moment complete once each`()
      async throws
    {
      let file = try TestFile(TestFile.pattern(200_000))
      try await withServer {
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
        #expect(openDescriptors(of: file) == 0)
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
      #expect(openDescriptors(of: file) >= 4)
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
      #expect(openDescriptors(of: file) == 0)
      // Nothing is taken any more, and nothing hangs.
      await transport.start(.sample(part: 99), request)
      #expect(await transport.call(request) == .noReply(.cancelled))
      #expect(await transport.liveTransfers().isEmpty)
      server.stop()
    }

    @Test func `a consumer that is cancelled ends the events and holds nothing up`() async throws {
      try await withServer {
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

    /// How often this process has the file open.
    private func openDescriptors(of file: TestFile) -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
          == file.path
      }.count
    }
  }
#endif
