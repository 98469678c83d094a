public import WaybillLedger
public import WaybillModel

/// Uploads what the ledger says is to be uploaded, until the server has committed it.
///
/// One loop: fold, plan, announce, perform, observe, decide, append. A step is performed only
/// after the events that announce it are in the log; what comes back is an observation, which may
/// be late, doubled or wrong. Killed at any moment, the next engine on the same ledger goes on.
public actor UploadEngine {
  /// How an engine works.
  public struct Options: Sendable {
    /// How much goes on at once.
    public var limits = Planner.Limits()
    /// Where uploads go that were saved without a destination; nil leaves them saved locally.
    public var destination: Destination?
    /// How long a server may stay out of reach before `drain` gives up, in milliseconds.
    public var patienceMilliseconds: Int64 = 20_000

    /// Four transfers and four calls, no destination, twenty seconds of patience.
    public init() {}
  }

  /// How a run of the engine ended.
  public enum Ending: Equatable, Sendable {
    /// Nothing is left that can go on by itself.
    case finished
    /// It was asked to stop.
    case stopped
    /// The server stayed out of reach.
    case offline
    /// The server does not accept the credential.
    case credentialsRejected
    /// The ledger is sealed.
    case sealed
  }

  /// How long a run goes on.
  public enum Mode: Equatable, Sendable {
    /// Until nothing is left that can go on by itself, or nothing can be sent.
    case drain
    /// Until it is asked to stop.
    case follow
  }

  /// The ledger the engine works on.
  public nonisolated let ledger: Ledger
  let transport: any Transport
  let credentials: CredentialProvider
  let staging: Staging
  let options: Options
  let clock: @Sendable () -> Timestamp
  var random = SystemRandomNumberGenerator()

  /// What goes on for uploads beyond what the log says.
  var activities: [UploadID: Planner.Activity] = [:]
  /// Parts that are being made ready or are on their way.
  var transfers = 0
  /// Small calls on their way.
  var calls = 0
  /// The transfers this engine started and has not seen the end of.
  var live: Set<TransferDescription> = []
  /// What the ledger last recorded of the conditions.
  var conditions = Conditions()
  /// Calls or parts in a row that did not reach the server.
  var offlineSetbacks = 0
  /// The earliest moment of the next try while the server is out of reach.
  var offlineUntil: Timestamp?
  private var offlineSince: Timestamp?
  /// Copies whose inode changed after they were recorded and that were hashed again since.
  var trustedCopies: [UploadID: Timestamp] = [:]
  /// Counts the credentials the server has refused, so that many refusals lead to one new one.
  var credentialRound = 0
  /// Credentials refused one after the other.
  var refusals = 0
  private var failure: LedgerError?
  private var isStopping = false
  private var endsWhenIdle = false
  private let signal = Signal()

  /// Makes an engine.
  ///
  /// - Parameters:
  ///   - ledger: the ledger of the account, opened by this process.
  ///   - transport: moves the bytes; used by this engine alone.
  ///   - credentials: asked at send time.
  ///   - options: how it works.
  ///   - clock: the current time.
  public init(
    ledger: Ledger, transport: any Transport, credentials: CredentialProvider,
    options: Options = Options(), clock: @escaping @Sendable () -> Timestamp = { SystemClock.now }
  ) {
    self.ledger = ledger
    self.transport = transport
    self.credentials = credentials
    self.options = options
    self.clock = clock
    staging = Staging(directory: ledger.stagingDirectory)
  }

  // MARK: Running

  /// Reconciles the ledger with the transport, then works until the mode says that it is over.
  ///
  /// - Returns: why it ended. Everything that was decided is in the log by then.
  /// - Throws: `LedgerError` when the ledger cannot be read or written; what was on its way is
  ///   stopped first.
  public func run(_ mode: Mode) async throws(LedgerError) -> Ending {
    isStopping = false
    defer { endsWhenIdle = false }
    let events = Task {
      for await event in transport.events { await self.receive(event) }
    }
    defer { events.cancel() }
    do throws(LedgerError) {
      try await launch()
      while true {
        if let failure { throw failure }
        try await ledger.takeInbox()
        let wake = try await startSteps()
        if isStopping, calls == 0, transfers == 0 { return .stopped }
        if mode == .drain || endsWhenIdle, let ending = try await ending() { return ending }
        await signal.wait(until: wake, now: clock())
      }
    } catch {
      await stopTransfers()
      throw error
    }
  }

  /// Asks a run to end: nothing new is started, parts on their way are stopped and recorded as
  /// such, and `run` returns `.stopped`.
  public func stop() async {
    isStopping = true
    await stopTransfers()
    signal.raise()
  }

  /// Lets the run that follows, or the next one, end as one that drains does: when nothing is
  /// left to do.
  public func endWhenIdle() {
    endsWhenIdle = true
    signal.raise()
  }

  /// Tells the engine that uploads or conditions have changed without it.
  public func lookAgain() {
    offlineUntil = nil
    signal.raise()
  }

  /// Tells the engine that there is a new credential.
  public func credentialsChanged() async throws(LedgerError) {
    try await note(credentials: .unknown)
    signal.raise()
  }

  func raiseSignal() { signal.raise() }

  /// Keeps the first failure of the ledger for the run to throw.
  func fail(_ error: LedgerError) {
    failure = failure ?? error
    signal.raise()
  }

  private func stopTransfers() async {
    for transfer in live { await transport.cancel(transfer) }
  }

  private func ending() async throws(LedgerError) -> Ending? {
    guard calls == 0, transfers == 0 else { return nil }
    if try await ledger.reader.workLeft(now: clock()).count == 0 { return .finished }
    if try await ledger.state().isSealed { return .sealed }
    if conditions.credentials == .rejected { return .credentialsRejected }
    if let offlineSince,
      clock().milliseconds(since: offlineSince) >= options.patienceMilliseconds
    {
      return .offline
    }
    return nil
  }

  // MARK: Planning

  /// How many uploads are looked at in one round, besides those that wait.
  private static let window = 64
  /// How long a run looks at nothing while nothing happens, in milliseconds; the inbox has no
  /// other bell.
  private static let idleMilliseconds: Int64 = 500

  /// Starts what can be started, and says when to look again.
  private func startSteps() async throws(LedgerError) -> Timestamp {
    let now = clock()
    var wake = now.adding(milliseconds: UploadEngine.idleMilliseconds)
    guard !isStopping else { return wake }
    let state = try await ledger.state()
    conditions = state.conditions
    let isHeld = state.isSealed || conditions.credentials == .rejected
    let waiting = activities.values.reduce(0) { $0 + (($1.notBefore ?? now) > now ? 1 : 0) }
    let uploads = try await ledger.work(now: now, limit: UploadEngine.window + waiting)
    var limits = conditions.network == .offline ? .probe : options.limits
    if let offlineUntil, offlineUntil > now {
      limits = Planner.Limits(transfers: 0, calls: 0)
      wake = min(wake, offlineUntil)
    }
    let schedule = Planner.schedule(
      uploads.map { ($0, activities[$0.id] ?? Planner.Activity()) }, transfers: transfers,
      calls: calls, limits: limits, launch: ledger.launch, now: now)
    for (upload, step) in schedule.steps where !isHeld || step.isLocal { start(step, of: upload) }
    if let planned = schedule.wake { wake = min(wake, planned) }
    return wake
  }

  private func start(_ step: Step, of upload: UploadID) {
    switch step {
    case .send(let part):
      transfers += 1
      activities[upload, default: Planner.Activity()].preparing.insert(part)
    default:
      calls += 1
      activities[upload, default: Planner.Activity()].isBusy = true
    }
    Task {
      do throws(LedgerError) {
        try await self.perform(step, of: upload)
      } catch {
        self.fail(error)
      }
      self.finish(step, of: upload)
    }
  }

  private func finish(_ step: Step, of upload: UploadID) {
    switch step {
    case .send(let part): activities[upload]?.preparing.remove(part)
    default:
      calls -= 1
      activities[upload]?.isBusy = false
    }
    signal.raise()
  }

  // MARK: Conditions

  /// Records what a verdict says of the conditions, when that has changed.
  func note(_ verdict: Verdict) async throws(LedgerError) {
    switch verdict {
    case .wait(.stopped, _, _), .wait(.sourceUnreadable, _, _): return
    case .wait(.offline, _, _): try await note(isReached: false)
    case .credentialsRejected: try await note(isReached: true)
    default:
      try await note(isReached: true)
      refusals = 0
      if conditions.credentials != .rejected { try await note(credentials: .accepted) }
    }
  }

  private func note(isReached: Bool) async throws(LedgerError) {
    if isReached {
      offlineSetbacks = 0
      offlineUntil = nil
      offlineSince = nil
    } else {
      let now = clock()
      offlineSince = offlineSince ?? now
      offlineUntil = RetryPolicy.notBefore(
        setbacks: offlineSetbacks, asked: nil, now: now, random: random.next())
      offlineSetbacks += 1
    }
    var changed = conditions
    changed.network = isReached ? .online : .offline
    try await note(changed)
  }

  /// Records whether the server accepts the credential, when that has changed.
  func note(credentials: Conditions.Credentials) async throws(LedgerError) {
    var changed = conditions
    changed.credentials = credentials
    try await note(changed)
  }

  private func note(_ changed: Conditions) async throws(LedgerError) {
    guard changed != conditions else { return }
    conditions = changed
    try await ledger.append(.conditionsChanged(changed), cause: .transport)
  }
}

extension Step {
  /// Whether the step needs neither network nor credential.
  var isLocal: Bool { self == .releaseCopy || self == .finishSaving }
}
