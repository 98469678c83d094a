import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// What the next launch finds after a kill, and what it makes of it.
@Suite struct RelaunchTests {
  /// Ends an engine as a kill does: from here on nothing of it reaches the ledger.
  private func abandon(
    _ ledger: Ledger, _ transport: WatchedTransport, _ run: Task<UploadEngine.Ending, any Error>
  ) async {
    await ledger.close()
    await transport.shutDown()
    _ = try? await run.value
  }

  // A03, A05, T5, D11.
  @Test func `after a kill with parts in flight only what the server lacks is sent`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#6-9:delay=20000,part#6-9:503")
    let port = server.port
    let size = 12 * 65_536
    let first = try await fixture.openLedger()
    let dying = WatchedTransport()
    let engine = fixture.engine(first, transport: dying)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", size)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.part) >= 9 }
    try await first.wait(for: id) { $0.flights.count == 4 && $0.confirmedBytes == 5 * 65_536 }
    await abandon(first, dying, run)
    server.stop(graceMilliseconds: 0)
    // Three orphans beside the live copy.
    for number in 0..<3 {
      let orphan = UploadID(high: UInt64(number), low: 77)
      _ = FileManager.default.createFile(atPath: fixture.stagedPath(orphan), contents: Data([1]))
    }

    let calm = try fixture.startServer(port: port)
    defer { calm.stop() }
    let second = try await fixture.openLedger()
    let transport = WatchedTransport()
    let next = fixture.engine(second, transport: transport)
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(try await second.upload(id).stateWord == .committed)
    #expect(transport.words.first == "status")
    #expect(calm.counts.partBodyBytes == Int64(size - 5 * 65_536))
    let lost = try await fixture.events(second, of: id).filter { $0.kindName == "transfer.lost" }
    let sent = try await fixture.events(second, of: id).filter { $0.kindName == "part.sent" }
    #expect(lost.count == 4)
    let announced = Set(sent.map(\.position))
    #expect(lost.allSatisfy { $0.compensates.map { announced.contains($0) } ?? false })
    #expect(try await second.upload(id).parts.allSatisfy { $0.failures == 0 })
    #expect(fixture.stagedFiles == [])
    #expect(try await second.reader.verify().isSound)
    await second.close()
  }

  @Test func `a launch sweeps orphans and keeps the copies that are needed`() async throws {
    let fixture = try EngineFixture()
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 100)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination("http://127.0.0.1:9"))
    let id = try #require(summary.queued.first?.upload)
    for number in 0..<3 {
      let orphan = UploadID(high: UInt64(number), low: 77)
      _ = FileManager.default.createFile(atPath: fixture.stagedPath(orphan), contents: Data([1]))
    }
    #expect(try await within { try await engine.run(.drain) } == .offline)
    #expect(fixture.stagedFiles == [id.description])
    await ledger.close()
  }

  // A12, D06, D10, L1, L2.
  @Test(arguments: ["deleted", "swapped", "truncated", "linked"])
  func `nothing is sent of a copy that is not what was hashed, and the file can be added again`(
    harm: String
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#2-1000:503/retry-after=60")
    let port = server.port
    let first = try await fixture.openLedger()
    let dying = WatchedTransport()
    let engine = fixture.engine(first, transport: dying)
    let file = try fixture.picture("a.jpg", 200_000)
    let destination = try Destination(server.baseURL)
    let summary = try await engine.add([file], to: destination)
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await first.wait(for: id) {
      $0.session != nil && $0.flights.isEmpty && $0.confirmedBytes > 0
    }
    await abandon(first, dying, run)
    server.stop(graceMilliseconds: 0)
    try damage(fixture.stagedPath(id), harm)

    let calm = try fixture.startServer(port: port)
    defer { calm.stop() }
    let second = try await fixture.openLedger()
    let transport = WatchedTransport()
    let next = fixture.engine(second, transport: transport, haste: 100)
    #expect(try await within { try await next.run(.drain) } == .finished)
    let reason: AttentionReason = harm == "deleted" ? .sourceMissing : .sourceChanged
    #expect(try await second.upload(id).attention?.reason == reason)
    #expect(calm.counts.partBodyBytes == 0)
    #expect(transport.words.first == "status")
    // Picked again: the new upload takes the place of the one that cannot go on.
    let again = try await next.add([file], to: destination)
    #expect(again.queued.count == 1)
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(try await second.upload(id).stateWord == .cancelled)
    #expect(calm.photoCount == 1)
    unlink(fixture.stagedPath(id) + ".moved")
    #expect(fixture.stagedFiles == [])
    #expect(try await second.reader.verify().isSound)
    await second.close()
  }

  private func damage(_ path: String, _ harm: String) throws {
    var before = stat()
    stat(path, &before)
    switch harm {
    case "deleted": unlink(path)
    case "truncated": truncate(path, 100)
    case "linked":
      rename(path, path + ".moved")
      symlink(path + ".moved", path)
    default:
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[150_000] ^= 1
      try bytes.write(to: URL(fileURLWithPath: path + ".new"))
      let times = [before.st_atim, before.st_mtim]
      utimensat(AT_FDCWD, path + ".new", times, 0)
      rename(path + ".new", path)
    }
  }

  // L1: the server may have everything although our copy is gone.
  @Test func `a copy that is gone does not matter when the server holds all`() async throws {
    let fixture = try EngineFixture()
    // The wait may be in the log by the time of the kill, and then holds for the next launch too.
    let server = try fixture.startServer(faults: "commit*:503/retry-after=1")
    let port = server.port
    let first = try await fixture.openLedger()
    let dying = WatchedTransport()
    let engine = fixture.engine(first, transport: dying)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 200_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.commit) >= 1 }
    await abandon(first, dying, run)
    server.stop(graceMilliseconds: 0)
    unlink(fixture.stagedPath(id))
    let calm = try fixture.startServer(port: port)
    defer { calm.stop() }
    let second = try await fixture.openLedger()
    let next = fixture.engine(second)
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(try await second.upload(id).stateWord == .committed)
    #expect(calm.counts.partBodyBytes == 0)
    await second.close()
  }

  // D10.
  @Test func `a second opening says who owns the ledger`() async throws {
    let fixture = try EngineFixture()
    let ledger = try await fixture.openLedger()
    let error = await #expect(throws: LedgerError.self) { try await fixture.openLedger() }
    #expect(error?.code == .busy)
    #expect(error?.description.contains("\(getpid())") == true, "\(error?.description ?? "")")
    await ledger.close()
    let again = try await fixture.openLedger()
    await again.close()
  }
}
