extension Upload {
  /// Folds one recorded event into the state. Total: every event has a meaning in every state,
  /// if only that nothing changes.
  public mutating func evolve(_ recorded: RecordedEvent) {
    if revision == .none { firstPosition = recorded.position }
    revision = recorded.revision
    lastPosition = recorded.position
    changed = recorded.time
    switch recorded.body {
    case .upload(let event): evolve(event, recorded)
    case .unreadable: needAttention(AttentionNeeded(reason: .recordUnreadable), recorded)
    case .unrecognized, .ledger: break
    }
  }

  /// After the end only the release of the copy means anything.
  private mutating func evolve(_ event: UploadEvent, _ recorded: RecordedEvent) {
    if case .copyReleased = event { copyReleased = recorded.position }
    guard ending == nil else { return }
    switch event {
    case .exported(let exported):
      copy = exported
      copyRecorded = recorded.time
    case .hashed(let hashed): hash = hashed.hash
    case .queued(let queued):
      intent = queued.intent
      isSequential = AdapterKind(ofDestination: queued.intent.destination).isSequential
    case .sessionOpened(let opened): open(opened.offer, recorded)
    case .partSent(let sent): send(sent, recorded)
    case .partFailed(let failed): fail(failed, recorded)
    case .delayed(let delayed):
      delay = Delay(failure: delayed.failure, attempt: delayed.attempt, until: delayed.until)
    case .partConfirmed(let confirmed): confirm(confirmed, recorded)
    case .received:
      received = recorded.position
      delay = nil
    case .verified: verified = recorded.position
    case .conflicted(let conflicted): conflict = conflicted.currentVersion
    case .committed(let committed): end(.committed(committed))
    case .deduplicated(let deduplicated): end(.deduplicated(deduplicated.original))
    case .cancelled(let cancelled): end(.cancelled(cancelled.reason))
    case .retried(let retried): retry(retried, recorded)
    case .paused: paused = recorded.position
    case .resumed: paused = nil
    case .attentionNeeded(let needed): needAttention(needed, recorded)
    case .partRevoked(let revoked): revoke(revoked, recorded)
    case .transferLost(let lost): lose(lost)
    case .sessionExpired: closeSession()
    case .verificationRevoked:
      verified = nil
      received = nil
    case .copyReleased, .noted: break
    }
  }

  private mutating func open(_ offer: SessionOffer, _ recorded: RecordedEvent) {
    guard let plan = PartPlan(byteCount: byteCount, partSize: offer.partSize) else { return }
    closeSession()
    delay = nil
    session = Session(
      reference: offer.session, plan: plan, expires: offer.expires, opened: recorded.position,
      launch: recorded.launch)
    sessionsOpened += 1
    parts = (0..<plan.partCount).map { index in
      var part = PartProgress(attempt: attemptFloor)
      if offer.received.contains(PartNumber(index)) {
        part.confirmed = plan.byteCount(of: PartNumber(index))
        part.confirmedAt = recorded.position
      }
      return part
    }
  }

  private mutating func closeSession() {
    guard session != nil else { return }
    delay = nil
    barrenSessions = isSessionBarren ? barrenSessions + 1 : 0
    attemptFloor = parts.reduce(attemptFloor) { max($0, $1.attempt) }
    session = nil
    parts = []
    received = nil
    verified = nil
  }

  private mutating func update(_ part: PartNumber, _ change: (inout PartProgress) -> Void) {
    guard parts.indices.contains(part.index) else { return }
    change(&parts[part.index])
  }

  /// A count of bytes of a part, held within its length: no record can make an upload larger.
  private func held(_ byteCount: Int64, of part: PartNumber) -> Int64 {
    min(max(byteCount, 0), session?.plan.byteCount(of: part) ?? 0)
  }

  private mutating func send(_ sent: PartSent, _ recorded: RecordedEvent) {
    delay = nil
    let isSequential = isSequential
    update(sent.part) { part in
      part.attempt = sent.attempt
      part.sentFrom = isSequential ? part.confirmed : 0
      part.flight = Flight(
        attempt: sent.attempt, launch: recorded.launch, position: recorded.position)
      part.notBefore = nil
    }
  }

  private mutating func fail(_ failed: PartFailed, _ recorded: RecordedEvent) {
    update(failed.part) { part in
      part.flight = nil
      part.failure = failed.failure
      part.failed = recorded.revision
      part.failures += failed.failure.chargesAttempt ? 1 : 0
      part.postponements += failed.failure.isPostponement ? 1 : 0
      part.setbacks += 1
      part.notBefore = failed.notBefore
    }
  }

  private mutating func confirm(_ confirmed: PartConfirmed, _ recorded: RecordedEvent) {
    let byteCount = held(confirmed.byteCount, of: confirmed.part)
    let isWhole = byteCount == session?.plan.byteCount(of: confirmed.part)
    delay = nil
    update(confirmed.part) { part in
      part.confirmed = byteCount
      part.confirmedAt = recorded.position
      if isWhole {
        part.flight = nil
        if let from = part.sentFrom, from <= part.checked { part.checked = byteCount }
      } else {
        // What is on its way brings the rest; an attempt that got this far was not for nothing.
        part.failures = 0
      }
      part.failure = nil
      part.notBefore = nil
      part.postponements = 0
      part.setbacks = 0
    }
  }

  private mutating func revoke(_ revoked: PartRevoked, _ recorded: RecordedEvent) {
    regressions = max(regressions, revoked.regression)
    received = nil
    verified = nil
    let byteCount = held(revoked.byteCount, of: revoked.part)
    update(revoked.part) { part in
      part.confirmed = byteCount
      part.confirmedAt = byteCount > 0 ? recorded.position : nil
      // What is left of a part that was checked whole was checked with it.
      part.checked = min(part.checked, byteCount)
      part.isDoubted = true
    }
  }

  private mutating func lose(_ lost: TransferLost) {
    update(lost.part) { part in
      guard part.flight?.attempt == lost.attempt else { return }
      part.flight = nil
      part.notBefore = nil
    }
  }

  private mutating func end(_ ending: Ending) {
    self.ending = ending
    attention = nil
    delay = nil
    paused = nil
    for index in parts.indices { parts[index].flight = nil }
  }

  private mutating func retry(_ retried: Retried, _ recorded: RecordedEvent) {
    round = retried.round
    self.retried = recorded.revision
    attention = nil
    delay = nil
    conflict = nil
    paused = nil
    regressions = 0
    barrenSessions = 0
    for index in parts.indices {
      parts[index].failures = 0
      parts[index].postponements = 0
      parts[index].setbacks = 0
      parts[index].failure = nil
      parts[index].notBefore = nil
    }
  }

  private mutating func needAttention(_ needed: AttentionNeeded, _ recorded: RecordedEvent) {
    guard ending == nil else { return }
    // What a server did not check then, it has not checked when it learns to.
    if needed.reason == .unproven { for index in parts.indices { parts[index].checked = 0 } }
    attention = Attention(
      reason: needed.reason, actions: needed.actions, position: recorded.position)
  }
}
