import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillSystem

/// When a run begins, waits and ends.
@Suite struct EngineRunTests {
  @Test func `one engine runs again and again`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let destination = try Destination(server.baseURL)
    for round in 1...3 {
      let file = try fixture.picture("\(round).jpg", 200_000, seed: UInt8(round))
      _ = try await engine.add([file], to: destination)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(server.photoCount == round)
    }
    await ledger.close()
  }

  @Test func `a run ends when its caller is cancelled, and another one goes on`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#2:delay=2000")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("a.jpg", 300_000)
    _ = try await engine.add([file], to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.follow) }
    try await eventually { server.counts.requests(.part) >= 2 }
    run.cancel()
    #expect(try await within { try await run.value } == .stopped)
    #expect(try await ledger.reader.uploadsInFlight() == [])
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let rows = try await ledger.reader.queue().rows
    #expect(server.photoCount == 1, "\(rows)")
    await ledger.close()
  }

  @Test func `stopping does not wait for a server that takes its time`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "commit#1:delay=15000")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("a.jpg", 10)
    _ = try await engine.add([file], to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.follow) }
    try await eventually { server.counts.requests(.commit) == 1 }
    let start = ContinuousClock.now
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    #expect(start.duration(to: .now) < .seconds(10))
    await ledger.close()
  }

  @Test func `nothing sent is on its way after a stop at any moment`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part*:delay=3000")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    let file = try fixture.picture("a.jpg", 1_000_000)
    _ = try await engine.add([file], to: try Destination(server.baseURL))
    for turn in 1...8 {
      let seen = transport.requests.count
      let run = Task { try await engine.run(.follow) }
      try await eventually { transport.requests.count > seen }
      for _ in 0..<(turn * 3) { await Task.yield() }
      let start = ContinuousClock.now
      await engine.stop()
      #expect(try await within { try await run.value } == .stopped)
      #expect(start.duration(to: .now) < .milliseconds(2500))
      #expect(await transport.liveTransfers() == [])
      #expect(try await ledger.reader.uploadsInFlight() == [])
    }
    await ledger.close()
  }

  @Test func `a drain ends with what nobody has given a destination`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let id = UploadID(high: 1, low: 2)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: fixture.stagedPath(id)))
    let exported = Exported(
      file: try #require(StagedFileID(id.description)), name: FileName("a.jpg"), byteCount: 3,
      source: .file)
    try await fixture.order(.export(exported), id, in: ledger)
    let engine = fixture.engine(ledger)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).state == .savedLocally)
    // Somebody says where.
    let sure = fixture.engine(ledger, destination: try Destination(server.baseURL))
    #expect(try await within { try await sure.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    // Given up instead: the copy goes in the same run that had left it alone.
    let other = UploadID(high: 1, low: 3)
    try Data([1, 2, 4]).write(to: URL(fileURLWithPath: fixture.stagedPath(other)))
    let second = Exported(
      file: try #require(StagedFileID(other.description)), name: FileName("b.jpg"), byteCount: 3,
      source: .file)
    try await fixture.order(.export(second), other, in: ledger)
    let run = Task { try await engine.run(.follow) }
    try await ledger.wait(for: other) { $0.hash != nil }
    try await fixture.order(.cancel(.user), other, in: ledger)
    try await ledger.wait(for: other) { $0.copyReleased != nil }
    await engine.stop()
    _ = try await run.value
    #expect(fixture.stagedFiles == [])
    await ledger.close()
  }

  @Test func `a copy that cannot be deleted neither spins nor holds up a drain`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "commit#1:delay=300")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.commit) == 1 }
    // A folder with something in it cannot be unlinked.
    try FileManager.default.removeItem(atPath: fixture.stagedPath(id))
    try FileManager.default.createDirectory(
      atPath: fixture.stagedPath(id) + "/x", withIntermediateDirectories: true)
    #expect(try await within { try await run.value } == .finished)
    #expect(try await ledger.upload(id).copyReleased == nil)
    try FileManager.default.removeItem(atPath: fixture.stagedPath(id))
    let next = fixture.engine(ledger)
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).copyReleased != nil)
    await ledger.close()
  }

  @Test func `waiting costs no time of the processor`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "open*:503/retry-after=60")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    // Counts the looks of the loop at the clock: a few for each look at the work.
    let looks = Locked(0)
    let passed = EngineClock.sinceNow()
    var options = UploadEngine.Options()
    options.patienceMilliseconds = 1000
    let engine = UploadEngine(
      ledger: ledger, transport: CurlTransport(options: .test), credentials: .accepted,
      options: options,
      clock: EngineClock(
        wall: { SystemClock.now },
        passed: {
          looks.withLock { $0 += 1 }
          return passed()
        }))
    let files = try (0..<20).map { try fixture.picture("\($0).jpg", 100, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.follow) }
    try await eventually { server.counts.requests(.open) == 20 }
    let before = looks.withLock { $0 }
    try await Task.sleep(for: .seconds(2))
    #expect(looks.withLock { $0 } - before < 200)
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    await ledger.close()
  }

  // T1: what waits inside a run goes by a clock that nobody can set.
  @Test(arguments: [Int64(-3_540_000), 3_540_000])
  func `a clock that is set in the middle of a run holds up nothing`(
    shift: Int64
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(
      faults: "open:503/retry-after=1,part:503/retry-after=1,commit:503/retry-after=1")
    defer { server.stop() }
    let shifted = Locked(Int64(0))
    let wall: @Sendable () -> Timestamp = {
      SystemClock.now.adding(milliseconds: shifted.withLock { $0 })
    }
    let ledger = try await Ledger.open(
      directory: fixture.folder + "/ledger", options: LedgerOptions(clock: wall))
    let engine = fixture.engine(ledger, patience: 60_000, wall: wall)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    for endpoint in [ServerEndpoint.open, .part, .commit] {
      try await eventually {
        let upload = try await ledger.upload(id)
        return server.counts.requests(endpoint) == 1 && upload.notBefore != nil
      }
      shifted.withLock { $0 += shift }
    }
    #expect(try await within(.seconds(10)) { try await run.value } == .finished)
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  @Test func `a sealed ledger sends nothing and stops what is on its way`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part*:delay=3000")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 700_000)], to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.part) >= 1 }
    try await ledger.append(.sealed(Sealed(copies: .keep)), cause: .command)
    #expect(try await within { try await run.value } == .sealed)
    #expect(await transport.liveTransfers() == [])
    let sent = transport.requests.count
    #expect(try await within { try await engine.run(.drain) } == .sealed)
    #expect(transport.requests.count == sent)
    try await ledger.append(.unsealed, cause: .command)
    await ledger.close()
  }
}
