import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// A server that goes back on what it said: the record is corrected by events that say so.
@Suite struct SessionFaultTests {
  private struct Pushed {
    let upload: Upload
    let events: [RecordedEvent]
    let ending: UploadEngine.Ending?
    let counts: ServerCounts
    let words: [String]
    let photoCount: Int
  }

  private func push(_ size: Int, faults: String, haste: Int64 = 1) async throws -> Pushed {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: faults)
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport, haste: haste)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", size)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let ending = try await within { try await engine.run(.drain) }
    if ending == nil { await engine.stop() }
    let pushed = Pushed(
      upload: try await ledger.upload(id), events: try await fixture.events(ledger, of: id),
      ending: ending, counts: server.counts, words: transport.words, photoCount: server.photoCount)
    let report = try await ledger.reader.verify()
    #expect(report.isSound, "\(report.findings)")
    await ledger.close()
    return pushed
  }

  // N3, B22: forgotten at a part and at the commit.
  @Test(arguments: ["part#2:forget", "commit#1:forget"])
  func `a forgotten session is expired by an event and opened anew`(faults: String) async throws {
    let pushed = try await push(300_000, faults: faults)
    #expect(pushed.ending == .finished)
    #expect(pushed.upload.stateWord == .committed)
    #expect(pushed.photoCount == 1)
    let opened = pushed.events.filter { $0.kindName == "session.opened" }
    let expired = pushed.events.filter { $0.kindName == "session.expired" }
    #expect(opened.count == 2)
    #expect(expired.map(\.compensates) == [opened.first?.position])
    #expect(pushed.words.contains("status"))
  }

  // B04.
  @Test(arguments: ["commit*:forget", "part*:forget", "open*:delay=1,status*:forget,commit*:503"])
  func `a server that forgets every session is not asked for ever`(faults: String) async throws {
    let pushed = try await push(200_000, faults: faults, haste: 20)
    #expect(pushed.ending == .finished)
    #expect(pushed.upload.attention?.reason == .serverInconsistent)
    #expect(pushed.counts.requests(.open) <= 5)
  }

  // B12: a part that is not found says nothing of the session; its status does.
  @Test func `a part that is not found makes the status asked`() async throws {
    let pushed = try await push(300_000, faults: "part#2:404")
    #expect(pushed.upload.stateWord == .committed)
    #expect(pushed.counts.requests(.status) >= 1)
    #expect(!pushed.events.contains { $0.kindName == "session.expired" })
    let at = try #require(pushed.words.firstIndex(of: "status"))
    #expect(pushed.words[at...].contains("part"))
  }

  @Test func `parts that are never found end with a person`() async throws {
    let pushed = try await push(1000, faults: "part*:404", haste: 50)
    #expect(pushed.ending == .finished)
    #expect(pushed.upload.attention?.reason == .attemptsExhausted)
    #expect(pushed.counts.requests(.part) == RetryPolicy.maximumAttempts)
  }

  // N4.
  @Test func `a lost part is revoked by an event, sent again and committed`() async throws {
    let pushed = try await push(300_000, faults: "commit#1:lose=1")
    #expect(pushed.ending == .finished)
    #expect(pushed.upload.stateWord == .committed)
    #expect(pushed.photoCount == 1)
    let confirmed = pushed.events.filter {
      if case .upload(.partConfirmed(let fact)) = $0.body {
        fact.part == PartNumber(1)
      } else {
        false
      }
    }
    let revoked = pushed.events.filter { $0.kindName == "part.revoked" }
    #expect(confirmed.count == 2)
    #expect(revoked.map(\.compensates) == [confirmed.first?.position])
    #expect(pushed.counts.partBodyBytes == 300_000 + 65_536)
  }

  @Test func `parts lost again and again end with a person`() async throws {
    let pushed = try await push(300_000, faults: "commit*:lose=1", haste: 20)
    #expect(pushed.ending == .finished)
    #expect(pushed.upload.attention?.reason == .serverInconsistent)
    #expect(pushed.upload.regressions <= 3)
    #expect(pushed.counts.commits == 0)
  }

  // F02: after a person said so it begins with the status, with attempts unused.
  @Test func `a retry after attention begins with the status`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#2:413")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let transport = WatchedTransport()
    let engine = fixture.engine(ledger, transport: transport)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 300_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).attention?.reason == .tooLarge)
    try await fixture.order(.retry, id, in: ledger)
    let seen = transport.requests.count
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(transport.words[seen] == "status")
    #expect(try await ledger.upload(id).stateWord == .committed)
    #expect(try await ledger.upload(id).round == 1)
    await ledger.close()
  }

  /// A server that says it holds all and refuses the commit because parts are missing.
  @Test func `a server that contradicts itself is not asked for ever`() async throws {
    let fixture = try EngineFixture()
    let server = try NastyServer { peer in
      while let request = peer.readRequest() {
        Contradiction.answer(request, to: peer)
      }
    }
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100)], to: try Destination(server.url))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).attention?.reason == .serverInconsistent)
    #expect(server.seen.count < 20)
    await ledger.close()
  }
}

/// The replies of a server that says it holds all and refuses the commit because parts are missing.
private enum Contradiction {
  private static var tomorrow: String { Date(timeIntervalSinceNow: 86_400).ISO8601Format() }

  static func answer(_ request: NastyServer.Seen, to peer: Peer) {
    let json = "Content-Type: application/json\r\n"
    let state = #"{"uploadId":"u-1","received":[0],"state":"received"}"#
    switch request.method {
    case "PUT": peer.reply("200 OK", #"{"received":[0]}"#, headers: json)
    case "GET": peer.reply("200 OK", state, headers: json)
    default:
      if request.path.hasSuffix("/commit") {
        peer.reply(
          "409 Conflict", #"{"type":"urn:waybill:problem:parts-missing","status":409}"#,
          headers: "Content-Type: application/problem+json\r\n")
      } else {
        peer.reply(
          "201 Created",
          #"{"uploadId":"u-1","partSize":65536,"partCount":1,"expiresAt":"\#(tomorrow)"}"#,
          headers: json)
      }
    }
  }
}
