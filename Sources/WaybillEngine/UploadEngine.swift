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
    /// How long nothing may move on before `drain` gives up, in milliseconds. While the server says
    /// that it has a commit under way, at least `Pacing.commitPatienceMilliseconds`.
    public var patienceMilliseconds: Int64 = 20_000
    /// When anything may be sent; see `setPolicy`.
    public var policy = SendingPolicy()
    /// What tells of the network and the power of the device; nil where nothing does.
    public var conditions: ConditionsProvider?

    /// Four transfers and four calls, no destination, twenty seconds of patience, no rules.
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
    /// The server answers, but moved nothing on: it is busy, full or failing.
    case serverUnavailable
    /// The server does not accept the credential.
    case credentialsRejected
    /// The ledger is sealed.
    case sealed
    /// A rule of the person forbids sending, and will for longer than the run has patience.
    case held(Waiting)
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
  var clock: EngineClock
  var random = SystemRandomNumberGenerator()

  /// What goes on for uploads beyond what the log says.
  var activities: [UploadID: Planner.Activity] = [:]
  /// Parts that are being made ready or are on their way.
  var transfers = 0
  /// Small calls on their way.
  var calls = 0
  /// Bytes of the part files there are, where the transport sends whole files only.
  var partFiles: [PartKey: Int64] = [:]
  /// The transfers this engine started and has not seen the end of, each with the round of the
  /// credential it was sent with.
  var live: [TransferDescription: Int] = [:]
  /// Copies that are being made and have no row yet.
  var taking: Set<UploadID> = []
  /// What the replies to all uploads say together.
  var pacing = Pacing()
  /// What the ledger last recorded of the conditions.
  var recordedConditions = Conditions()
  /// The person's rules, and what they hold up.
  var policing: Policing
  /// Copies whose inode changed after they were recorded and that were hashed again since.
  var trustedCopies: [UploadID: Timestamp] = [:]
  /// Whether the disk of the ledger has no room.
  private(set) var isDiskFull = false
  private var failure: LedgerError?
  private(set) var isStopping = false
  /// Whether what is about to be handed to the transport is to be ended at once, wherever it runs.
  private(set) var isEndingTransfers = false
  private var waitingForRest: [CheckedContinuation<Void, Never>] = []
  private var isRunning = false
  /// Whether a run that follows ends once nothing is left to do.
  private var endsWhenIdle = false
  /// Counts the runs, so that what was meant for one does not end the next.
  private var runs = 0
  /// Steps under way, by number, so that a stop can end them.
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var startedTasks = 0
  /// Hears what the transport says for as long as the engine lives: its events have one consumer
  /// and end for good with it.
  private(set) var listener: Task<Void, Never>?
  /// Whether the transport was shut down under the engine: it says nothing any more, not even of
  /// what it is given.
  private(set) var isTransportGone = false
  private let signal = Signal()

  /// Makes an engine.
  ///
  /// - Parameters:
  ///   - ledger: the ledger of the account, opened by this process.
  ///   - transport: moves the bytes; used by this engine alone.
  ///   - credentials: asked at send time.
  ///   - options: how it works.
  ///   - clock: the time it goes by.
  public init(
    ledger: Ledger, transport: any Transport, credentials: CredentialProvider,
    options: Options = Options(), clock: EngineClock = EngineClock()
  ) {
    self.ledger = ledger
    self.transport = transport
    self.credentials = credentials
    self.options = options
    self.clock = clock
    staging = Staging(directory: ledger.stagingDirectory)
    policing = Policing(options)
  }

  // MARK: Running

  /// Reconciles the ledger with the transport, then works until the mode says that it is over. An
  /// engine can run again and again, but has one run at a time. Cancelling the caller stops it.
  ///
  /// - Returns: why it ended. Everything that was decided is in the log by then.
  /// - Throws: `LedgerError` when the ledger cannot be read or written; what was on its way is
  ///   stopped first.
  public func run(_ mode: Mode) async throws(LedgerError) -> Ending {
    precondition(!isRunning, "an engine has one run at a time: await the end of the first one")
    isRunning = true
    defer {
      isRunning = false
      endsWhenIdle = false
      endPolicing()
    }
    isStopping = false
    isDiskFull = false
    failure = nil
    clock.restart()
    runs += 1
    let run = runs
    let ended = await withTaskCancellationHandler {
      await result(of: mode)
    } onCancel: {
      Task { await self.stop(run: run) }
    }
    return try ended.get()
  }

  private func result(of mode: Mode) async -> Result<Ending, LedgerError> {
    do throws(LedgerError) {
      return .success(try await work(mode))
    } catch {
      await comeToRest()
      return .failure(error)
    }
  }

  private func comeToRest() async {
    await stopEverything()
    while !isAtRest { await signal.wait(milliseconds: UploadEngine.idleMilliseconds) }
  }

  private func work(_ mode: Mode) async throws(LedgerError) -> Ending {
    while true {
      do throws(LedgerError) {
        return try await workWithRoom(mode)
      } catch {
        guard error.code == .diskFull, error.outcome == .notWritten else { throw error }
      }
      await comeToRest()
      failure = nil
      if let ending = try await waitForRoom(mode) { return ending }
    }
  }

  /// Waits until the disk of the ledger has room again. What a person gives up meanwhile is still
  /// recorded; the launch that follows finds out what became of the parts that were on their way.
  ///
  /// - Returns: how the run ends, where it does not wait any longer.
  private func waitForRoom(_ mode: Mode) async throws(LedgerError) -> Ending? {
    isDiskFull = true
    // Shown as long as the room that was kept back for it lasts.
    try? await recordConditions()
    let since = clock.now
    while try await !ledger.hasRoom() {
      if isStopping { return .stopped }
      let hasWaited = clock.now.milliseconds(since: since) >= options.patienceMilliseconds
      if mode == .drain || endsWhenIdle, hasWaited { return .held(Waiting(.disk)) }
      try await makeRoom()
      await signal.wait(milliseconds: UploadEngine.idleMilliseconds)
    }
    isDiskFull = false
    return nil
  }

  private func workWithRoom(_ mode: Mode) async throws(LedgerError) -> Ending {
    try await launch()
    try await SignOut(ledger: ledger).discardSealed()
    while true {
      if let failure { throw failure }
      try await ledger.takeInbox()
      // Before anything is tried again: at rest is when everybody's doubt can be told.
      try await settleDoubt()
      let wake = try await startSteps()
      if isStopping, isAtRest { return .stopped }
      if mode == .drain || endsWhenIdle, let ending = try await ending() { return ending }
      await signal.wait(milliseconds: clock.milliseconds(until: wake))
    }
  }

  func listen() {
    guard listener == nil else { return }
    let events = transport.events
    listener = Task { [weak self] in
      for await event in events {
        guard let self else { return }
        await self.receive(event)
      }
      await self?.loseTransport()
    }
  }

  private func loseTransport() {
    isTransportGone = true
    for transfer in live.keys { release(transfer) }
  }

  deinit {
    listener?.cancel()
    policing.listener?.cancel()
  }

  /// Asks a run to end: nothing new is started, what is on its way is stopped and recorded as
  /// such, unless it outlives the process, and `run` returns `.stopped`. While nothing runs it does
  /// nothing: to end a run that may not have begun yet, cancel its task.
  public func stop() async { await stop(run: runs) }

  private func stop(run: Int) async {
    guard isRunning, run == runs else { return }
    isStopping = true
    await stopEverything()
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
    pacing.lookAgain()
    signal.raise()
  }

  /// Tells the engine that there is a new credential.
  public func credentialsChanged() async throws(LedgerError) {
    pacing.changeCredential()
    try await recordConditions()
    signal.raise()
  }

  func raiseSignal() {
    tellRest()
    signal.raise()
  }

  /// Keeps the first failure of the ledger for the run to throw.
  func fail(_ error: LedgerError) {
    failure = failure ?? error
    signal.raise()
  }

  private func stopEverything() async {
    for task in tasks.values { task.cancel() }
    if !transport.outlivesProcess { await stopTransfers() }
  }

  /// Whether nothing is on its way that a run has to wait for; a transfer that outlives the process
  /// outlives a run.
  private var isAtRest: Bool {
    calls == 0 && transfers == (transport.outlivesProcess ? live.count : 0)
  }

  func stopTransfers() async {
    for transfer in live.keys { await transport.cancel(transfer) }
  }

  /// Ends everything that is on its way, also what outlives the process, and waits for its end. A
  /// request that is cancelled ends at once; a credential that is being asked for, or a copy that
  /// is being hashed, is waited for.
  func endTransfers() async {
    isEndingTransfers = true
    defer { isEndingTransfers = false }
    for task in tasks.values { task.cancel() }
    for transfer in await transport.liveTransfers() { await transport.cancel(transfer) }
    guard calls > 0 || transfers > 0 else { return }
    await withCheckedContinuation { waitingForRest.append($0) }
  }

  /// Lets go whoever waits for everything on its way to end.
  private func tellRest() {
    guard calls == 0, transfers == 0 else { return }
    for waiter in waitingForRest { waiter.resume() }
    waitingForRest = []
  }

  private func ending() async throws(LedgerError) -> Ending? {
    guard calls == 0, transfers == 0, !pacing.credential.isRenewing else { return nil }
    let workLeft = try await ledger.reader.workLeft()
    if try await workLeft <= leftAlone(atLeast: workLeft) { return .finished }
    if try await ledger.state().isSealed { return .sealed }
    if pacing.credential.isRejected { return .credentialsRejected }
    if let held = heldOut { return .held(held) }
    if isForbidden { return nil }
    switch pacing.stall(at: clock.now, patience: options.patienceMilliseconds) {
    case .offline: return .offline
    case .serverUnavailable: return .serverUnavailable
    case .credentialsRejected:
      pacing.rejectCredential()
      try await recordConditions()
      return .credentialsRejected
    case nil: return nil
    }
  }

  /// Where every upload that is left is refused, the credential is what they have in common.
  private func settleDoubt() async throws(LedgerError) {
    guard pacing.credential.isDoubted, calls == 0, transfers == 0 else { return }
    let workLeft = try await ledger.reader.workLeft()
    pacing.settle(workLeft: workLeft - (try await leftAlone(atLeast: 1)))
    try await recordConditions()
  }

  /// How many uploads of the work list nothing can be done for in this launch; counted only if
  /// there can be so many.
  private func leftAlone(atLeast count: Int64) async throws(LedgerError) -> Int64 {
    let candidates = activities.filter { $0.value.leftAt != nil }
    guard Int64(candidates.count) >= count else { return 0 }
    var left: Int64 = 0
    for (id, activity) in candidates where try await ledger.upload(id).revision == activity.leftAt {
      left += 1
    }
    return left
  }

  // MARK: Planning

  /// How many uploads are looked at in one round, besides those that wait.
  private static let window = 64
  /// How long a run looks at nothing while nothing happens, in milliseconds; the inbox has no
  /// other bell.
  private static let idleMilliseconds: Int64 = 500

  /// Starts what can be started, and says when to look again.
  private func startSteps() async throws(LedgerError) -> Timestamp {
    let now = clock.now
    var wake = now.adding(milliseconds: UploadEngine.idleMilliseconds)
    guard !isStopping else { return wake }
    let state = try await ledger.state()
    if state.isSealed { await stopTransfers() }
    if let review = try await reviewPolicy() { wake = min(wake, review) }
    let isHeld = state.isSealed || pacing.isHeld || isForbidden
    let leftAlone = activities.values.count { $0.leftAt != nil }
    let uploads = pacing.order(
      try await ledger.work(now: now, limit: UploadEngine.window + leftAlone))
    let (limits, pause) = pacing.admission(options.limits, at: now)
    if let pause { wake = min(wake, pause) }
    let schedule = Planner.schedule(
      uploads.map { ($0, activities[$0.id] ?? Planner.Activity()) }, transfers: transfers,
      calls: calls,
      partFileBytes: transport.sendsSlices ? nil : partFiles.values.reduce(0, +),
      limits: limits, launch: ledger.launch, now: now)
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
    let number = startedTasks
    startedTasks += 1
    tasks[number] = Task {
      do throws(LedgerError) {
        try await self.perform(step, of: upload)
      } catch {
        self.fail(error)
      }
      self.tasks[number] = nil
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
    raiseSignal()
  }
}

/// One part of one upload.
struct PartKey: Hashable {
  let upload: UploadID
  let part: PartNumber
}

extension Step {
  /// Whether the step needs neither network nor credential.
  var isLocal: Bool { self == .releaseCopy || self == .finishSaving }
}
