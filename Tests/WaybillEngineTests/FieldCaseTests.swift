#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer
  import WaybillSystem

  /// Faults that people met with other upload clients, and what comes of them here, against the
  /// real server.
  @Suite(.timeLimit(.minutes(4)))
  struct FieldCaseTests {
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    // A01: after a force quit the system still lists the old task, then it fails unseen.
    @Test func `a task that is listed and then ends cancelled is sent again in the same launch`()
      async throws
    {
      let server = try fixture.startServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let gated = GatedTransport(closed: [.parts])
      let engine = fixture.engine(first, transport: gated, transfers: 1)
      let id = try await add("a.jpg", 3 * 65_536, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await first.wait(for: id) { $0.flights.count == 1 }
      let ghost = try #require(try await first.upload(id).flights.first)
      await first.close()
      await gated.shutDown()
      gated.open(.parts)
      await #expect(throws: LedgerError.self) { try await run.value }

      let second = try await fixture.openLedger()
      let haunted = HauntedTransport(ghost)
      #expect(
        try await within { try await fixture.engine(second, transport: haunted).run(.drain) }
          == .finished)
      let upload = try await second.upload(id)
      #expect(upload.stateWord == .committed)
      let failed = try await fixture.events(second, of: id).compactMap { event -> PartFailed? in
        guard case .upload(.partFailed(let fact)) = event.body else { return nil }
        return fact
      }
      #expect(failed.map(\.failure) == [.stopped])
      #expect(upload.parts.allSatisfy { $0.failures == 0 })
      await second.close()
    }

    // A04: the list of uploads is empty after a restart.
    @Test func `killed before a part that was announced is sent, the list is still whole`()
      async throws
    {
      let server = try fixture.startServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let engine = fixture.engine(first)
      var ids: [UploadID] = []
      for number in 0..<5 {
        ids.append(try await add("\(number).jpg", 1000 + number, engine, server))
      }
      let session = SessionOffer(
        session: SessionReference("u-0"), partSize: 65_536, partCount: 1, expires: nil,
        received: PartSet())
      try await first.record(ids[0]) { $0.decide(.opened(session)) }
      try await fixture.order(.send(PartNumber(0)), ids[0], in: first)
      await first.close()
      let second = try await fixture.openLedger()
      #expect(try await second.reader.queue().rows.map(\.id) == ids)
      #expect(try await second.upload(ids[0]).flights.count == 1)
      #expect(try await within { try await fixture.engine(second).run(.drain) } == .finished)
      #expect(server.photoCount == 5)
      await second.close()
    }

    // A10: finished files are sent again after a restore.
    @Test func `after a rebuild nothing is asked or sent for what is committed`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let engine = fixture.engine(first)
      for number in 0..<3 { _ = try await add("done-\(number)", 1000 + number, engine, server) }
      #expect(try await within { try await engine.run(.drain) } == .finished)
      let open = server.counts.requests(.open)
      for number in 0..<2 { _ = try await add("left-\(number)", 2000 + number, engine, server) }
      try await first.rebuild()
      await first.close()
      let second = try await fixture.openLedger()
      let transport = WatchedTransport()
      let next = fixture.engine(second, transport: transport)
      #expect(try await within { try await next.run(.drain) } == .finished)
      #expect(server.counts.requests(.open) == open + 2)
      #expect(transport.words.sorted() == ["commit", "commit", "open", "open", "part", "part"])
      #expect(server.photoCount == 5)
      await second.close()
    }

    // B19: the client gives a slow finalize up and sends a second one that breaks the first.
    @Test func `a commit that takes longer than the call may stays verifying, and is made once`()
      async throws
    {
      let server = try fixture.startServer(faults: "commit#1:delay=2500")
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      var options = CurlTransport.Options.test
      options.callTimeout = .milliseconds(700)
      let engine = fixture.engine(ledger, transport: CurlTransport(options: options))
      let id = try await add("a.jpg", 1000, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await eventually { server.counts.requests(.commit) == 1 }
      #expect(try await ledger.upload(id).stateWord == .verifying)
      #expect(try await within { try await run.value } == .finished)
      #expect(try await ledger.upload(id).stateWord == .committed)
      #expect(server.photoCount == 1)
      #expect(server.counts.partBodyBytes == 1000)
      await ledger.close()
    }

    // C03: a redirect to another host takes the credential along.
    @Test(arguments: ["open", "part", "commit"])
    func `nobody else is sent the credential or the bytes`(endpoint: String) async throws {
      let thief = try NastyServer { $0.serve() }
      defer { thief.stop() }
      let server = try fixture.startServer(faults: "\(endpoint)#1:redirect=\(thief.url)/stolen")
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger, haste: 20)
      let id = try await add("a.jpg", 1000, engine, server)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(try await ledger.upload(id).stateWord == .committed)
      #expect(thief.connectionCount == 0)
      await ledger.close()
    }

    // C09: signed before the wait, stale after it.
    @Test func `a request that had to wait is made anew, with the credential of that moment`()
      async throws
    {
      let tokens = Locked(0)
      let peer = try NastyServer { peer in
        while let seen = peer.readRequest() {
          let isFirst = seen.head.contains("Bearer token-1\r\n")
          let status = isFirst ? "503 Busy" : "403 Forbidden"
          guard peer.reply(status, headers: "Retry-After: 1\r\n") else { return }
        }
      }
      defer { peer.stop() }
      let ledger = try await fixture.openLedger()
      let provider = CredentialProvider { _ in
        let number = tokens.withLock { count -> Int in
          count += 1
          return count
        }
        return Secret("token-\(number)")
      }
      let engine = fixture.engine(ledger, credentials: provider)
      _ = try await engine.add([try fixture.picture("a.jpg", 9)], to: try Destination(peer.url))
      #expect(try await within { try await engine.run(.drain) } == .finished)
      let heads = peer.seen.map(\.head)
      #expect(heads.count == 2)
      #expect(heads.first?.contains("Bearer token-1\r\n") ?? false)
      #expect(heads.last?.contains("Bearer token-2\r\n") ?? false)
      await ledger.close()
    }

    // D06: a file edited while it is sent, with its size and its time of modification kept.
    @Test func `a copy that is edited between two parts is not committed`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let gated = GatedTransport(closed: [.parts])
      let engine = fixture.engine(ledger, transport: gated, transfers: 1)
      let id = try await add("a.jpg", 4 * 65_536, engine, server)
      let run = Task { try await engine.run(.drain) }
      gated.open(.parts, for: 1)
      try await ledger.wait(for: id) { $0.confirmedBytes == 65_536 && $0.flights.count == 1 }
      try edit(fixture.stagedPath(id), at: 3 * 65_536 + 7)
      gated.open(.parts)
      #expect(try await within { try await run.value } == .finished)
      let upload = try await ledger.upload(id)
      #expect(upload.attention?.reason == .sourceChanged)
      #expect(server.counts.requests(.commit) == 0)
      #expect(server.photoCount == 0)
      await ledger.close()
    }

    // D10 of the field: one copy is deleted, and the whole queue stands still for months.
    @Test func `the copy that is gone needs a person, and the others commit`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      var ids: [UploadID] = []
      for number in 0..<5 {
        ids.append(try await add("\(number).jpg", 100_000 + number, engine, server))
      }
      unlink(fixture.stagedPath(ids[1]))
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(try await ledger.upload(ids[1]).attention?.reason == .sourceMissing)
      #expect(try await ledger.upload(ids[1]).attention?.actions.contains(.addAgain) == true)
      for id in ids where id != ids[1] {
        #expect(try await ledger.upload(id).stateWord == .committed)
      }
      #expect(server.photoCount == 4)
      await ledger.close()
    }

    // D15 of the field: the system encodes a photo anew at each pick.
    @Test func `the same photo encoded anew is another upload`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      let first = try await add("a.jpg", 1000, engine, server)
      let again = try await engine.add(
        [try fixture.picture("a.jpg", 1000, seed: 2)], to: try Destination(server.baseURL))
      #expect(again.queued.count == 1)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      let second = try #require(again.queued.first?.upload)
      #expect(try await ledger.upload(first).hash != ledger.upload(second).hash)
      #expect(server.photoCount == 2)
      await ledger.close()
    }

    // D16 of the field: records of what is done are never removed.
    @Test func `what is archived leaves its hash, and its bytes are not sent again`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      for number in 0..<8 { _ = try await add("\(number).jpg", 1000 + number, engine, server) }
      #expect(try await within { try await engine.run(.drain) } == .finished)
      _ = try await Archive(ledger: ledger, app: "test").archive(RetentionPolicy(ageSeconds: 0))
      #expect(try await fixture.count(.uploadExported, in: ledger) == 0)
      let picks = try (0..<8).map { try fixture.picture("\($0).jpg", 1000 + $0) }
      let summary = try await engine.add(picks, to: try Destination(server.baseURL))
      #expect(summary.alreadyUploaded.count == 8)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(server.counts.requests(.open) == 8)
      await ledger.close()
    }

    // D13: the server says it has the bytes already, and the client tries again for ever.
    @Test func `bytes the server has already end the upload with one request`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      _ = try await add("a.jpg", 1000, engine, server)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      let other = try await Ledger.open(directory: fixture.folder + "/second-device")
      let second = fixture.engine(other)
      let id = try await add("b.jpg", 1000, second, server)
      for _ in 0..<2 { #expect(try await within { try await second.run(.drain) } == .finished) }
      guard case .deduplicated(.remote)? = try await other.upload(id).ending else {
        Issue.record("it ended as \(String(describing: try await other.upload(id).ending))")
        return
      }
      #expect(server.counts.requests(.open) == 2)
      #expect(server.counts.partBodyBytes == 1000)
      await other.close()
      await ledger.close()
    }

    // The container of an app moves when it is updated: paths of yesterday name nothing.
    @Test func `a ledger whose folder has moved goes on where it stood`() async throws {
      let server = try fixture.startServer(faults: "part#2-1000:503")
      let port = server.port
      let first = try await fixture.openLedger()
      let engine = fixture.engine(first, patience: 300)
      let id = try await add("a.jpg", 4 * 65_536, engine, server)
      _ = try await within { try await engine.run(.drain) }
      await first.close()
      server.stop(graceMilliseconds: 0)
      rename(fixture.folder + "/ledger", fixture.folder + "/moved")
      let calm = try fixture.startServer(port: port)
      defer { calm.stop() }
      let moved = try await Ledger.open(directory: fixture.folder + "/moved")
      let next = fixture.engine(moved, haste: 100)
      #expect(try await within { try await next.run(.drain) } == .finished)
      #expect(try await moved.upload(id).stateWord == .committed)
      #expect(calm.counts.partBodyBytes == 3 * 65_536)
      await moved.close()
    }

    // MARK: Parts of the stories

    private func add(
      _ name: String, _ count: Int, _ engine: UploadEngine, _ server: WaybillServer
    ) async throws -> UploadID {
      let summary = try await engine.add(
        [try fixture.picture(name, count)], to: try Destination(server.baseURL))
      return try #require(summary.queued.first?.upload)
    }

    /// Changes one byte in place and puts the time of modification back.
    private func edit(_ path: String, at offset: Int) throws {
      var before = stat()
      stat(path, &before)
      let descriptor = open(path, O_RDWR)
      defer { close(descriptor) }
      var byte: UInt8 = 0
      pread(descriptor, &byte, 1, off_t(offset))
      byte ^= 1
      #expect(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
      let times = [before.st_atim, before.st_mtim]
      #expect(futimens(descriptor, times) == 0)
    }
  }

  /// The real transport, haunted by a transfer of an earlier process that is dead and listed.
  private final class HauntedTransport: Transport {
    private let base = CurlTransport(options: .test)
    private let ghost: TransferDescription
    private let isListed = Locked(true)
    private let feed: AsyncStream<TransportEvent>.Continuation
    let events: AsyncStream<TransportEvent>
    var sendsSlices: Bool { base.sendsSlices }

    init(_ ghost: TransferDescription) {
      self.ghost = ghost
      (events, feed) = AsyncStream.makeStream()
      Task { [base, feed] in
        for await event in base.events { feed.yield(event) }
        feed.finish()
      }
    }

    func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      await base.start(description, request)
    }

    func call(_ request: HTTPRequest) async -> HTTPOutcome {
      let outcome = await base.call(request)
      vanish()
      return outcome
    }

    /// Ends the ghost once the engine has seen it.
    private func vanish() {
      guard
        isListed.withLock({ isListed in
          defer { isListed = false }
          return isListed
        })
      else { return }
      feed.yield(.completed(ghost, .noReply(.cancelled)))
    }

    func liveTransfers() async -> [TransferDescription] {
      await base.liveTransfers() + (isListed.withLock { $0 } ? [ghost] : [])
    }

    func cancel(_ description: TransferDescription) async { await base.cancel(description) }
    func shutDown() async { await base.shutDown() }
  }
#endif
