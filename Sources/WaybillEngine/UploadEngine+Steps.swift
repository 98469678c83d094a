internal import WaybillLedger
internal import WaybillModel

/// Performing one step: the request, the verdict on its outcome, the events it amounts to.
extension UploadEngine {
  func perform(_ step: Step, of id: UploadID) async throws(LedgerError) {
    let upload = try await ledger.upload(id)
    switch step {
    case .finishSaving: try await finishSaving(upload)
    case .open:
      guard let adapter = try await adapter(for: upload) else { return }
      try await call(
        adapter.open(upload), .open(byteCount: upload.byteCount), step, upload, adapter)
    case .askStatus: try await askStatus(upload)
    case .commit:
      guard let adapter = try await adapter(for: upload), try await isWhole(upload) else { return }
      try await call(adapter.commit(upload), .commit, step, upload, adapter)
    case .send(let part): try await send(part, of: upload)
    case .releaseCopy: try await releaseCopy(upload)
    }
  }

  // MARK: Small calls

  private func askStatus(_ upload: Upload) async throws(LedgerError) {
    guard let session = upload.session, let adapter = try await adapter(for: upload) else { return }
    try await call(
      adapter.status(upload), .status(of: session.plan), .askStatus, upload, adapter)
  }

  /// Makes a call and records what its outcome amounts to. One that is refused for its credential
  /// is planned again when there is another one.
  private func call(
    _ request: HTTPRequest?, _ endpoint: ReplyClassifier.Endpoint, _ step: Step,
    _ upload: Upload, _ adapter: any TransferAdapter
  ) async throws(LedgerError) {
    guard let request, let (token, round) = try await credential() else { return }
    let outcome = await transport.call(request.authorized(by: token))
    let verdict = try await judge(
      adapter.verdict(on: outcome, of: endpoint, for: upload, now: clock.wall()),
      of: CredentialTrust.Request(step, of: upload.id), round: round)
    if case .statement(.opened) = verdict,
      let session = adapter.sessionURL(openedBy: outcome)
    {
      try await ledger.keep(session, of: upload.id)
    }
    try await settle(verdict, step, for: upload)
  }

  private func settle(
    _ verdict: Verdict, _ step: Step, for upload: Upload
  ) async throws(LedgerError) {
    let id = upload.id
    let isInconsistent =
      activities[id, default: Planner.Activity()].take(verdict, on: step)
    if let status = verdict.serverStatus {
      let recorded = try await ledger.record(id) { Reconciliation.compare($0, with: status) }
      // Of what was appended beside it meanwhile, such as a retry, the server was not asked.
      activities[id]?.asked = recorded.events.last?.revision ?? recorded.upload.revision
      take(note: recorded.events)
      if status == .gone { await ledger.forgetSessionURL(of: id) }
    } else if let step = DelayedStep(step) {
      let pace = Pace(
        setbacks: upload.delay?.attempt ?? 0, now: clock.now, random: random.next())
      if let claim = verdict.observation(on: step, pace: pace) {
        try await observe(claim, of: id)
      }
    }
    if isInconsistent { try await observe(.blocked(.serverInconsistent, status: nil), of: id) }
  }

  func observe(_ observation: UploadObservation, of id: UploadID) async throws(LedgerError) {
    take(note: try await ledger.record(id) { $0.decide(observation) }.events)
  }

  /// Lets the pacing know of events that bring an upload further.
  private func take(note events: [RecordedEvent]) {
    if events.contains(where: { $0.kind?.movesOn ?? false }) { pacing.moveOn(at: clock.now) }
  }

  /// The adapter for the next call of an upload. One whose stored destination cannot be used is
  /// handed to a person; a session nobody can reach any more has expired.
  private func adapter(
    for upload: Upload
  ) async throws(LedgerError) -> (any TransferAdapter)? {
    guard upload.intent != nil else { return nil }
    guard let adapter = await transferAdapter(of: upload) else {
      try await observe(.blocked(.refused, status: nil), of: upload.id)
      return nil
    }
    guard let session = upload.session, adapter.status(upload) == nil else { return adapter }
    take(
      note: try await ledger.record(upload.id) {
        $0.session == session ? Reconciliation.compare($0, with: .gone) : []
      }.events)
    return nil
  }

  /// The adapter of the upload's destination; nil when that cannot be used.
  func transferAdapter(of upload: Upload) async -> (any TransferAdapter)? {
    guard let intent = upload.intent,
      let destination = try? Destination(intent.destination, allowsPlainHTTP: true)
    else { return nil }
    let session = upload.isSequential ? await ledger.sessionURL(of: upload) : nil
    return destination.adapter.adapter(for: destination, session: session)
  }

  /// Whether the copy is still the one whose hash is recorded, where no server states that of the
  /// whole: it may have changed between the look at it and the reading of the last part. Of one
  /// that is gone since, every part was cut while it was trusted.
  private func isWhole(_ upload: Upload) async throws(LedgerError) -> Bool {
    guard upload.isSequential, let copy = upload.copy else { return true }
    switch await condition(of: copy, of: upload) {
    case .intact, .missing: return true
    case .changed: try await observe(.blocked(.sourceChanged, status: nil), of: upload.id)
    case .unreadable: try await postpone(upload)
    }
    return false
  }

  // MARK: Parts

  private func send(_ part: PartNumber, of upload: Upload) async throws(LedgerError) {
    var isOnItsWay = false
    defer { if !isOnItsWay { giveBack(part, of: upload.id) } }
    guard let copy = upload.copy, let session = upload.session, let unsent = upload.unsent(part),
      let adapter = try await adapter(for: upload), try await trusts(copy, of: upload)
    else { return }
    let path = staging.path(of: copy.file)
    let slice = FileSlice(
      path: path, offset: unsent.offset, count: unsent.count)
    let (body, digest): (FileSlice, ContentHash)
    do throws(Staging.SliceFault) {
      (body, digest) = try await content(of: slice, part: part, of: upload)
    } catch {
      return error == .cutShort
        ? try await block(.sourceChanged, upload) : try await postpone(upload)
    }
    guard var request = adapter.part(part, of: upload, at: path, digest: digest) else { return }
    request.body = .file(body)
    guard let (token, round) = try await credential(), !isStopping else { return }
    // What was decided on may have moved while the part was read: decide again on the newest state.
    let recorded = try await ledger.record(upload.id) { newest in
      guard newest.session == session, newest.paused == nil,
        newest.unsent(part).map({ $0 == unsent }) ?? false
      else { return [] }
      return (try? newest.decide(.send(part))) ?? []
    }
    guard let sent = recorded.events.first, case .upload(.partSent(let fact)) = sent.body else {
      return
    }
    let transfer = TransferDescription(
      upload: upload.id, part: part, attempt: fact.attempt, launch: sent.launch)
    isOnItsWay = true
    live[transfer] = round
    await transport.start(transfer, request.authorized(by: token))
    // A stop, a rule that forbids it, or the end of the account's time may have passed meanwhile.
    if isEndingTransfers || isForbidden || (isStopping && !transport.outlivesProcess) {
      await transport.cancel(transfer)
    }
    if isTransportGone { release(transfer) }
  }

  /// What is sent for a part, and its hash: the slice of the copy itself, or a file of its own for
  /// a transport that sends whole files only. The only part is the copy, whose hash is known; bytes
  /// that change behind our back from here on the server finds out by it.
  private func content(
    of slice: FileSlice, part: PartNumber, of upload: Upload
  ) async throws(Staging.SliceFault) -> (FileSlice, ContentHash) {
    if let hash = upload.hash, slice.count == upload.byteCount { return (slice, hash) }
    let fileBytes = transport.sendsSlices ? 0 : upload.partFileBytes(of: part)
    guard fileBytes > 0 else { return (slice, try await staging.hash(of: slice)) }
    partFiles[PartKey(upload: upload.id, part: part)] = fileBytes
    let file = try await staging.cut(slice, part: part, of: upload.id)
    return (file.slice, file.hash)
  }

  /// Tries an upload whose copy could not be read again later; nothing says that the copy is lost.
  /// What never succeeds is handed to a person.
  private func postpone(_ upload: Upload) async throws(LedgerError) {
    let until = RetryPolicy.notBefore(
      setbacks: upload.delay?.attempt ?? 0, asked: nil, now: clock.now, random: random.next())
    try await observe(
      .delayed(.readCopy, .sourceUnreadable, status: nil, until: until), of: upload.id)
  }

  /// Gives back the place of a part that is not, or no longer, on its way.
  private func giveBack(_ part: PartNumber, of upload: UploadID) {
    transfers -= 1
    if partFiles.removeValue(forKey: PartKey(upload: upload, part: part)) != nil {
      staging.release(part: part, of: upload)
    }
  }

  /// The condition of a copy, looked at closely only if it was touched since it was last trusted.
  private func condition(of copy: Exported, of upload: Upload) async -> Staging.Condition {
    let trusted = max(upload.copyRecorded, trustedCopies[upload.id] ?? upload.copyRecorded)
    let condition = await staging.condition(of: copy, hash: upload.hash, trusted: trusted)
    if case .intact(let since) = condition, since > upload.copyRecorded {
      trustedCopies[upload.id] = since
    }
    return condition
  }

  private func trusts(_ copy: Exported, of upload: Upload) async throws(LedgerError) -> Bool {
    switch await condition(of: copy, of: upload) {
    case .intact: return true
    case .missing: try await block(.sourceMissing, upload)
    case .changed: try await block(.sourceChanged, upload)
    case .unreadable: try await postpone(upload)
    }
    return false
  }

  /// Hands an upload whose copy cannot be sent to a person, but asks the server first: it may hold
  /// everything already.
  private func block(_ reason: AttentionReason, _ upload: Upload) async throws(LedgerError) {
    if activities[upload.id]?.asked != upload.revision {
      try await askStatus(upload)
    }
    let newest = try await ledger.upload(upload.id)
    guard activities[upload.id]?.asked == newest.revision else { return }
    if newest.received == nil, newest.ending == nil {
      try await observe(.blocked(reason, status: nil), of: upload.id)
    }
  }

  // MARK: Callbacks of the transport

  /// Takes what the transport says. Progress and completions of many transfers arrive here one by
  /// one; completions are recorded side by side so that they can share a transaction.
  func receive(_ event: TransportEvent) async {
    switch event {
    case .progress(let transfer, let sent):
      if live[transfer] != nil { await ledger.note(progress: [transfer: sent]) }
    case .completed(let transfer, let outcome):
      Task {
        do throws(LedgerError) {
          try await self.complete(transfer, outcome)
          await self.transport.acknowledge(transfer)
        } catch {
          self.fail(error)
        }
        self.release(transfer)
      }
    }
  }

  /// Gives back the place of a transfer that has ended, or of which nothing will be heard.
  func release(_ transfer: TransferDescription) {
    if live.removeValue(forKey: transfer) != nil {
      giveBack(transfer.part, of: transfer.upload)
    }
    raiseSignal()
  }

  private func complete(
    _ transfer: TransferDescription, _ outcome: HTTPOutcome
  ) async throws(LedgerError) {
    let upload = try await ledger.upload(transfer.upload)
    guard let plan = upload.session?.plan else {
      // The session is gone: what is left to say is a note of a late success, or nothing.
      guard case .reply(let reply) = outcome, reply.status == 200 else { return }
      return try await observe(.partHeld(transfer, received: PartSet()), of: transfer.upload)
    }
    guard let adapter = await transferAdapter(of: upload) else { return }
    let verdict = try await judge(
      adapter.verdict(
        on: outcome, of: .part(transfer.part, of: plan), for: upload, now: clock.wall()),
      of: CredentialTrust.Request(.send(transfer.part), of: transfer.upload),
      round: live[transfer] ?? pacing.credential.round)
    let setbacks =
      upload.parts.indices.contains(transfer.part.index)
      ? upload.parts[transfer.part.index].setbacks : 0
    let pace = Pace(setbacks: setbacks, now: clock.now, random: random.next())
    for observation in verdict.observations(on: transfer, pace: pace) {
      try await observe(observation, of: transfer.upload)
    }
  }
}

extension DelayedStep {
  /// The step as one that can be put off; nil for one that waits for nobody.
  fileprivate init?(_ step: Step) {
    switch step {
    case .open: self = .open
    case .askStatus: self = .askStatus
    case .commit: self = .commit
    case .send, .finishSaving, .releaseCopy: return nil
    }
  }
}

extension HTTPRequest {
  /// The request with the credential, made for the moment it is sent.
  func authorized(by token: Secret) -> HTTPRequest {
    var request = self
    token.reveal { request.headers.append(HTTPHeader("Authorization", "Bearer \($0)")) }
    return request
  }
}
