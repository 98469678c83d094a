internal import WaybillLedger
public import WaybillModel

/// Whether anything may be sent: the person's rules, held against what the device says.
///
/// Checked before each step, before each request, and each time the device says something new: what
/// is on its way then is stopped, also by an agent, and costs no attempt. Small calls that are on
/// their way come to their end. A rule holds while an engine runs; a transfer that outlives the
/// process goes on by itself when the engine has ended.
struct Policing {
  /// How long nothing is sent because the device has not said anything yet, in milliseconds. A
  /// device that stays silent longer is taken to know nothing.
  static let maximumSilenceMilliseconds: Int64 = 5_000

  var policy: SendingPolicy
  let provider: ConditionsProvider?
  /// What is held up, steadied.
  fileprivate(set) var hold = PolicyHold()
  /// What the device said last; nil before it has said anything in this run.
  fileprivate(set) var device: DeviceConditions?
  fileprivate var listensSince = Timestamp(microseconds: 0)
  fileprivate(set) var listener: Task<Void, Never>?

  init(_ options: UploadEngine.Options) {
    policy = options.policy
    provider = options.conditions
  }

  /// Whether the device is still to say what the rules depend on.
  fileprivate func isUnheard(at now: Timestamp) -> Bool {
    provider != nil && device == nil && policy.looksAtDevice
      && now.milliseconds(since: listensSince) < Policing.maximumSilenceMilliseconds
  }

  fileprivate func offset(at wall: Timestamp) -> Int {
    // Only a time of day asks for it.
    policy.windows.isEmpty
      ? 0 : (provider?.utcOffsetMinutes ?? ConditionsProvider.localOffset)(wall)
  }

  /// What the rules say now.
  fileprivate func wanted(at wall: Timestamp) -> Waiting? {
    policy.hold(
      under: device ?? DeviceConditions(), at: wall, utcOffsetMinutes: offset(at: wall))
  }
}

extension UploadEngine {
  /// Sets the rules about when anything may be sent. While a run goes on they hold at once: what is
  /// on its way and forbidden now is stopped, what was held up and is allowed now goes on.
  public func setPolicy(_ policy: SendingPolicy) {
    policing.policy = policy
    raiseSignal()
  }

  /// Begins to listen to the device, from what the ledger says that an earlier run held up: that
  /// stays so until the device has spoken.
  func beginPolicing() {
    // Whether the disk is full is found out by writing.
    let held = recordedConditions.held.flatMap { $0.reason == .disk ? nil : $0 }
    policing.hold = PolicyHold(held, since: clock.now)
    policing.device = nil
    policing.listensSince = clock.now
    policing.listener?.cancel()
    guard let provider = policing.provider else { return }
    let changes = provider.changes()
    policing.listener = Task { [weak self] in
      for await device in changes {
        guard let self, !Task.isCancelled else { return }
        await self.take(device)
      }
    }
  }

  /// Listens to the device no longer.
  func endPolicing() {
    policing.listener?.cancel()
    policing.listener = nil
  }

  private func take(_ device: DeviceConditions) {
    // Another network may be one on which the server can be reached.
    if let known = policing.device, known.link != device.link { pacing.lookAgain() }
    policing.device = device
    raiseSignal()
  }

  /// Whether nothing may be sent at this moment.
  var isForbidden: Bool {
    policing.hold.current != nil || policing.isUnheard(at: clock.now)
      || policing.wanted(at: clock.wall()) != nil
  }

  /// Looks at the rules and the device, stops what is forbidden, and records what is held up where
  /// that has changed.
  ///
  /// - Returns: when to look again, where the time of day or the pace of changes asks for it.
  func reviewPolicy() async throws(LedgerError) -> Timestamp? {
    let now = clock.now
    let wall = clock.wall()
    guard !policing.isUnheard(at: now) else {
      return policing.listensSince.adding(milliseconds: Policing.maximumSilenceMilliseconds)
    }
    let before = policing.hold.current
    var wake = policing.hold.take(policing.wanted(at: wall), at: now)
    if policing.hold.current != nil {
      await stopTransfers()
    } else if before != nil {
      // Nobody could move on while it was held up: that is not held against the server.
      pacing.moveOn(at: clock.now)
      pacing.lookAgain()
    }
    try await recordConditions()
    if let change = policing.policy.nextChange(
      after: wall, utcOffsetMinutes: policing.offset(at: wall))
    {
      let change = now.adding(milliseconds: change.milliseconds(since: wall) + 1)
      wake = min(wake ?? change, change)
    }
    return wake
  }

  /// What a run that drains gives up for: a hold that has lasted as long as the run has patience,
  /// or that is known to last longer.
  var heldOut: Waiting? {
    guard let held = policing.hold.current, let since = policing.hold.since else { return nil }
    let left = options.patienceMilliseconds - clock.now.milliseconds(since: since)
    if left <= 0 { return held }
    return (held.until?.milliseconds(since: clock.wall())).map { $0 > left } == true ? held : nil
  }
}
