#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer
  import WaybillTesting

  /// G11, D5: the disk of the ledger is full.
  @Suite(.timeLimit(.minutes(4)), .enabled(if: SmallDisk.isPossible, "mounts a disk in memory"))
  struct DiskTests {
    private let fixture: EngineFixture
    private let disk: SmallDisk

    init() throws {
      fixture = try EngineFixture()
      disk = try SmallDisk(mebibytes: 64)
    }

    @Test func `on a full disk uploads wait for room, say so, and go on when there is some`()
      async throws
    {
      let server = try fixture.startServer(faults: "part#1-4:delay=1500")
      defer { server.stop() }
      let ledger = try await disk.open()
      let engine = fixture.engine(ledger)
      let id = try await add("a.jpg", 12 * 65_536, engine, server)
      let run = Task { try await engine.run(.follow) }
      try await eventually { server.counts.requests(.part) == 4 }
      disk.fill()
      try await eventually {
        try await ledger.reader.queue().rows.first?.state == .waiting(Waiting(.disk))
      }
      let upload = try await ledger.upload(id)
      #expect(upload.attention == nil && upload.parts.allSatisfy { $0.failures == 0 })
      let sent = server.counts.requests(.part)
      await engine.lookAgain()
      disk.free()
      try await ledger.wait(for: .committed, of: id)
      await engine.stop()
      #expect(try await run.value == .stopped)
      #expect(server.counts.partBodyBytes <= Int64(12 + sent) * 65_536)
      #expect(server.photoCount == 1)
      await ledger.close()
      let findings = try await disk.findings()
      #expect(findings == [])
    }

    @Test func `a drain does not wait for room for ever, and loses nothing`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await disk.open()
      let engine = fixture.engine(ledger, patience: 700)
      let id = try await add("a.jpg", 3 * 65_536, engine, server)
      disk.fill()
      #expect(try await within { try await engine.run(.drain) } == .held(Waiting(.disk)))
      #expect(server.counts.requests(.part) == 0)
      // What gives up still finds its room.
      let other = try await ledger.record(id) { (try? $0.decide(.cancel(.user))) ?? [] }
      #expect(other.events.count == 1)
      disk.free()
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(try await ledger.upload(id).copyReleased != nil)
      #expect(try await ledger.state().conditions.held == nil)
      await ledger.close()
    }

    // D5: signing out and giving up make room, whatever else cannot be recorded.
    @Test(arguments: ["cancel", "discard"])
    func `what is given up on a full disk makes room`(order: String) async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await disk.open()
      let engine = fixture.engine(ledger, patience: 60_000)
      var ids: [UploadID] = []
      for number in 0..<4 {
        ids.append(try await add("\(number).jpg", 4 << 20 + number, engine, server))
      }
      disk.fill()
      if order == "cancel" {
        for id in ids { try await fixture.order(.cancel(.user), id, in: ledger) }
        #expect(try await within { try await engine.run(.drain) } == .finished)
      } else {
        try await engine.signOut(.discard)
      }
      for id in ids { #expect(try await ledger.upload(id).copyReleased != nil) }
      #expect(try await ledger.hasRoom())
      await ledger.close()
      let findings = try await disk.findings()
      #expect(findings == [])
    }

    @Test func `a file there is no room for is named, and the others are taken`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await disk.open()
      let engine = fixture.engine(ledger)
      let files = [
        try fixture.picture("small.jpg", 1000), try fixture.picture("large.jpg", 60 << 20),
        try fixture.picture("little.jpg", 2000, seed: 2),
      ]
      let summary = try await engine.add(files, to: try Destination(server.baseURL))
      #expect(summary.queued.count == 2)
      #expect(summary.unavailable.map(\.error.code) == [.diskFull])
      let staged = try FileManager.default.contentsOfDirectory(atPath: ledger.stagingDirectory)
      #expect(staged.count == 2)
      await ledger.close()
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
