#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillSystem

  /// What counts as proof at a server that states no hash, and what becomes of its sessions.
  @Suite(.timeLimit(.minutes(4)))
  struct TusProofTests {
    private static let part = Int(TusAdapter.partSizeBytes)
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    private func add(
      _ size: Int, _ engine: UploadEngine, _ server: TusServer
    ) async throws -> UploadID {
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", size)], to: try server.destination)
      return try #require(summary.queued.first?.upload)
    }

    private func push(_ size: Int, to server: TusServer, haste: Int64 = 1) async throws -> Upload {
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger, haste: haste)
      let id = try await add(size, engine, server)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      defer { Task { await ledger.close() } }
      return try await ledger.upload(id)
    }

    private var sessionFiles: [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: fixture.folder + "/ledger/sessions"))
        ?? []
    }

    // MARK: Proof

    @Test(arguments: ["", "sha1", "md5,crc32"])
    func `a server that does not check what it is sent proves nothing`(
      algorithms: String
    ) async throws {
      let server = try TusServer(.init(algorithms: algorithms)) { request, session in
        guard request.method == "PATCH" else { return nil }
        session?.bytes += request.body
        return TusServer.status("204 No Content", "Upload-Offset: \(request.body.count)")
      }
      defer { server.stop() }
      let upload = try await push(9000, to: server)
      #expect(upload.attention?.reason == .unproven)
      #expect(upload.confirmedBytes == 9000)
      #expect(upload.copyReleased == nil)
    }

    @Test func `bytes that arrived damaged are refused by the server and sent again`()
      async throws
    {
      let server = try TusServer { request, _ in
        request.method == "PATCH" && request.number == 1
          ? TusServer.status("460 Checksum Mismatch", "Content-Length: 0") : nil
      }
      defer { server.stop() }
      let upload = try await push(9000, to: server, haste: 20)
      #expect(upload.stateWord == .committed)
      #expect(server.requests("PATCH").map(\.offset) == [0, 0])
    }

    // No server here states a hash of the whole that would tell.
    @Test func `a copy that changed after it was looked at is not called committed`()
      async throws
    {
      let staged = "\(fixture.folder)/ledger/staged"
      let server = try TusServer { request, _ in
        guard request.method == "PATCH", request.number == 1 else { return nil }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: staged)) ?? [] {
          let copy = FileHandle(forUpdatingAtPath: "\(staged)/\(name)")
          copy?.write(Data([0xff]))
          try? copy?.close()
        }
        return nil
      }
      defer { server.stop() }
      let upload = try await push(9000, to: server)
      #expect(upload.attention?.reason == .sourceChanged)
      #expect(upload.received != nil && upload.ending == nil)
    }

    // The digest covers what was sent at once, and of that the server kept the beginning unchecked.
    @Test func `what was kept of a part that broke off is resumed, and not called proved`()
      async throws
    {
      let server = try TusServer(.init(cuts: [2: 1_000_000]))
      defer { server.stop() }
      let upload = try await push(2 * Self.part, to: server)
      #expect(upload.attention?.reason == .unproven)
      #expect(upload.confirmedBytes == Int64(2 * Self.part))
      let patches = server.requests("PATCH")
      #expect(patches.map(\.offset) == [0, Self.part, Self.part + 1_000_000].map { Int64($0) })
      let sent = [UInt8](
        try Data(contentsOf: URL(fileURLWithPath: fixture.folder + "/pictures/a.jpg")))
      #expect(server.sessions.map(\.bytes) == [sent])
    }

    // MARK: Relaunch

    @Test func `killed between two parts, the next launch goes on with the second`() async throws {
      let server = try TusServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let gated = GatedTransport(closed: [.parts])
      gated.open(.parts, for: 1)
      let engine = fixture.engine(first, transport: gated)
      let id = try await add(3 * Self.part, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await first.wait(for: id) { $0.confirmedBytes > 0 && $0.flights.count == 1 }
      await first.close()
      await gated.shutDown()
      gated.open(.parts)
      await #expect(throws: LedgerError.self) { try await run.value }

      let second = try await fixture.openLedger()
      #expect(try await within { try await fixture.engine(second).run(.drain) } == .finished)
      let upload = try await second.upload(id)
      #expect(upload.stateWord == .committed)
      #expect(server.requests("POST").count == 1)
      let carried = server.requests("PATCH").map(\.body.count).reduce(0, +)
      #expect(carried == 3 * Self.part)
      #expect(server.sessions.map(\.bytes.count) == [3 * Self.part])
      #expect(sessionFiles.isEmpty)
      await second.close()
    }

    @Test func `a session whose URL is lost has expired, and another one is opened`()
      async throws
    {
      let server = try TusServer()
      defer { server.stop() }
      let first = try await fixture.openLedger()
      let gated = GatedTransport(closed: [.parts])
      let engine = fixture.engine(first, transport: gated)
      let id = try await add(9000, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await first.wait(for: id) { $0.flights.count == 1 }
      await first.close()
      await gated.shutDown()
      gated.open(.parts)
      await #expect(throws: LedgerError.self) { try await run.value }
      #expect(sessionFiles == ["\(id)"])
      try FileManager.default.removeItem(atPath: fixture.folder + "/ledger/sessions/\(id)")

      let second = try await fixture.openLedger()
      #expect(try await within { try await fixture.engine(second).run(.drain) } == .finished)
      #expect(try await second.upload(id).stateWord == .committed)
      #expect(try await fixture.kinds(second, of: id).count { $0 == "session.expired" } == 1)
      #expect(server.requests("POST").count == 2)
      await second.close()
    }

    // MARK: Session URLs

    @Test(arguments: ["absolute", "relative", "dotted"])
    func `a location of our origin is taken in every form`(form: String) async throws {
      let base = Locked("")
      var options = TusServer.Options()
      options.location = { path in
        switch form {
        case "absolute": base.withLock { $0 } + path
        case "relative": String(path.dropFirst())
        default: "/x/.." + path
        }
      }
      let server = try TusServer(options)
      defer { server.stop() }
      let url = try server.destination.url
      base.withLock { $0 = String(url.dropLast("/files".count)) }
      #expect(try await push(9000, to: server).stateWord == .committed)
    }

    // C03
    @Test func `a location elsewhere is refused, and nobody there is sent anything`()
      async throws
    {
      let thief = try NastyServer { $0.serve() }
      defer { thief.stop() }
      var options = TusServer.Options()
      let elsewhere = thief.url
      options.location = { elsewhere + $0 }
      let server = try TusServer(options)
      defer { server.stop() }
      let upload = try await push(9000, to: server)
      #expect(upload.attention?.reason == .refused)
      #expect(thief.connectionCount == 0)
      #expect(server.requests("POST").count == 1)
      #expect(sessionFiles.isEmpty)
    }

    @Test func `an upload that is given up gives its session up, and forgets where it was`()
      async throws
    {
      let server = try TusServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let gated = GatedTransport(closed: [.parts])
      let engine = fixture.engine(ledger, transport: gated)
      let id = try await add(9000, engine, server)
      let run = Task { try await engine.run(.drain) }
      try await ledger.wait(for: id) { $0.flights.count == 1 }
      try await fixture.order(.cancel(.user), id, in: ledger)
      gated.open(.parts)
      #expect(try await within { try await run.value } == .finished)
      #expect(server.requests("DELETE").count == 1)
      #expect(server.sessions.isEmpty)
      #expect(sessionFiles.isEmpty)
      await ledger.close()
    }
  }
#endif
