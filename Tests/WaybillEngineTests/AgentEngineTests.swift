#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer

  /// An engine whose transfers belong to an agent.
  @Suite(.timeLimit(.minutes(4)))
  struct AgentEngineTests {
    @Test func `a run that stops leaves its transfers alone, and the next launch takes them over`()
      async throws
    {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(faults: "part#1-4:delay=8000")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect(session: ledger.directory)
      let engine = fixture.engine(ledger, transport: transport)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", 6 * 65_536)], to: try Destination(server.baseURL))
      let id = try #require(summary.queued.first?.upload)
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.part) == 4 }
      run.cancel()
      #expect(try await run.value == .stopped)
      #expect(try await ledger.upload(id).flights.count == 4)
      await transport.shutDown()
      await ledger.close()

      let second = try await fixture.openLedger()
      let next = try await rig.connect(session: second.directory)
      #expect(await next.liveTransfers().count == 4)
      let heir = fixture.engine(second, transport: next)
      #expect(try await within { try await heir.run(.drain) } == .finished)
      let kinds = try await fixture.kinds(second, of: id)
      #expect(kinds.count { $0 == "part.sent" } == 6)
      #expect(kinds.count { $0 == "part.confirmed" } == 6)
      #expect(!kinds.contains("transfer.lost") && !kinds.contains("part.failed"))
      #expect(server.counts.partBodyBytes == 6 * 65_536)
      #expect(try await second.reader.verify().isSound)
      await next.shutDown()
      #expect(rig.results == "")
      await second.close()
      await rig.stop()
    }

    @Test func `one engine runs again over transfers that its last run left`() async throws {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(faults: "part#1-4:delay=4000")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect()
      let engine = fixture.engine(ledger, transport: transport)
      _ = try await engine.add(
        [try fixture.picture("a.jpg", 6 * 65_536)], to: try Destination(server.baseURL))
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.part) == 4 }
      run.cancel()
      #expect(try await run.value == .stopped)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(server.counts.partBodyBytes == 6 * 65_536)
      #expect(try await fixture.count(.transferLost, in: ledger) == 0)
      await transport.shutDown()
      await ledger.close()
      await rig.stop()
    }

    @Test func `a result that could not be recorded is kept for the next launch`() async throws {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(faults: "part#1-4:delay=3000")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect()
      let engine = fixture.engine(ledger, transport: transport)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", 4 * 65_536)], to: try Destination(server.baseURL))
      let id = try #require(summary.queued.first?.upload)
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.part) == 4 }
      // Nothing reaches the log from here on, while the results do reach the engine.
      await ledger.close()
      _ = try? await run.value
      let control = AgentControl(place: rig.place, program: "test", patienceSeconds: 240)
      try await eventually { try await control.status().tasks == 0 }
      #expect(try await control.status().results == 4)
      await transport.shutDown()

      let second = try await fixture.openLedger()
      let heir = fixture.engine(second, transport: try await rig.connect())
      #expect(try await within { try await heir.run(.drain) } == .finished)
      #expect(try await second.upload(id).stateWord == .committed)
      #expect(server.counts.requests(.part) == 4)
      try await eventually { try await control.status().results == 0 }
      await second.close()
      await rig.stop()
    }

    @Test func `a credential the server refuses meanwhile is renewed by the next launch`()
      async throws
    {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(faults: "part#1-2:delay=3000,part#1-2:401")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect()
      let engine = fixture.engine(ledger, transport: transport)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", 2 * 65_536)], to: try Destination(server.baseURL))
      let id = try #require(summary.queued.first?.upload)
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.part) == 2 }
      run.cancel()
      _ = try await run.value
      await transport.shutDown()
      await ledger.close()
      let second = try await fixture.openLedger()
      let provider = CredentialProvider { _ in Secret(EngineFixture.token) }
      let heir = fixture.engine(
        second, transport: try await rig.connect(), credentials: provider)
      #expect(try await within { try await heir.run(.drain) } == .finished)
      #expect(try await second.upload(id).stateWord == .committed)
      #expect(try await second.upload(id).parts.allSatisfy { $0.failures == 0 })
      await second.close()
      await rig.stop()
    }
  }
#endif
