import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// Promise 6: one bad item never holds the others.
@Suite struct IsolationTests {
  private let fixture: EngineFixture

  init() throws { fixture = try EngineFixture() }

  /// Uploads `bad` files that the faults are aimed at, named `bad-0.jpg` and so on, before `good`
  /// ones.
  private func files(bad: Int, good: Int, bytes: Int = 1000) throws -> [PickedFile] {
    try (0..<bad).map { try fixture.picture("bad-\($0).jpg", bytes, seed: UInt8(100 + $0)) }
      + (0..<good).map { try fixture.picture("\($0).jpg", bytes, seed: UInt8($0)) }
  }

  @Test func `a credential refused for one upload holds up no other one`() async throws {
    let server = try fixture.startServer(faults: "open@bad-0.jpg*:401")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    _ = try await engine.add(try files(bad: 1, good: 12), to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.photoCount == 12)
    let rows = try await ledger.reader.queue().rows
    #expect(rows.first?.state == .failed(.accessRevoked))
    #expect(try await ledger.state().conditions.credentials == .accepted)
    await ledger.close()
  }

  @Test func `where every upload is refused it is the account's, and no person is asked`()
    async throws
  {
    let server = try fixture.startServer(faults: "any*:401")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    _ = try await engine.add(try files(bad: 0, good: 20), to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .credentialsRejected)
    #expect(try await ledger.reader.counts()[.needsAttention] == 0)
    #expect(try await ledger.state().conditions.credentials == .rejected)
    // Four side by side with the old one and with the new one, then one after the other.
    #expect(server.counts.requests(.open) <= 8 + CredentialTrust.maximumRefused)
    await ledger.close()
  }

  @Test(arguments: ["html", "302", "redirect=http://127.0.0.1:1/"])
  func `five uploads that only get pages do not make the sixth one wait`(
    fault: String
  ) async throws {
    let faults = (0..<5).map { "open@bad-\($0).jpg*:\(fault)" }.joined(separator: ",")
    let server = try fixture.startServer(faults: faults)
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 2000)
    _ = try await engine.add(try files(bad: 5, good: 1), to: try Destination(server.baseURL))
    _ = try await within { try await engine.run(.drain) }
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  @Test(arguments: [202, 423, 504])
  func `a commit that never ends does not keep a drain from ending`(status: Int) async throws {
    let server = try fixture.startServer(faults: "commit@bad-0.jpg*:\(status)")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 60_000, haste: 100)
    _ = try await engine.add(try files(bad: 1, good: 3), to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .serverUnavailable)
    #expect(server.photoCount == 3)
    #expect(try await ledger.reader.counts()[.verifying] == 1)
    // Looked at again and again, each time after a longer pause, and each look is in the log once.
    let looks = try #require(server.firedFaults.first?.count)
    #expect((3...RetryPolicy.maximumDelays).contains(looks))
    #expect(try await fixture.count(.uploadDelayed, in: ledger) == looks)
    await ledger.close()
  }

  @Test func `a commit that never ends is handed to a person, who can have it tried again`()
    async throws
  {
    let server = try fixture.startServer(faults: "commit@bad-0.jpg#1-16:202")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 864_000_000, haste: 2000)
    let summary = try await engine.add(
      try files(bad: 1, good: 0), to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).attention?.reason == .serverUnfinished)
    #expect(server.counts.requests(.commit) == RetryPolicy.maximumDelays)
    #expect(
      try await fixture.count(.uploadDelayed, in: ledger) == RetryPolicy.maximumDelays - 1)
    try await fixture.order(.retry, id, in: ledger)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    await ledger.close()
  }

  @Test(arguments: ["open", "commit"], ["503/retry-after=60", "429/retry-after=60", "507"])
  func `what an upload waits for is in the queue and survives a kill`(
    endpoint: String, fault: String
  ) async throws {
    let server = try fixture.startServer(faults: "\(endpoint)@bad-0.jpg*:\(fault)")
    defer { server.stop() }
    var ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 300)
    _ = try await engine.add(try files(bad: 1, good: 1), to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .serverUnavailable)
    let asked = server.counts.requests
    func waits() async throws -> Bool {
      guard case .waiting(let waiting) = try await ledger.reader.queue().rows.first?.state else {
        return false
      }
      return waiting.until != nil && waiting.reason == (fault == "507" ? .quota : .retrying)
    }
    #expect(try await waits())
    await ledger.close()
    ledger = try await fixture.openLedger()
    #expect(try await waits())
    let next = fixture.engine(ledger, patience: 300)
    #expect(try await within { try await next.run(.drain) } == .serverUnavailable)
    #expect(server.counts.requests == asked)
    await ledger.close()
  }
}
