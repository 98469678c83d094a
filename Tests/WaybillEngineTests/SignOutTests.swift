#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer

  /// N12: an account signs out, with work queued and on its way.
  @Suite(.timeLimit(.minutes(4)))
  struct SignOutTests {
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    @Test func `once signed out nothing is sent, and signing in goes on where it stood`()
      async throws
    {
      let server = try fixture.startServer(faults: "part#3-4:delay=4000")
      defer { server.stop(graceMilliseconds: 0) }
      let ledger = try await fixture.openLedger()
      let transport = WatchedTransport()
      let engine = fixture.engine(ledger, transport: transport, transfers: 2)
      let id = try await add("a.jpg", 6 * 65_536, engine, server)
      let run = Task { try await engine.run(.follow) }
      try await eventually { server.counts.requests(.part) == 4 }
      try await engine.signOut(.keep)
      let requests = transport.requests.count
      #expect(await transport.liveTransfers() == [])
      #expect(try await ledger.upload(id).flights.isEmpty)
      #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
      let row = try #require(try await ledger.reader.queue().rows.first)
      #expect(row.state == .waiting(Waiting(.sealed)))
      // Two rounds of the run have passed when two commands have been taken.
      let inbox = Inbox(ledgerDirectory: ledger.directory)
      for (number, command) in [InboxCommand.pause(id), .resume(id)].enumerated() {
        try inbox.drop(command, id: EventID(high: 7, low: UInt64(number)))
        await engine.lookAgain()
        try await ledger.wait(for: id) { ($0.paused != nil) == (number == 0) }
      }
      #expect(transport.requests.count == requests)
      try await engine.signIn()
      try await ledger.wait(for: .committed, of: id)
      await engine.stop()
      #expect(try await run.value == .stopped)
      #expect(server.counts.partBodyBytes <= 8 * 65_536)
      await ledger.close()
    }

    @Test func `signing out and discarding gives everything up and leaves no copy`() async throws {
      let server = try fixture.startServer(
        faults: "part@attention.jpg*:413,part@slow.jpg*:delay=60000")
      defer { server.stop(graceMilliseconds: 0) }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      let done = try await add("done.jpg", 1000, engine, server)
      _ = try await within { try await engine.run(.drain) }
      let attention = try await add("attention.jpg", 2000, engine, server)
      let paused = try await add("paused.jpg", 3000, engine, server)
      try await fixture.order(.pause, paused, in: ledger)
      let slow = try await add("slow.jpg", 4000, engine, server)
      let run = Task { try await engine.run(.follow) }
      try await ledger.wait(for: attention) { $0.attention != nil }
      try await eventually { try await ledger.upload(slow).flights.count == 1 }
      try await engine.signOut(.discard)
      #expect(fixture.stagedFiles == [])
      for id in [attention, paused, slow] {
        let upload = try await ledger.upload(id)
        #expect(upload.ending == .cancelled(.account))
        #expect(upload.copyReleased != nil)
      }
      #expect(try await ledger.upload(done).stateWord == .committed)
      #expect(server.photoCount == 1)
      run.cancel()
      _ = try await run.value
      #expect(try await ledger.reader.verify().isSound)
      await ledger.close()
    }

    @Test func `what a kill left undiscarded the next launch discards`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      let ids = [
        try await add("a.jpg", 1000, engine, server), try await add("b.jpg", 2000, engine, server),
      ]
      try await ledger.append(.sealed(Sealed(copies: .discard)), cause: .command)
      try await fixture.order(.cancel(.account), ids[0], in: ledger)
      await ledger.close()
      let second = try await fixture.openLedger()
      #expect(try await within { try await fixture.engine(second).run(.drain) } == .finished)
      for id in ids { #expect(try await second.upload(id).ending == .cancelled(.account)) }
      #expect(fixture.stagedFiles == [])
      #expect(server.counts.requests(.open) == 0)
      await second.close()
    }

    @Test func `nothing comes in while the account is signed out`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      try await engine.signOut(.keep)
      let error = await #expect(throws: LedgerError.self) {
        _ = try await add("a.jpg", 1000, engine, server)
      }
      #expect(error?.code == .sealed)
      #expect(error?.outcome == .notWritten)
      #expect(fixture.stagedFiles == [])
      #expect(try await ledger.reader.counts().uploads.isEmpty)
      try await engine.signIn()
      _ = try await add("a.jpg", 1000, engine, server)
      await ledger.close()
    }

    @Test func `what was discarded is not kept by signing out again`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      let id = try await add("a.jpg", 1000, engine, server)
      try await engine.signOut(.keep)
      #expect(try await ledger.upload(id).ending == nil)
      try await engine.signOut(.discard)
      #expect(try await ledger.upload(id).ending == .cancelled(.account))
      try await engine.signOut(.keep)
      #expect(try await ledger.state().seal == .discard)
      #expect(try await fixture.count(.ledgerSealed, in: ledger) == 2)
      try await engine.signIn()
      #expect(try await !ledger.state().isSealed)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(server.photoCount == 0)
      await ledger.close()
    }

    @Test func `a callback that comes late stays with the account it belongs to`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let transport = GatedTransport(closed: [.parts])
      let engine = fixture.engine(first, transport: transport)
      let id = try await add("a.jpg", 1000, engine, server)
      let run = Task { try await engine.run(.follow) }
      try await eventually { try await first.upload(id).flights.count == 1 }
      let signingOut = Task { try await engine.signOut(.discard) }
      try await eventually { try await first.state().isSealed }
      let other = try await Ledger.open(directory: fixture.folder + "/other")
      transport.open(.parts)
      try await signingOut.value
      #expect(try await first.upload(id).ending == .cancelled(.account))
      #expect(try await other.reader.counts().uploads.isEmpty)
      #expect(server.photoCount == 0)
      run.cancel()
      _ = try await run.value
      await other.close()
      await first.close()
    }

    @Test func `signing out stops what an agent sends`() async throws {
      let server = try fixture.startServer(faults: "part*:delay=60000")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect()
      let engine = fixture.engine(ledger, transport: transport)
      let id = try await add("a.jpg", 3 * 65_536, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.part) == 3 }
      run.cancel()
      _ = try await run.value
      #expect(await transport.liveTransfers().count == 3)
      try await engine.signOut(.keep)
      #expect(await transport.liveTransfers() == [])
      #expect(try await ledger.upload(id).flights.isEmpty)
      await transport.shutDown()
      await ledger.close()
      await rig.stop()
    }

    private func add(
      _ name: String, _ count: Int, _ engine: UploadEngine, _ server: WaybillServer
    ) async throws -> UploadID {
      let summary = try await engine.add(
        [try fixture.picture(name, count)], to: try Destination(server.baseURL))
      return try #require(summary.queued.first?.upload)
    }
  }
#endif
