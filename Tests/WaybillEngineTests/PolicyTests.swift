import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillSystem

/// A person's rules while the engine works: nothing goes against them, and nothing is lost by them.
@Suite(.timeLimit(.minutes(4)))
struct PolicyTests {
  private static let wifi = DeviceConditions(link: .wifi, isMetered: false, power: .external)
  private static let hotspot = DeviceConditions(link: .wifi, isMetered: true, power: .external)
  private static let mobile = DeviceConditions(link: .cellular, power: .external)

  private static var wifiOnly: SendingPolicy {
    var policy = SendingPolicy()
    policy.avoidsMetered = true
    policy.avoidsCellular = true
    return policy
  }

  private func requests(_ server: WaybillServer) -> Int {
    server.counts.requests.values.reduce(0, +)
  }

  /// Bytes of confirmed parts and those that the network was given of the parts in flight.
  private func bytesSent(_ ledger: Ledger) async throws -> Int64 {
    try await ledger.reader.queue().rows.map(\.bytesSent).reduce(0, +)
  }

  // F06.
  @Test func `a network that becomes metered stops the part, and Wi-Fi lets it go on`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#3:delay=60000,part#3:503")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let conditions = ReportedConditions(Self.wifi)
    let engine = fixture.engine(
      ledger, transfers: 1, policy: Self.wifiOnly, conditions: conditions.provider)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 5 * 65_536)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.follow) }
    try await eventually { try await self.bytesSent(ledger) == 3 * 65_536 }
    conditions.newest = Self.hotspot
    try await ledger.wait(for: id) { $0.flights.isEmpty }
    try await eventually { try await ledger.state().waiting == Waiting(.wifi) }
    let stopped = try await ledger.upload(id)
    #expect(stopped.confirmedBytes == 2 * 65_536)
    #expect(stopped.parts.allSatisfy { $0.failures == 0 })
    let failures = try await fixture.events(ledger, of: id).compactMap { event -> FailureKind? in
      guard case .upload(.partFailed(let fact)) = event.body else { return nil }
      return fact.failure
    }
    #expect(failures == [.stopped])
    #expect(try await ledger.reader.queue().rows.map(\.state) == [.waiting(Waiting(.wifi))])
    let seen = requests(server)
    // Longer than the loop looks at nothing: it has decided more than once to send nothing.
    try await Task.sleep(for: .milliseconds(1200))
    #expect(requests(server) == seen)

    conditions.newest = Self.wifi
    try await ledger.wait(for: .committed, of: id)
    #expect(try await ledger.state().waiting == nil)
    await engine.stop()
    #expect(try await within { try await run.value } == .stopped)
    #expect(server.counts.partBodyBytes <= 6 * 65_536)
    #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
    let sent = try await fixture.kinds(ledger, of: id).count { $0 == "part.sent" }
    #expect(sent == 6)
    #expect(try await ledger.reader.verify().isSound)
    await ledger.close()
  }

  @Test func `under a rule that forbids it nothing leaves, however urgent it is`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(
      ledger, patience: 700, policy: Self.wifiOnly, conditions: .fixed(Self.mobile))
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 100_000)], to: try Destination(server.baseURL),
      priority: .urgent)
    let id = try #require(summary.queued.first?.upload)
    #expect(try await within { try await engine.run(.drain) } == .held(Waiting(.wifi)))
    #expect(server.counts.requests.isEmpty)
    #expect(try await ledger.reader.queue().rows.map(\.state) == [.waiting(Waiting(.wifi))])
    #expect(!(try await fixture.kinds(ledger, of: id).contains("session.opened")))
    let state = try await ledger.state()
    #expect(state.conditions.device == Self.mobile)
    await engine.setPolicy(SendingPolicy())
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.upload(id).stateWord == .committed)
    #expect(try await ledger.state().waiting == nil)
    await ledger.close()
  }

  @Test func `rules that change while the engine works hold at once`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#2:delay=60000,part#2:503")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let battery = DeviceConditions(link: .wifi, power: .battery)
    let engine = fixture.engine(ledger, transfers: 1, conditions: .fixed(battery))
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 4 * 65_536)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.follow) }
    try await eventually { try await self.bytesSent(ledger) == 2 * 65_536 }
    var policy = SendingPolicy()
    policy.needsCharger = true
    await engine.setPolicy(policy)
    try await eventually { try await ledger.state().waiting == Waiting(.charger) }
    try await ledger.wait(for: id) { $0.flights.isEmpty }
    await engine.setPolicy(SendingPolicy())
    try await ledger.wait(for: .committed, of: id)
    await engine.stop()
    _ = try await within { try await run.value }
    await ledger.close()
  }

  /// Minutes by which a clock on the wall is ahead of UTC, so that it shows some hour now.
  private static func offset(showing hour: Int) -> Int {
    hour * 60 - Int(SystemClock.now.seconds / 60 % 1440)
  }

  @Test func `a window that closes in the middle of an upload stops it until it opens again`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part#2:delay=60000,part#2:503")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    var policy = SendingPolicy()
    policy.windows = [try #require(DailyWindow("22:00-06:00"))]
    let offset = Locked(Self.offset(showing: 23))
    let engine = fixture.engine(
      ledger, transfers: 1, policy: policy,
      conditions: ConditionsProvider(utcOffsetMinutes: { _ in offset.withLock { $0 } }) {
        AsyncStream { _ in }
      })
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 4 * 65_536)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.follow) }
    try await eventually { try await self.bytesSent(ledger) == 2 * 65_536 }
    offset.withLock { $0 = Self.offset(showing: 12) }
    try await ledger.wait(for: id) { $0.flights.isEmpty }
    try await eventually { try await ledger.state().waiting?.reason == .window }
    let until = try #require(try await ledger.state().waiting?.until)
    let hours = until.milliseconds(since: SystemClock.now) / 3_600_000
    #expect((9...10).contains(hours))
    offset.withLock { $0 = Self.offset(showing: 4) }
    try await ledger.wait(for: .committed, of: id)
    #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
    await engine.stop()
    _ = try await within { try await run.value }
    await ledger.close()
  }

  @Test func `a run that drains ends at once when the window opens beyond its patience`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    var policy = SendingPolicy()
    policy.windows = [try #require(DailyWindow("22:00-06:00"))]
    let engine = fixture.engine(
      ledger, patience: 3_600_000, policy: policy,
      conditions: ConditionsProvider(utcOffsetMinutes: { _ in Self.offset(showing: 12) }) {
        AsyncStream { _ in }
      })
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination(server.baseURL))
    let ending = try await within { try await engine.run(.drain) }
    guard case .held(let waiting)? = ending else {
      Issue.record("it ended with \(String(describing: ending))")
      return
    }
    #expect(waiting.reason == .window)
    #expect(server.counts.requests.isEmpty)
    await ledger.close()
  }

  @Test func `the next launch says what is waited for before the device has spoken`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let first = try await fixture.openLedger()
    let engine = fixture.engine(
      first, patience: 10, policy: Self.wifiOnly, conditions: .fixed(Self.mobile))
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .held(Waiting(.wifi)))
    await first.close()

    let second = try await fixture.openLedger()
    #expect(try await second.reader.queue().rows.map(\.state) == [.waiting(Waiting(.wifi))])
    let (silence, device) = AsyncStream.makeStream(of: DeviceConditions.self)
    let next = fixture.engine(
      second, policy: Self.wifiOnly, conditions: ConditionsProvider { silence })
    let run = Task { try await next.run(.follow) }
    try await eventually { try await fixture.count(.ledgerReconciled, in: second) == 2 }
    try await Task.sleep(for: .milliseconds(700))
    #expect(try await second.state().waiting == Waiting(.wifi))
    #expect(server.counts.requests.isEmpty)
    device.yield(Self.wifi)
    try await eventually { server.photoCount == 1 }
    await next.stop()
    _ = try await within { try await run.value }
    #expect(try await fixture.count(.conditionsChanged, in: second) <= 4)
    await second.close()
  }

  @Test func `a device that never speaks is taken to know nothing`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(
      ledger, haste: 100, policy: Self.wifiOnly,
      conditions: ConditionsProvider { AsyncStream { _ in } })
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination(server.baseURL))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  @Test func `a network that comes and goes writes few events and sends few parts twice`()
    async throws
  {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part:delay=300")
    defer { server.stop(graceMilliseconds: 0) }
    let ledger = try await fixture.openLedger()
    let conditions = ReportedConditions(Self.wifi)
    let engine = fixture.engine(
      ledger, transfers: 1, policy: Self.wifiOnly, conditions: conditions.provider)
    let summary = try await engine.add(
      [try fixture.picture("a.jpg", 40 * 65_536)], to: try Destination(server.baseURL))
    let id = try #require(summary.queued.first?.upload)
    let run = Task { try await engine.run(.follow) }
    try await eventually { server.counts.requests(.part) >= 1 }
    let before = try await fixture.count(.conditionsChanged, in: ledger)
    for flip in 0..<60 {
      conditions.newest = flip.isMultiple(of: 2) ? Self.mobile : Self.wifi
      try await Task.sleep(for: .milliseconds(20))
    }
    conditions.newest = Self.mobile
    try await eventually { try await ledger.state().waiting == Waiting(.wifi) }
    let changes = try await fixture.count(.conditionsChanged, in: ledger) - before
    #expect(changes <= 2 * PolicyHold.maximumChanges + 1)
    #expect(changes >= 3)
    try await ledger.wait(for: id) { $0.flights.isEmpty }
    #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
    await engine.stop()
    _ = try await within { try await run.value }
    await ledger.close()
  }

  @Test func `a rule is said before a server that is out of reach`() async throws {
    let fixture = try EngineFixture()
    let ledger = try await fixture.openLedger()
    let conditions = ReportedConditions(Self.wifi)
    let engine = fixture.engine(
      ledger, patience: 300, policy: Self.wifiOnly, conditions: conditions.provider)
    _ = try await engine.add(
      [try fixture.picture("a.jpg", 10)], to: try Destination("http://127.0.0.1:9"))
    #expect(try await within { try await engine.run(.drain) } == .offline)
    #expect(try await ledger.state().waiting == Waiting(.offline))
    conditions.newest = Self.mobile
    #expect(try await within { try await engine.run(.drain) } == .held(Waiting(.wifi)))
    #expect(try await ledger.state().waiting == Waiting(.wifi))
    #expect(try await ledger.state().conditions.network == .offline)
    try await ledger.append(.sealed(Sealed(copies: .keep)), cause: .command)
    #expect(try await ledger.state().waiting == Waiting(.sealed))
    #expect(try await within { try await engine.run(.drain) } == .sealed)
    await ledger.close()
  }

  #if os(Linux)
    @Test func `a rule stops what an agent sends, as long as an engine runs`() async throws {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(faults: "part#1-2:delay=60000,part#1-2:503")
      defer { server.stop(graceMilliseconds: 0) }
      let rig = try AgentRig()
      let ledger = try await fixture.openLedger()
      let transport = try await rig.connect()
      let conditions = ReportedConditions(Self.wifi)
      let engine = fixture.engine(
        ledger, transport: transport, transfers: 2, policy: Self.wifiOnly,
        conditions: conditions.provider)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", 4 * 65_536)], to: try Destination(server.baseURL))
      let id = try #require(summary.queued.first?.upload)
      let run = Task { try await engine.run(.follow) }
      try await eventually { try await self.bytesSent(ledger) == 2 * 65_536 }
      conditions.newest = Self.hotspot
      try await ledger.wait(for: id) { $0.flights.isEmpty }
      #expect(await transport.liveTransfers() == [])
      #expect(try await ledger.upload(id).parts.allSatisfy { $0.failures == 0 })
      conditions.newest = Self.wifi
      try await ledger.wait(for: .committed, of: id)
      await engine.stop()
      _ = try await within { try await run.value }
      await transport.shutDown()
      await ledger.close()
      await rig.stop()
    }
  #endif
}
