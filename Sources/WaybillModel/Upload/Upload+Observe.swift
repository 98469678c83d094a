/// What a callback or a server reply claims. It may be late, doubled, out of order or wrong.
public enum UploadObservation: Equatable, Sendable {
  /// The server opened a session.
  case opened(SessionOffer)
  /// The server answered the opening with an object it has already.
  case alreadyStored(StoredObject)
  /// The server acknowledged a part and named the parts it holds.
  case partHeld(TransferDescription, received: PartSet)
  /// An attempt at a part came to nothing.
  case partFailed(TransferDescription, FailureKind, status: Int?, notBefore: Timestamp?)
  /// A step other than sending came to nothing, and is to be tried again.
  case delayed(DelayedStep, FailureKind, status: Int?, until: Timestamp)
  /// The server answered the commit with the object it bound.
  case committed(StoredObject)
  /// The server refused the commit because the record has moved.
  case conflicted(currentVersion: Int64)
  /// The server refused the upload for good, or its copy cannot be used.
  case blocked(AttentionReason, status: Int?)
}

extension Upload {
  /// The events a claim amounts to in this state; none when it says nothing new.
  public func decide(_ observation: UploadObservation) -> [ProposedEvent] {
    switch observation {
    case .opened(let offer): opened(offer)
    case .alreadyStored(let object): alreadyStored(object)
    case .partHeld(let transfer, let received): partHeld(transfer, received)
    case .partFailed(let transfer, let failure, let status, let notBefore):
      partFailed(transfer, failure, status, notBefore)
    case .delayed(let step, let failure, let status, let until):
      delayed(step, failure, status, until)
    case .committed(let object): stored(object, cause: .server)
    case .conflicted(let version): conflicted(version)
    case .blocked(let reason, let status): blocked(reason, status, cause: .server)
    }
  }

  private func opened(_ offer: SessionOffer) -> [ProposedEvent] {
    if session?.reference == offer.session { return [] }
    guard ending == nil, session == nil, intent != nil else {
      guard revision != .none else { return [] }
      let key = ObservationKey("session/\(offer.session.text)")
      return [ProposedEvent(.noted(Noted(claim: .lateSession)), cause: .server, observation: key)]
    }
    guard let plan = PartPlan(byteCount: byteCount, partSize: offer.partSize),
      plan.partCount == offer.partCount, offer.received.isWithin(plan.partCount)
    else { return blocked(.protocolViolation, nil, cause: .server) }
    var events = [ProposedEvent(.sessionOpened(SessionOpened(offer: offer)), cause: .server)]
    if offer.received.coversAll(plan.partCount) {
      events.append(ProposedEvent(.received(Received(byteCount: byteCount)), cause: .server))
    }
    return events
  }

  /// A session of ours was opened before: then the object can only be our own, committed by an
  /// earlier attempt whose reply was lost.
  private func alreadyStored(_ object: StoredObject) -> [ProposedEvent] {
    guard ending == nil, intent != nil, let theirs = object.hash else { return [] }
    guard theirs == hash else { return blocked(.hashMismatch, object.status, cause: .server) }
    if sessionsOpened > 0 { return stored(object, cause: .server) }
    let original = Deduplicated.Original.remote(object.remote)
    return [ProposedEvent(.deduplicated(Deduplicated(original: original)), cause: .server)]
  }

  private func partHeld(
    _ transfer: TransferDescription, _ received: PartSet
  ) -> [ProposedEvent] {
    guard transfer.upload == id, (0..<PartPlan.maximumPartCount).contains(transfer.part.index)
    else { return [] }
    guard ending == nil else {
      guard case .cancelled = ending else { return [] }
      let note = Noted(claim: .latePart, part: transfer.part)
      return [
        ProposedEvent(.noted(note), cause: .transport, observation: key("late", transfer))
      ]
    }
    // Attempts up to the floor belong to a session that is gone.
    guard let plan = session?.plan, parts.indices.contains(transfer.part.index),
      transfer.attempt > attemptFloor
    else { return [] }
    let part = parts[transfer.part.index]
    if part.isDoubted, part.flight.map({ description(of: $0, part: transfer.part) }) != transfer {
      return []
    }
    var events: [ProposedEvent] = []
    if !isConfirmed(transfer.part) {
      let confirmed = PartConfirmed(
        part: transfer.part, byteCount: plan.byteCount(of: transfer.part))
      events.append(
        ProposedEvent(
          .partConfirmed(confirmed), cause: .transport, observation: key("held", transfer)))
    }
    if self.received == nil, received.coversAll(plan.partCount),
      !events.isEmpty || allPartsConfirmed,
      parts.indices.allSatisfy({ $0 == transfer.part.index || isConfirmed(PartNumber($0)) })
    {
      // Keyed like the confirmation: a repeated callback must not bring one without the other.
      events.append(
        ProposedEvent(
          .received(Received(byteCount: byteCount)), cause: .server,
          observation: key("whole", transfer)))
    }
    return events
  }

  private func partFailed(
    _ transfer: TransferDescription, _ failure: FailureKind, _ status: Int?,
    _ notBefore: Timestamp?
  ) -> [ProposedEvent] {
    guard ending == nil, parts.indices.contains(transfer.part.index) else { return [] }
    let part = parts[transfer.part.index]
    guard let flight = part.flight, description(of: flight, part: transfer.part) == transfer else {
      return []
    }
    let failed = PartFailed(
      part: transfer.part, attempt: transfer.attempt, failure: failure, notBefore: notBefore,
      status: status)
    let event = ProposedEvent(
      .partFailed(failed), cause: .transport, observation: key("failed", transfer))
    let failures = failure.isPostponement ? part.postponements : part.failures
    guard let most = failure.maximumInARow, failures + 1 >= most else { return [event] }
    return [event] + blocked(failure.attentionReason, status, cause: .transport)
  }

  private func delayed(
    _ step: DelayedStep, _ failure: FailureKind, _ status: Int?, _ until: Timestamp
  ) -> [ProposedEvent] {
    guard ending == nil, attention == nil, intent != nil else { return [] }
    let cause = status == nil ? Cause.transport : .server
    let attempt = (delay?.attempt ?? 0) + 1
    if let most = failure.maximumDelays, attempt >= most {
      return blocked(failure.attentionReason, status, cause: cause)
    }
    let delayed = Delayed(
      step: step, failure: failure, attempt: attempt, until: until, status: status)
    return [ProposedEvent(.delayed(delayed), cause: cause)]
  }

  private func conflicted(_ version: Int64) -> [ProposedEvent] {
    guard ending == nil, conflict != version else { return [] }
    return [ProposedEvent(.conflicted(Conflicted(currentVersion: version)), cause: .server)]
      + blocked(.conflict, 409, cause: .server)
  }

  func blocked(_ reason: AttentionReason, _ status: Int?, cause: Cause) -> [ProposedEvent] {
    guard ending == nil, attention?.reason != reason, revision != .none else { return [] }
    let needed = AttentionNeeded(reason: reason, status: status)
    return [ProposedEvent(.attentionNeeded(needed), cause: cause)]
  }

  /// The events behind "available everywhere": only a stated hash equal to ours leads there.
  func stored(_ object: StoredObject, cause: Cause) -> [ProposedEvent] {
    guard let ours = hash, intent != nil else { return [] }
    switch ending {
    case .committed, .deduplicated: return []
    case .cancelled:
      let note = Noted(claim: .committedDespiteCancel, remote: object.remote)
      let key = ObservationKey("despite/\(object.remote.text)")
      return [ProposedEvent(.noted(note), cause: cause, observation: key)]
    case nil: break
    }
    guard let theirs = object.hash else { return [] }
    guard theirs == ours else { return blocked(.hashMismatch, object.status, cause: cause) }
    var events: [ProposedEvent] = []
    if received == nil {
      events.append(ProposedEvent(.received(Received(byteCount: byteCount)), cause: cause))
    }
    if verified == nil {
      events.append(ProposedEvent(.verified(Verified(hash: theirs)), cause: cause))
    }
    let committed = Committed(
      remote: object.remote, version: object.version, hash: theirs, status: object.status)
    events.append(ProposedEvent(.committed(committed), cause: cause))
    return events
  }

  private func key(_ claim: String, _ transfer: TransferDescription) -> ObservationKey {
    ObservationKey(
      "\(claim)/\(transfer.part.index).\(transfer.attempt).\(transfer.launch.value)")
  }
}
