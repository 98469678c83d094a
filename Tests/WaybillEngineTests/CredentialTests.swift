import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillSystem

/// What a refused credential costs: nothing but the wait for another one.
@Suite struct CredentialTests {
  /// A source of tokens that counts how often it is asked for a new one.
  final class Purse: Sendable {
    private let state: Locked<(token: String, next: [String], renewals: Int)>

    init(_ token: String, then next: [String] = []) { state = Locked((token, next, 0)) }

    var renewals: Int { state.withLock { $0.renewals } }
    func put(_ token: String) { state.withLock { $0.token = token } }

    /// A new token takes its time, as it does when another server has to give it.
    var provider: CredentialProvider {
      CredentialProvider { refused in
        guard refused else { return Secret(self.state.withLock { $0.token }) }
        let next = self.state.withLock { state -> String? in
          state.renewals += 1
          return state.next.isEmpty ? nil : state.next.removeFirst()
        }
        guard let next else { return nil }
        try? await Task.sleep(for: .milliseconds(200))
        self.put(next)
        return Secret(next)
      }
    }
  }

  // N8, B13.
  @Test func `many refusals of one stale token lead to one new one`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let purse = Purse("stale", then: [EngineFixture.token])
    let engine = fixture.engine(ledger, credentials: purse.provider)
    let files = try (0..<8).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.photoCount == 8)
    #expect(purse.renewals == 1)
    await ledger.close()
  }

  @Test func `parts refused side by side lead to one new token`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#1-4:401,part#1-4:delay=3000")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let purse = Purse(EngineFixture.token, then: [EngineFixture.token])
    let engine = fixture.engine(ledger, credentials: purse.provider)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 1_000_000)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    #expect(purse.renewals == 1)
    #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
    await ledger.close()
  }

  // C10, N8: the token dies near the end of a long upload.
  @Test func `a token that dies at part 12 of 13 costs nothing but the wait`() async throws {
    let fixture = try EngineFixture()
    // Refused once with the old token and once after a new one was asked for in vain.
    let server = try fixture.startServer(faults: "part#12-13:401")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let purse = Purse(EngineFixture.token)
    // One part at a time: the script refuses requests by their number, not by their token.
    let engine = fixture.engine(ledger, credentials: purse.provider, transfers: 1)
    let size = 13 * 65_536
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", size)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .credentialsRejected)
    let held = try await ledger.upload(id)
    #expect(held.parts.allSatisfy { $0.failures == 0 })
    #expect(held.confirmedBytes == 11 * 65_536)
    let row = try await ledger.reader.queue().rows.first
    #expect(row?.state == .waiting(Waiting(.credentials)))
    let run = Task { try await engine.run(.follow) }
    try await engine.credentialsChanged()
    try await ledger.wait(for: .committed, of: id)
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    #expect(server.photoCount == 1)
    #expect(server.firedFaults.first?.count == 2)
    #expect(server.counts.partBodyBytes == Int64(size) + 2 * 65_536)
    await ledger.close()
  }

  @Test func `a wrong token holds up everything until there is another one`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let purse = Purse("wrong", then: ["wrong too"])
    let engine = fixture.engine(ledger, credentials: purse.provider)
    let files = try (0..<6).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let run = Task { try await engine.run(.follow) }
    try await eventually { try await ledger.state().conditions.credentials == .rejected }
    try await Task.sleep(for: .milliseconds(700))
    let asked = server.counts.requests(.open)
    #expect(purse.renewals == 1)
    #expect(asked <= 12)
    try await Task.sleep(for: .milliseconds(700))
    #expect(server.counts.requests(.open) == asked)
    purse.put(EngineFixture.token)
    try await engine.credentialsChanged()
    try await eventually { server.photoCount == 6 }
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    await ledger.close()
  }

  @Test func `without any credential nothing is sent`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, credentials: CredentialProvider { _ in nil })
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .credentialsRejected)
    #expect(server.counts.requests.isEmpty)
    await ledger.close()
  }

  // N9: what is refused for one upload says nothing of the others.
  @Test func `a 403 concerns the one upload it was given for`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "open#2:403")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<5).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let counts = try await ledger.reader.counts()
    #expect(counts[.committed] == 4)
    #expect(counts[.needsAttention] == 1)
    let rows = try await ledger.reader.queue().rows
    #expect(rows.filter { $0.state == .failed(.accessRevoked) }.count == 1)
    #expect(fixture.stagedFiles.count == 1)
    await ledger.close()
  }

  // Invariant 22.
  @Test func `the token is in no file of the ledger and in no error`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(
      faults: "open#1:503/retry-after=1,part#1:401,part#3:html,status#1:empty,commit#1:drop-reply")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let purse = Purse(EngineFixture.token, then: [EngineFixture.token])
    let engine = fixture.engine(ledger, credentials: purse.provider)
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 300_000)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let token = Data(EngineFixture.token.utf8)
    let base = fixture.folder + "/ledger"
    let names = try FileManager.default.subpathsOfDirectory(atPath: base)
    #expect(names.contains("ledger.sqlite-wal") && names.contains("head"))
    for name in names {
      guard let bytes = FileManager.default.contents(atPath: base + "/" + name) else { continue }
      #expect(bytes.range(of: token) == nil, "\(name) holds the token")
      #expect(bytes.range(of: Data("Bearer".utf8)) == nil, "\(name) holds a header")
    }
    await ledger.close()
    #expect("\(Secret(EngineFixture.token))" == "(secret)")
    #expect(!String(reflecting: Secret(EngineFixture.token)).contains(EngineFixture.token))
    var dumped = ""
    dump(Secret(EngineFixture.token), to: &dumped)
    #expect(!dumped.contains(EngineFixture.token))
    let error = await #expect(throws: LedgerError.self) { try await engine.run(.drain) }
    #expect(!"\(String(describing: error))".contains(EngineFixture.token))
  }
}
