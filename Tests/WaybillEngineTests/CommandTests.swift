import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// Commands given while the engine works, and how the uploads share what there is.
@Suite struct CommandTests {
  private let fixture: EngineFixture
  init() throws { fixture = try EngineFixture() }

  // F03.
  @Test func `an upload cancelled with a part in flight stays cancelled`() async throws {
    let server = try fixture.startServer(faults: "part#2-4:delay=700")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 300_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.part) >= 3 }
    try await fixture.order(.cancel(.user), id, in: ledger)
    await engine.lookAgain()
    #expect(try await within { try await run.value } == .finished)
    #expect(try await ledger.upload(id).stateWord == .cancelled)
    #expect(try await ledger.upload(id).copyReleased != nil)
    #expect(fixture.stagedFiles == [])
    #expect(transport.words.contains("delete"))
    #expect(server.photoCount == 0)
    // And after a relaunch.
    let seen = transport.requests.count
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(transport.requests.count == seen)
    #expect(try await ledger.upload(id).stateWord == .cancelled)
    await ledger.close()
  }

  // N15.
  @Test func `a cancel that races the commit stays cancelled and leaves a note`() async throws {
    let server = try fixture.startServer(faults: "commit#1:delay=700")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 1000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.commit) == 1 }
    try await fixture.order(.cancel(.user), id, in: ledger)
    #expect(try await within { try await run.value } == .finished)
    #expect(try await ledger.upload(id).stateWord == .cancelled)
    let kinds = try await fixture.kinds(ledger, of: id)
    #expect(kinds.filter { $0 == "observation.noted" }.count == 1)
    #expect(!kinds.contains("upload.committed"))
    #expect(fixture.stagedFiles == [])
    await ledger.close()
  }

  @Test func `a paused upload starts no part, and goes on when it is resumed`() async throws {
    let server = try fixture.startServer(faults: "part#1-4:delay=300")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 1_000_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.part) >= 1 }
    try await fixture.order(.pause, id, in: ledger)
    #expect(try await within { try await run.value } == .finished)
    #expect(try await ledger.upload(id).flights.isEmpty)
    #expect(server.counts.requests(.part) <= 8)
    try await fixture.order(.resume, id, in: ledger)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    await ledger.close()
  }

  // Invariant 18, F08, E01, A08.
  @Test func `one poisoned upload among twenty holds up no other`() async throws {
    let server = try fixture.startServer(faults: "part#1:503/retry-after=60")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    let files = try (0..<20).map { try fixture.picture("\($0).jpg", 10_000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.photoCount == 19 }
    #expect(transport.peak <= 4)
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    await ledger.close()
  }

  // The work list looks at a window of uploads: those that wait must not fill it.
  @Test func `a hundred uploads that wait do not hide the one behind them`() async throws {
    let server = try fixture.startServer(faults: "open#1-100:503/retry-after=600")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 20_000)
    let files = try (0..<101).map { try fixture.picture("\($0).jpg", 100, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.photoCount == 1 }
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    await ledger.close()
  }

  // F09.
  @Test func `an urgent file starts within one part of a large one`() async throws {
    let server = try fixture.startServer(faults: "part*:delay=60")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    let destination = try Destination(server.baseURL)
    let large = try await engine.add([try fixture.picture("a.jpg", 8_000_000)], to: destination)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.part) >= 6 }
    let small = try await engine.add(
      [try fixture.picture("b.jpg", 100)], to: destination, priority: .urgent)
    let id = try #require(small.queued.first?.upload)
    let first = try #require(large.queued.first?.upload)
    try await ledger.wait(for: .committed, of: id)
    #expect(try await ledger.upload(first).stateWord == .sending)
    // Between its session and its part at most the parts that were on their way ended.
    let requests = transport.requests
    let part = try #require(requests.firstIndex { $0.part?.upload == id })
    let open = try #require(requests.lastIndex { $0.word == "open" })
    #expect(requests[open..<part].filter { $0.word == "part" }.count <= 12)
    #expect(transport.peak <= 4)
    await engine.stop()
    _ = try await run.value
    await ledger.close()
  }

  // E01, E07, invariant 12.
  @Test func `bytes sent grow, fall only by a correction and never pass the size`() async throws {
    let server = try fixture.startServer(partSize: 262_144, faults: "part#3:503,part#6:drop")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    var options = CurlTransport.Options.test
    options.progressInterval = .milliseconds(5)
    let engine = fixture.engine(ledger, transport: WatchedTransport(options))
    let size: Int64 = 4_000_000
    let follower = Task {
      var seen: [Int64] = []
      for try await update in ledger.uploads() {
        let rows = update.rows.map(\.upload)
        for row in rows { seen.append(row.bytesSent) }
        let counts = try await ledger.reader.counts()
        #expect(counts.sentBytes <= counts.totalBytes)
        if rows.contains(where: { if case .done = $0.state { true } else { false } }) { break }
      }
      return seen
    }
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", Int(size))], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let id = try #require(summary.queued.first?.upload)
    let seen = try #require(try await within { try await follower.value })
    #expect(seen.allSatisfy { (0...size).contains($0) })
    #expect(seen.last == size)
    let failed = try await fixture.events(ledger, of: id).filter { $0.kindName == "part.failed" }
    let falls = zip(seen, seen.dropFirst()).filter { $0 > $1 }
    #expect(falls.count <= failed.count)
    #expect(falls.allSatisfy { $0 - $1 <= 2 * 262_144 })
    await ledger.close()
  }

  @Test func `a command dropped into the inbox is taken while the engine runs`() async throws {
    let server = try fixture.startServer(faults: "open*:503/retry-after=60")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.counts.requests(.open) == 1 }
    try Inbox(ledgerDirectory: fixture.folder + "/ledger").drop(
      .cancel(id), id: EventID(high: 1, low: 1))
    #expect(try await within { try await run.value } == .finished)
    #expect(try await ledger.upload(id).stateWord == .cancelled)
    await ledger.close()
  }
}
