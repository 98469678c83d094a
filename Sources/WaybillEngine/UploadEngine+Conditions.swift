internal import WaybillLedger
internal import WaybillModel

/// What sending depends on beyond any one upload: the way to the server, and the credential.
extension UploadEngine {
  // MARK: Conditions

  /// Records what a verdict says of the conditions, when that has changed.
  func note(_ verdict: Verdict) async throws(LedgerError) {
    switch verdict {
    case .wait(.stopped, _, _), .wait(.sourceUnreadable, _, _): return
    case .wait(let failure, _, _):
      fruitlessSince = fruitlessSince ?? clock.now
      return try await note(isReached: failure != .offline)
    // An account of the session moves something on only if it brings the log news.
    case .statement(.status): break
    default: fruitlessSince = nil
    }
    switch verdict {
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
    } else {
      let now = clock.now
      // What was on its way together fails together: that is one setback, not several.
      if (offlineUntil ?? now) <= now {
        offlineUntil = RetryPolicy.notBefore(
          setbacks: offlineSetbacks, asked: nil, now: now, random: random.next())
        offlineSetbacks += 1
      }
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

  // MARK: Credential

  /// The credential for a request that is about to be sent, with the round it belongs to; nil when
  /// there is none, or when the ledger has been sealed since the request was planned.
  func credential() async throws(LedgerError) -> (token: Secret, round: Int)? {
    guard try await !ledger.state().isSealed else { return nil }
    let round = credentialRound
    guard let token = await credentials.token() else {
      try await note(credentials: .rejected)
      return nil
    }
    return (token, round)
  }

  /// Asks for a new credential after a refusal; many refusals of one credential ask once, and a
  /// new one that is refused as well is the last for now.
  ///
  /// - Parameter round: the round of the credential that was refused.
  /// - Returns: whether there is another one to try.
  func renewCredential(refusedIn round: Int) async throws(LedgerError) -> Bool {
    guard round == credentialRound else { return conditions.credentials != .rejected }
    let renewal = renewal ?? Task { await self.renew() }
    self.renewal = renewal
    let isRenewed = await renewal.value
    if !isRenewed { try await note(credentials: .rejected) }
    return isRenewed
  }

  /// Gives an upload whose credential was refused a pause: a server that refuses one upload and
  /// takes the others would otherwise be asked again and again at once.
  func hold(_ upload: UploadID) {
    activities[upload, default: Planner.Activity()].notBefore =
      clock.now.adding(milliseconds: RetryPolicy.baseMilliseconds)
  }

  /// The round ends when the answer is there: what is sent until then carries the old credential.
  private func renew() async -> Bool {
    refusals += 1
    let isRenewed = refusals < 2 ? await credentials.token(refused: true) != nil : false
    credentialRound += 1
    renewal = nil
    return isRenewed
  }
}
