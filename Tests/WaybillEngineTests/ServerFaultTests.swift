import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// Replies that are lost, late or no statement: nothing is taken for more than it proves.
@Suite struct ServerFaultTests {
  // The transport itself repeats a request whose kept connection died, so that the script loses
  // more replies than the engine misses.
  // A07, N2, E04: one lost reply, and three in a row.
  @Test(arguments: [1, 3])
  func `a commit whose reply is lost is asked about, not done twice`(lost: Int) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(
      faults: "commit*:drop-reply,status#1-\(lost * 3 - 2):drop-reply")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport, haste: 10)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    #expect(server.photoCount == 1)
    #expect(server.counts.commits == 1)
    // What became of the first commit is asked, again and again if need be, before another one.
    let words = transport.words
    let first = try #require(words.firstIndex(of: "commit"))
    #expect(words[first...].filter { $0 == "commit" }.count == 1)
    // The first loss on a kept connection is libcurl's own: it sends again, with the same key.
    #expect(lost == 1 || words[first...].contains("status"))
    let report = try await ledger.reader.verify()
    #expect(report.isSound, "\(report.findings)")
    await ledger.close()
  }

  @Test func `while a commit is unknown the state is verifying, and the next run ends it`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "commit*:drop-reply,status*:503")
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.follow) }
    try await eventually { server.counts.requests(.status) >= 1 }
    #expect(try await ledger.upload(id).state == .verifying)
    #expect(fixture.stagedFiles.count == 1)
    await engine.stop()
    _ = try await run.value
    await ledger.close()
    server.stop()
    let port = server.port
    let calm = try fixture.startServer(port: port)
    defer { calm.stop() }
    let reopened = try await fixture.openLedger()
    let next = fixture.engine(reopened)
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(try await reopened.upload(id).stateWord == .committed)
    #expect(calm.photoCount == 1)
    #expect(try await fixture.count(.uploadCommitted, in: reopened) == 1)
    await reopened.close()
  }

  // N6, C04.
  @Test(arguments: ["open", "part", "commit"], ["html", "empty", "truncated"])
  func `a reply that states nothing proves nothing and costs nothing`(
    endpoint: String, reply: String
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "\(endpoint)#1-2:\(reply)")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 60_000)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let upload = try await ledger.upload(id)
    #expect(upload.stateWord == .committed)
    #expect(upload.parts.allSatisfy { $0.failures == 0 })
    #expect(try await fixture.count(.conditionsChanged, in: ledger) >= 2)
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  @Test func `a status that states nothing leaves everything as it is`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(
      faults: "commit*:drop-reply,status#1:html,status#2:empty,status#3:truncated")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 60_000)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    #expect(try await fixture.count(.sessionExpired, in: ledger) == 0)
    #expect(try await fixture.count(.partRevoked, in: ledger) == 0)
    #expect(server.counts.commits == 1)
    await ledger.close()
  }

  @Test func `a network that answers everything itself is being offline`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "any*:html")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 1500)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .offline)
    let row = try await ledger.reader.queue().rows.first
    #expect(row?.state == .waiting(Waiting(.offline)))
    #expect(try await ledger.upload(id).attention == nil)
    await ledger.close()
  }

  // N11, C01.
  @Test(arguments: ["open", "part", "commit"], [429, 503])
  func `nothing is sent before the moment the server named`(
    endpoint: String, status: Int
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "\(endpoint)#1:\(status)/retry-after=2")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 1000)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let word = transport.requests.filter { $0.word == endpoint }
    let asked = try #require(word.first)
    let next = try #require(
      transport.requests.first { $0.time > asked.time })
    #expect(asked.time.duration(to: next.time) >= .seconds(2))
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  // C07: the full account is asked again later; a smaller file is not held up.
  @Test func `a full account holds up the one upload it was said of`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#1:507")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<3).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.drain) }
    try await eventually { server.photoCount == 2 }
    let rows = try await ledger.reader.queue().rows
    let waiting = rows.compactMap { row -> Waiting? in
      if case .waiting(let waiting) = row.state { waiting } else { nil }
    }
    #expect(waiting.map(\.reason) == [.quota])
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    #expect(server.counts.requests(.part) == 3)
    await ledger.close()
  }

  // N11: 413 is never retried. B05: 404 to the opening is final.
  @Test(arguments: [
    ("open#2:413", AttentionReason.tooLarge), ("part#2:413", .tooLarge),
    ("open#2:404", .refused), ("open#2:415", .refused),
  ])
  func `a final refusal asks a person and the others go on`(
    faults: String, reason: AttentionReason
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: faults)
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<5).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let rows = try await ledger.reader.queue().rows
    #expect(rows.filter { $0.state == .failed(reason) }.count == 1)
    #expect(server.photoCount == 4)
    #expect(fixture.stagedFiles.count == 1)
    await ledger.close()
  }

  // B05: zero bytes, and the opening answers a bare 404.
  @Test func `an empty file whose opening is refused does not loop`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "open*:404")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    _ = try await engine.add(
      [try fixture.picture("empty.jpg", 0)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.counts.requests(.open) == 1)
    #expect(try await ledger.reader.counts()[.needsAttention] == 1)
    await ledger.close()
  }

  // N7.
  @Test(arguments: ["commit*:wrong-hash", "commit*:drop-reply,status*:wrong-hash"])
  func `an object with another hash is never called committed`(faults: String) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: faults)
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).attention?.reason == .hashMismatch)
    #expect(try await fixture.count(.uploadCommitted, in: ledger) == 0)
    #expect(fixture.stagedFiles == [id.description])
    await ledger.close()
  }

  @Test func `a server out of reach costs no attempt, and the work goes on when it is back`()
    async throws
  {
    let fixture = try EngineFixture()
    let first = try fixture.startServer(faults: "part*:delay=20000,part*:503")
    let port = first.port
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 1000)
    let files = try (0..<6).map { try fixture.picture("\($0).jpg", 150_000, seed: UInt8($0)) }
    let summary = try await engine.add(files, to: try Destination(first.baseURL))
    let run = Task { try await engine.run(.drain) }
    try await eventually { first.counts.requests(.part) >= 4 }
    first.stop(graceMilliseconds: 0)
    #expect(try await within { try await run.value } == .offline)
    #expect(try await ledger.reader.counts()[.needsAttention] == 0)
    let second = try fixture.startServer(port: port)
    defer { second.stop() }
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(second.photoCount == 6)
    for (_, id) in summary.queued {
      // A connection that broke in mid part may count, a refused one never does.
      #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures <= 1 })
    }
    await ledger.close()
  }

  @Test func `many connections refused at once are one setback`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    let url = server.baseURL
    server.stop()
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport, patience: 6000)
    let files = try (0..<20).map { try fixture.picture("\($0).jpg", 10, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(url))
    #expect(try await within { try await engine.run(.drain) } == .offline)
    // Four side by side, then one probe after the other, each in its time.
    #expect((6...16).contains(transport.requests.count), "\(transport.requests.count)")
    await ledger.close()
  }
}
