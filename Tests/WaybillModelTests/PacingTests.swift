import Testing
import WaybillModel
import WaybillTesting

@Suite struct PacingTests {
  /// A pacing with a clock of its own.
  private struct World {
    var pacing = Pacing()
    var now = Samples.time

    init(_ conditions: Conditions = Conditions()) { pacing.begin(conditions, at: now) }

    @discardableResult
    mutating func say(
      _ verdict: Verdict, to number: UInt64, _ step: Step = .open, after milliseconds: Int64 = 10
    ) -> Verdict {
      now = now.adding(milliseconds: milliseconds)
      return pacing.take(
        verdict, of: CredentialTrust.Request(step, of: upload(number)),
        round: pacing.credential.round, at: now, random: 0
      ).verdict
    }

    var mayStart: Int { pacing.admission(Planner.Limits(), at: now).limits.calls }
  }

  private static func upload(_ number: UInt64) -> UploadID { UploadID(high: 1, low: number) }

  private static let page = Verdict.wait(.offline, status: 200, askedMilliseconds: nil)
  private static let ours = Verdict.wait(.notOurServer, status: 200, askedMilliseconds: nil)
  private static let unreached = Verdict.wait(.offline, status: nil, askedMilliseconds: nil)
  private static let busy = Verdict.wait(.serverUnavailable, status: 503, askedMilliseconds: nil)
  private static let answer = Verdict.statement(.status(.received))

  // MARK: The network

  // N6, C04.
  @Test func `a page for the only upload there is may be the network's, and is charged to nobody`()
  {
    var world = World()
    world.say(Self.answer, to: 1)
    for _ in 0..<20 { #expect(world.say(Self.page, to: 1, after: 1_000_000) == Self.page) }
    #expect(world.pacing.conditions.network == .offline)
    #expect(world.pacing.stall(at: world.now, patience: 1000) == .offline)
  }

  @Test func `a page for one upload while others get through is its own trouble`() {
    var world = World()
    world.say(Self.answer, to: 2)
    #expect(world.say(Self.page, to: 1) == Self.ours)
    #expect(world.pacing.conditions.network == .online)
    #expect(world.mayStart == 4)
  }

  @Test func `pages for many uploads after others got through are the network's`() {
    var world = World()
    world.say(Self.answer, to: 9)
    #expect(world.say(Self.page, to: 1) == Self.ours)
    #expect(world.say(Self.page, to: 2) == Self.ours)
    #expect(world.say(Self.page, to: 3) == Self.page)
    #expect(world.pacing.conditions.network == .offline)
    #expect(world.mayStart == 0)
  }

  @Test func `the first that gets through ends it, and who has it again has it alone`() {
    var world = World()
    for number in UInt64(1)...5 { #expect(world.say(Self.page, to: number) == Self.page) }
    world.say(Self.answer, to: 6)
    #expect(world.pacing.conditions.network == .online)
    #expect(world.mayStart == 4)
    // Not even all five of them make it the network's again.
    for number in UInt64(1)...5 { #expect(world.say(Self.page, to: number) == Self.ours) }
    #expect(world.mayStart == 4)
    // One that gets through by itself is believed again.
    world.say(Self.answer, to: 1)
    world.say(Self.answer, to: 6)
    #expect(world.say(Self.page, to: 1) == Self.ours)
    #expect(world.say(Self.page, to: 7) == Self.ours)
    #expect(world.say(Self.page, to: 8) == Self.page)
  }

  @Test func `connections that fail are the network's at once`() {
    var world = World()
    world.say(Self.answer, to: 2)
    #expect(world.say(Self.unreached, to: 1) == Self.unreached)
    #expect(world.pacing.conditions.network == .offline)
    #expect(world.mayStart == 0)
  }

  @Test func `many failures at once are one setback, and the pauses grow`() {
    var world = World()
    var pauses: [Int64] = []
    for _ in 0..<12 {
      for number in UInt64(1)...4 { world.say(Self.unreached, to: number, after: 0) }
      let until = world.pacing.admission(Planner.Limits(), at: world.now).until
      pauses.append(until?.milliseconds(since: world.now) ?? 0)
      world.now = until ?? world.now
      #expect(world.mayStart == 1)
    }
    // Without chance each is the shortest there is; chance decides up to which it may grow.
    #expect(pauses.allSatisfy { $0 == RetryPolicy.floorMilliseconds })
    world.pacing.lookAgain()
    #expect(world.mayStart == 1)
  }

  // MARK: Whose turn it is

  @Test func `while all are in trouble one is tried at a time, another one each time`() {
    var world = World()
    let uploads = (UInt64(1)...6).map { Upload(id: Self.upload($0)) }
    #expect(world.pacing.order(uploads).map(\.id) == uploads.map(\.id))
    world.say(Self.page, to: 1)
    var tried: [UploadID] = [Self.upload(1)]
    let begun = world.now
    while tried.count < 6 {
      world.now = world.pacing.admission(Planner.Limits(), at: world.now).until ?? world.now
      #expect(world.mayStart == 1)
      let next = world.pacing.order(uploads)[0].id
      tried.append(next)
      world.say(Self.page, to: next.low, after: 0)
    }
    #expect(tried == uploads.map(\.id))
    #expect(world.now.milliseconds(since: begun) == 5 * Pacing.probeMilliseconds)
  }

  @Test func `a run that begins offline tries one upload at once`() {
    let world = World(Conditions(network: .offline, credentials: .rejected))
    #expect(world.mayStart == 1)
    #expect(world.pacing.conditions == Conditions(network: .offline))
    #expect(!world.pacing.isHeld)
  }

  // MARK: The server

  @Test func `a busy server for one upload holds up nobody else`() {
    var world = World()
    for _ in 0..<20 { #expect(world.say(Self.busy, to: 1) == Self.busy) }
    #expect(world.mayStart == 4)
    #expect(world.pacing.conditions.network == .online)
  }

  @Test func `a busy server for everybody is tried with one upload at a time`() {
    var world = World()
    world.say(Self.answer, to: 9)
    for number in UInt64(1)...3 { world.say(Self.busy, to: number) }
    #expect(world.mayStart == 0)
    #expect(world.pacing.conditions.network == .online)
    world.say(Self.answer, to: 9)
    #expect(world.mayStart == 4)
  }

  @Test(
    arguments: [
      .blocked(.refused, status: 404), .conflict(currentVersion: 1), .partsMissing,
      .inProgress(status: 202, askedMilliseconds: nil),
      .wait(.quota, status: 507, askedMilliseconds: nil),
      .wait(.protocolViolation, status: 200, askedMilliseconds: nil),
      .wait(.sessionUnknown, status: 404, askedMilliseconds: nil),
    ] as [Verdict])
  func `every answer in the server's own words ends what everybody has`(verdict: Verdict) {
    var world = World()
    for number in UInt64(1)...3 { world.say(Self.page, to: number) }
    #expect(world.say(verdict, to: 4) == verdict)
    #expect(world.mayStart == 4)
    #expect(world.pacing.conditions == Conditions(network: .online, credentials: .accepted))
  }

  @Test(
    arguments: [
      .wait(.stopped, status: nil, askedMilliseconds: nil),
      .wait(.sourceUnreadable, status: nil, askedMilliseconds: nil),
      .blocked(.refused, status: nil),
    ] as [Verdict])
  func `what never left this device says nothing of the server`(verdict: Verdict) {
    var world = World()
    world.say(Self.unreached, to: 1)
    let before = world.pacing
    world.say(verdict, to: 2)
    #expect(world.pacing == before)
  }

  // MARK: The credential

  @Test func `a refusal while others are accepted is handed to a person, and they go on`() {
    var world = World()
    let refused = Verdict.credentialsRejected(status: 401)
    #expect(world.say(refused, to: 1) == refused)
    #expect(world.pacing.isHeld)
    world.pacing.renewCredential()
    #expect(!world.pacing.isHeld)
    world.say(Self.answer, to: 2)
    #expect(world.say(refused, to: 1) == .blocked(.accessRevoked, status: 401))
    #expect(world.mayStart == 4)
    #expect(world.pacing.conditions.credentials == .accepted)
  }

  @Test func `a credential in doubt is tried with one upload at a time`() {
    var world = World()
    let refused = Verdict.credentialsRejected(status: 401)
    world.say(refused, to: 1)
    world.pacing.renewCredential()
    world.say(refused, to: 1)
    #expect(world.mayStart == 0)
    #expect(world.pacing.conditions == Conditions(network: .online))
    let later = world.now.adding(milliseconds: 30_000)
    #expect(world.pacing.stall(at: later, patience: 20_000) == .credentialsRejected)
    world.pacing.settle(workLeft: 1)
    #expect(world.pacing.isHeld)
    #expect(world.pacing.conditions.credentials == .rejected)
    world.pacing.changeCredential()
    #expect(!world.pacing.isHeld && world.mayStart == 4)
  }

  // MARK: Patience

  @Test func `patience begins anew with each upload that comes further`() {
    var world = World()
    let begun = world.now
    func stall(_ milliseconds: Int64) -> Pacing.Stall? {
      world.pacing.stall(at: begun.adding(milliseconds: milliseconds), patience: 1000)
    }
    #expect(stall(999) == nil)
    #expect(stall(1000) == .serverUnavailable)
    // A failure after a long transfer does not end the run at once.
    world.say(Self.busy, to: 1, after: 5000)
    #expect(stall(5999) == nil)
    world.say(Self.busy, to: 1, after: 500)
    #expect(stall(6000) == .serverUnavailable)
    world.pacing.moveOn(at: begun.adding(milliseconds: 7000))
    #expect(stall(7999) == nil)
    #expect(stall(8000) == .serverUnavailable)
  }

  // B19, E03.
  @Test func `a commit under way is waited for longer, but not for ever`() {
    var world = World()
    let begun = world.now
    world.say(.inProgress(status: 202, askedMilliseconds: nil), to: 1, .commit)
    let bound = Pacing.commitPatienceMilliseconds
    let early = begun.adding(milliseconds: bound - 1)
    #expect(world.pacing.stall(at: early, patience: 1000) == nil)
    let late = begun.adding(milliseconds: bound)
    #expect(world.pacing.stall(at: late, patience: 1000) == .serverUnavailable)
  }
}
