#if os(Linux)
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer

  /// Folding anew while an engine holds the ledger.
  struct RebuildTests {
    // H18: a replay is nothing new, so nobody acts on it.
    @Test func `a rebuild under a running engine starts no request and changes no event`()
      async throws
    {
      let fixture = try EngineFixture()
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let transport = WatchedTransport()
      let engine = fixture.engine(ledger, transport: transport)
      let destination = try Destination(server.baseURL)
      let running = Task { try await engine.run(.follow) }
      let first = try await engine.add([fixture.picture("a.jpg", 100)], to: destination)
      try await ledger.wait(for: .committed, of: #require(first.queued.first?.upload))
      let words = transport.words
      let upload = try #require(first.queued.first?.upload)
      let events = try await fixture.kinds(ledger, of: upload)
      for _ in 0..<3 { try await ledger.rebuild() }
      // A second file takes the engine once around; all it asks for is the second file.
      let second = try await engine.add([fixture.picture("b.jpg", 100, seed: 2)], to: destination)
      try await ledger.wait(for: .committed, of: #require(second.queued.first?.upload))
      #expect(transport.words == words + words)
      #expect(try await fixture.kinds(ledger, of: upload).starts(with: events))
      #expect(server.photoCount == 2)
      await engine.stop()
      _ = await running.result
      await ledger.close()
    }
  }
#endif
