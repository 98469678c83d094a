import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// One upload with a fault of its own at the head of the queue, others without behind it: invariant
/// 18 with each fault that a reply can have.
@Suite(.serialized) struct PoisonTests {
  struct Poison: Sendable, CustomTestStringConvertible {
    /// Rules of the fault script without their target.
    let rules: [String]
    /// How the upload may end, as its row in the queue.
    let ends: [QueuedUpload.State]
    /// The most requests that may be made for it.
    let mostRequests: Int
    /// Whether a deadline has to be waited for.
    var isSlow = false

    init(_ rules: String..., most: Int, isSlow: Bool = false, ends: QueuedUpload.State...) {
      self.rules = rules
      self.ends = ends
      self.mostRequests = most
      self.isSlow = isSlow
    }

    var testDescription: String { rules.joined(separator: " ") }

    /// The rules, aimed at one file.
    func aimed(at file: String) -> [String] {
      rules.map { rule in
        let parts = rule.split(separator: ":", maxSplits: 1)
        return "\(parts[0])@\(file)*:\(parts[1])"
      }
    }

    var script: String {
      // The last rules do nothing and count the requests of the upload.
      let counts = PoisonTests.endpoints.map { "\($0.rawValue)@bad.jpg*:delay=0" }
      return (aimed(at: "bad.jpg") + counts).joined(separator: ",")
    }
  }

  private static let endpoints: [ServerEndpoint] = [.open, .part, .commit, .status]
  private static let elsewhere = "redirect=http://127.0.0.1:1/"

  static let poisons: [Poison] = [
    // The credential is good for all others.
    Poison("open:401", most: 3, ends: .failed(.accessRevoked)),
    Poison("part:401", most: 7, ends: .failed(.accessRevoked)),
    Poison("commit:401", most: 7, ends: .failed(.accessRevoked)),
    Poison("open:403", most: 1, ends: .failed(.accessRevoked)),
    Poison("part:403", most: 3, ends: .failed(.accessRevoked)),
    // Pages and redirects: not our server.
    Poison("open:html", most: 9, ends: .failed(.notOurServer)),
    Poison("part:html", most: 19, ends: .failed(.notOurServer)),
    Poison("commit:html", most: 21, ends: .failed(.notOurServer)),
    Poison("open:302", most: 9, ends: .failed(.notOurServer)),
    Poison("part:\(elsewhere)", most: 19, ends: .failed(.notOurServer)),
    // Refused for good.
    Poison("open:413", most: 1, ends: .failed(.tooLarge)),
    Poison("part:413", most: 3, ends: .failed(.tooLarge)),
    Poison("open:422", most: 1, ends: .failed(.refused)),
    // Busy, full or failing for ever.
    Poison("open:500", most: 16, ends: .failed(.attemptsExhausted)),
    Poison("part:500", most: 17, ends: .failed(.attemptsExhausted)),
    Poison("commit:500", most: 36, ends: .failed(.attemptsExhausted)),
    Poison("open:429", most: 16, ends: .failed(.attemptsExhausted)),
    Poison("open:503/retry-after=3600", most: 6, ends: .waiting(Waiting(.retrying))),
    Poison("part:503/retry-after=3600", most: 14, ends: .waiting(Waiting(.retrying))),
    Poison("open:507", most: 16, ends: .failed(.quota)),
    Poison("part:507", most: 33, ends: .failed(.quota)),
    Poison("commit:202", most: 36, ends: .failed(.serverUnfinished)),
    Poison("commit:423", most: 36, ends: .failed(.serverUnfinished)),
    Poison("commit:504", most: 36, ends: .failed(.serverUnfinished)),
    // Replies that do not come, or do not come to an end. What the server holds, its status tells.
    // The transport sends again by itself what a kept connection swallowed.
    Poison("part:drip=1000", most: 12, isSlow: true, ends: .done(RemoteID(""))),
    Poison(
      "part:drip=1000", "status:drip=1000", most: 40, isSlow: true,
      ends: .failed(.attemptsExhausted)),
    Poison("open:drip=1000", most: 16, isSlow: true, ends: .failed(.attemptsExhausted)),
    Poison(
      "part:delay=600000", most: 60, isSlow: true, ends: .failed(.attemptsExhausted),
      .failed(.serverUnfinished)),
    Poison("open:drop-reply", most: 48, ends: .failed(.attemptsExhausted)),
    Poison("part:drop-reply", most: 12, ends: .done(RemoteID(""))),
    Poison("part:drop", most: 60, ends: .failed(.attemptsExhausted)),
    Poison("commit:drop-reply", most: 12, ends: .done(RemoteID(""))),
    // Replies against the protocol, and a server that goes back on what it said.
    Poison("commit:wrong-hash", most: 5, ends: .failed(.hashMismatch)),
    Poison("open:409", most: 8, ends: .failed(.protocolViolation)),
    Poison("part:409", most: 17, ends: .failed(.protocolViolation)),
    Poison("commit:409", most: 21, ends: .failed(.protocolViolation)),
    Poison("part:404", "status:404", "commit:404", most: 20, ends: .failed(.serverInconsistent)),
  ]

  /// How many others there are; `WAYBILL_HEALTHY=99` for the whole hundred, which takes longer.
  private static let healthy =
    ProcessInfo.processInfo.environment["WAYBILL_HEALTHY"].flatMap { Int($0) } ?? 12

  @Test(arguments: poisons)
  func `one poisoned upload holds up none of the others`(poison: Poison) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: poison.script)
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    var transport = CurlTransport.Options.test
    if poison.isSlow {
      transport.callTimeout = .milliseconds(500)
      transport.replyTimeout = .milliseconds(500)
    }
    let fourHours: Int64 = 4 * 3_600_000
    let engine = fixture.engine(
      ledger, transport: CurlTransport(options: transport), patience: fourHours,
      haste: poison.isSlow ? 400 : 2000)
    let files =
      [try fixture.picture("bad.jpg", 100_000, seed: 200)]
      + (try (0..<Self.healthy).map { try fixture.picture("\($0).jpg", 100_000, seed: UInt8($0)) })
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    let ending = try await within(.seconds(60)) { try await engine.run(.drain) }
    let rows = try await ledger.reader.queue().rows
    let end = try #require(rows.first?.state)
    #expect(poison.ends.contains { $0.isLike(end) }, "\(end)")
    if case .waiting(let waiting) = end {
      #expect(ending == .serverUnavailable && waiting.until != nil)
    } else {
      #expect(ending == .finished)
    }
    let done = rows.dropFirst().filter { if case .done = $0.state { true } else { false } }
    #expect(done.count == Self.healthy)
    try checkCounts(server, poison)
    #expect(try await ledger.state().conditions.network == .online)
    let report = try await ledger.reader.verify()
    #expect(report.isSound, "\(report.findings)")
    await ledger.close()
  }

  @Test func `all of the poisons at once hold up none of the others`() async throws {
    let fixture = try EngineFixture()
    let poisons = Self.poisons.filter { !$0.isSlow }
    let faults = poisons.enumerated().flatMap { $0.element.aimed(at: "bad-\($0.offset).jpg") }
    let server = try fixture.startServer(faults: faults.joined(separator: ","))
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 4 * 3_600_000, haste: 2000)
    let bad = try poisons.indices.map {
      try fixture.picture("bad-\($0).jpg", 100_000, seed: UInt8(100 + $0))
    }
    let good = try (0..<Self.healthy).map {
      try fixture.picture("\($0).jpg", 100_000, seed: UInt8($0))
    }
    _ = try await engine.add(bad + good, to: try Destination(server.baseURL))
    #expect(try await within(.seconds(60)) { try await engine.run(.drain) } == .serverUnavailable)
    let rows = try await ledger.reader.queue().rows
    for (row, poison) in zip(rows, poisons) {
      #expect(poison.ends.contains { $0.isLike(row.state) }, "\(poison): \(row.state)")
    }
    let done = rows.dropFirst(bad.count).filter {
      if case .done = $0.state { true } else { false }
    }
    #expect(done.count == Self.healthy)
    #expect(
      try await ledger.state().conditions == Conditions(network: .online, credentials: .accepted))
    await ledger.close()
  }

  // What everybody has is charged to nobody for long.
  @Test(arguments: ["503", "html", "drop"])
  func `a server that is down for all for a while costs nobody the end`(
    fault: String
  ) async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "any#10-60:\(fault)")
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger, patience: 4 * 3_600_000, haste: 500)
    let files = try (0..<20).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    _ = try await engine.add(files, to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.photoCount == 20)
    await ledger.close()
  }

  /// The poisoned one stays within its bound. Each of the others is opened once, sends its two
  /// parts once and is committed once; it may ask for its status, where replies to parts crossed.
  private func checkCounts(_ server: WaybillServer, _ poison: Poison) throws {
    let poisoned = server.firedFaults.suffix(Self.endpoints.count).map(\.count)
    #expect(poisoned.reduce(0, +) <= poison.mostRequests, "\(poisoned)")
    let others = zip(Self.endpoints, poisoned).map { server.counts.requests($0) - $1 }
    let once = [Self.healthy, 2 * Self.healthy, Self.healthy, 0]
    let spare = poison.isSlow ? 3 : 0
    for (count, wanted) in zip(others.dropLast(), once) {
      #expect((wanted...(wanted + spare)).contains(count), "\(others)")
    }
    #expect(others[3] <= Self.healthy + spare, "\(others)")
  }
}

extension QueuedUpload.State {
  /// Whether it is the same state, whatever the remote id or the moment of the next try.
  fileprivate func isLike(_ other: QueuedUpload.State) -> Bool {
    switch (self, other) {
    case (.done, .done): true
    case (.waiting(let left), .waiting(let right)): left.reason == right.reason
    default: self == other
    }
  }
}
