public import WaybillLedger
public import WaybillModel

/// A file a person picked.
public struct PickedFile: Equatable, Sendable {
  /// Its path, byte for byte.
  public let path: [UInt8]
  /// The name it is shown under, byte for byte.
  public let name: FileName
  /// Where it came from.
  public let source: ExportSource
  /// When it was captured, where that is known.
  public let captured: Timestamp?

  /// Makes a pick; the name is the last component of the path unless another one is given.
  public init(
    path: [UInt8], name: FileName? = nil, source: ExportSource = .file,
    captured: Timestamp? = nil
  ) {
    self.path = path
    self.source = source
    self.captured = captured
    let last = path.split(separator: UInt8(ascii: "/")).last ?? []
    self.name = name ?? FileName(bytes: [UInt8](last))
  }
}

/// What became of the files a person picked, in the order of picking.
public struct AddSummary: Equatable, Sendable {
  /// Files that are queued now, each with its upload.
  public internal(set) var queued: [(file: PickedFile, upload: UploadID)] = []
  /// Files whose bytes are available everywhere already, each with the upload that brought them.
  public internal(set) var alreadyUploaded: [(file: PickedFile, upload: UploadID)] = []
  /// Files whose bytes are queued already, each with the upload that will bring them.
  public internal(set) var alreadyQueued: [(file: PickedFile, upload: UploadID)] = []
  /// Files that could not be taken, each with the reason.
  public internal(set) var unavailable: [(file: PickedFile, error: StagingError)] = []

  /// Nothing was picked.
  public init() {}

  /// Equal when the same files came to the same.
  public static func == (left: AddSummary, right: AddSummary) -> Bool {
    left.queued.elementsEqual(right.queued, by: ==)
      && left.alreadyUploaded.elementsEqual(right.alreadyUploaded, by: ==)
      && left.alreadyQueued.elementsEqual(right.alreadyQueued, by: ==)
      && left.unavailable.elementsEqual(right.unavailable, by: ==)
  }
}

/// Taking copies in and letting them go.
extension UploadEngine {
  /// Takes files in order: copies, hashes and queues each, unless its bytes are queued or
  /// committed already. Cancelling the caller stops the rest; what is queued stays.
  ///
  /// - Parameters:
  ///   - files: the picked files.
  ///   - destination: where they go.
  ///   - priority: how soon.
  ///   - taken: called after each file with how many have been looked at.
  /// - Returns: what became of each. A queued upload is on stable storage, its copy too.
  /// - Throws: `LedgerError`: `otherDestination` before anything is taken, or when the ledger
  ///   cannot take a file; earlier files stay queued.
  public func add(
    _ files: [PickedFile], to destination: Destination, priority: Priority = .normal,
    taken: @Sendable (Int) -> Void = { _ in }
  ) async throws(LedgerError) -> AddSummary {
    try await ledger.reader.requireDestination(destination)
    var summary = AddSummary()
    var next = take(files.first, lane: 0)
    for index in files.indices {
      guard let current = next else { break }
      // A copy is made while the one before is put on stable storage and recorded.
      let isLast = index + 1 == files.endIndex || Task.isCancelled
      next = isLast ? nil : take(files[index + 1], lane: index + 1)
      do throws(LedgerError) {
        try await add(current, to: destination, priority: priority, &summary)
      } catch {
        if let next { await leave(next) }
        throw error
      }
      taken(index + 1)
      if Task.isCancelled, let late = next {
        await leave(late)
        next = nil
      }
    }
    raiseSignal()
    return summary
  }

  /// A file whose copy is being made.
  private struct Taken {
    let file: PickedFile
    let id: UploadID
    let copy: Task<Result<Staging.Copy, StagingError>, Never>
  }

  /// Begins to make the copy of a file, if there is one and nobody has cancelled.
  private func take(_ file: PickedFile?, lane: Int) -> Taken? {
    guard let file, !Task.isCancelled else { return nil }
    let halves = UUIDv7.halves(time: clock.wall(), random: random.next())
    let id = UploadID(high: halves.high, low: halves.low)
    taking.insert(id)
    let copy = Task { [staging] () async -> Result<Staging.Copy, StagingError> in
      do throws(StagingError) {
        return .success(try await staging.stage(file.path, for: id, lane: lane))
      } catch {
        return .failure(error)
      }
    }
    return Taken(file: file, id: id, copy: copy)
  }

  /// Deletes a copy that is not wanted after all.
  private func leave(_ taken: Taken) async {
    if let copy = try? await taken.copy.value.get() { try? staging.release(copy.file) }
    taking.remove(taken.id)
  }

  private func add(
    _ taken: Taken, to destination: Destination, priority: Priority, _ summary: inout AddSummary
  ) async throws(LedgerError) {
    let (file, id) = (taken.file, taken.id)
    defer { taking.remove(id) }
    let copy: Staging.Copy
    switch await taken.copy.value {
    case .success(let made): copy = made
    case .failure(let error): return summary.unavailable.append((file, error))
    }
    let exported = Exported(
      file: copy.file, name: file.name, byteCount: copy.byteCount, source: file.source,
      captured: file.captured)
    let intent = Intent(
      destination: destination.text, operation: IdempotencyKey(id.description),
      priority: priority)
    for _ in 1...Ledger.maximumDecisions {
      if let holder = try await holder(of: copy.hash) {
        let duplicate = Deduplicated(original: .upload(holder.id))
        do throws(LedgerError) {
          try await append(.deduplicated(duplicate), copy, exported, id)
        } catch {
          // The other one was given up since we looked: this one takes its place.
          if error.code == .originalGone { continue }
          throw error
        }
        switch holder.ending {
        case .committed, .deduplicated: summary.alreadyUploaded.append((file, holder.id))
        case .cancelled, nil: summary.alreadyQueued.append((file, holder.id))
        }
        return
      }
      do throws(LedgerError) {
        try await append(.queued(Queued(intent: intent)), copy, exported, id)
      } catch {
        // The same bytes were queued since we looked: this one is the duplicate.
        if error.code == .duplicateContent { continue }
        throw error
      }
      summary.queued.append((file, id))
      return raiseSignal()
    }
    let busy = StagingError(.changedWhileReading, "its bytes are added and given up all the time")
    try? staging.release(copy.file)
    summary.unavailable.append((file, busy))
  }

  /// The live upload that holds some bytes. One that cannot go on because its own copy is gone
  /// gives way to the file that was picked now.
  private func holder(of hash: ContentHash) async throws(LedgerError) -> Upload? {
    guard let id = try await ledger.reader.holder(of: hash) else { return nil }
    let upload = try await ledger.upload(id)
    if case .cancelled = upload.ending { return nil }
    guard upload.isWaitingForItsFile else { return upload }
    let (newest, _) = try await ledger.record(id) { upload in
      upload.isWaitingForItsFile ? (try? upload.decide(.cancel(.policy))) ?? [] : []
    }
    if case .cancelled = newest.ending { return nil }
    return newest
  }

  /// Appends the whole beginning of an upload at once: a kill before leaves only a copy that the
  /// next launch removes, a kill after leaves everything.
  private func append(
    _ last: UploadEvent, _ copy: Staging.Copy, _ exported: Exported, _ id: UploadID
  ) async throws(LedgerError) {
    do throws(LedgerError) {
      try await ledger.append(
        [
          ProposedEvent(.exported(exported), cause: .command),
          ProposedEvent(.hashed(Hashed(hash: copy.hash)), cause: .command),
          ProposedEvent(last, cause: .command),
        ], to: id, expecting: .none)
    } catch {
      let isTriedAgain = error.code == .duplicateContent || error.code == .originalGone
      if error.outcome == .notWritten, !isTriedAgain {
        try? staging.release(copy.file)
      }
      throw error
    }
  }

  /// Hashes a copy that was recorded without, and queues it, so that a kill between the two is
  /// made good.
  func finishSaving(_ upload: Upload) async throws(LedgerError) {
    guard let copy = upload.copy else { return }
    if upload.hash == nil {
      guard let hash = await staging.hash(of: copy.file) else {
        return try await observe(.blocked(.sourceMissing, status: nil), of: upload.id)
      }
      try await ledger.record(upload.id) { (try? $0.decide(.hash(hash))) ?? [] }
    }
    // One state for looking and for leaving alone: what is recorded behind it is looked at again.
    let newest = try await ledger.upload(upload.id)
    guard newest.ending == nil, let hash = newest.hash else { return }
    guard let destination = options.destination else {
      // Saved locally is where it stays until somebody says where it shall go.
      activities[upload.id, default: Planner.Activity()].leftAt = newest.revision
      return
    }
    let holder = try await holder(of: hash)
    let intent = Intent(
      destination: destination.text, operation: IdempotencyKey(upload.id.description))
    do throws(LedgerError) {
      try await ledger.record(upload.id) { newest in
        let command = holder.map { UploadCommand.deduplicate(.upload($0.id)) } ?? .queue(intent)
        return (try? newest.decide(command)) ?? []
      }
    } catch {
      // The same bytes were queued or given up since we looked; the next look finds them so.
      guard error.code == .duplicateContent || error.code == .originalGone else { throw error }
    }
  }

  /// Deletes the copy of an upload that has ended, and the session of one that was given up.
  func releaseCopy(_ upload: Upload) async throws(LedgerError) {
    guard upload.ending != nil, let copy = upload.copy else { return }
    if case .cancelled = upload.ending { try await giveUp(upload) }
    await ledger.forgetSessionURL(of: upload.id)
    do throws(StagingError) {
      try staging.release(copy.file)
    } catch {
      // The copy is in nobody's way; the next launch tries again.
      activities[upload.id, default: Planner.Activity()].leftAt = upload.revision
      return
    }
    try await ledger.record(upload.id) { (try? $0.decide(.releaseCopy)) ?? [] }
    activities[upload.id] = nil
    trustedCopies[upload.id] = nil
  }

  /// Takes what a person gives up while the disk is full, and deletes the copies of what has ended.
  func makeRoom() async throws(LedgerError) {
    do throws(LedgerError) {
      try await ledger.takeInbox()
      for upload in try await ledger.work(now: clock.now, limit: 64) where upload.ending != nil {
        guard let copy = upload.copy, (try? staging.release(copy.file)) != nil else { continue }
        try await ledger.record(upload.id) { (try? $0.decide(.releaseCopy)) ?? [] }
      }
    } catch {
      guard error.code == .diskFull else { throw error }
    }
  }

  /// Stops what is on its way for an upload that was given up and tells the server, once; a
  /// session nobody deletes expires by itself.
  private func giveUp(_ upload: Upload) async throws(LedgerError) {
    for transfer in live.keys where transfer.upload == upload.id {
      await transport.cancel(transfer)
    }
    guard let session = upload.session, let adapter = await transferAdapter(of: upload),
      let request = adapter.delete(session.reference), !pacing.credential.isRejected,
      let (token, _) = try await credential()
    else { return }
    _ = await transport.call(request.authorized(by: token))
  }

  // MARK: At launch

  /// Brings ledger, transport and staging folder together before anything is sent: parts that no
  /// transport knows of are unsent again, copies without a row are deleted. The server's account
  /// of each open session is asked by the planner, upload by upload.
  func launch() async throws(LedgerError) {
    recordedConditions = try await ledger.state().conditions
    beginPolicing()
    pacing.begin(recordedConditions, at: clock.now)
    try await recordConditions()
    let known = listener == nil ? Set(await transport.liveTransfers()) : Set(live.keys)
    if listener == nil {
      // Nobody hears of their ends yet, so none can have ended between the asking and the taking.
      for transfer in known { try await adopt(transfer) }
      listen()
    }
    try await sweep()
    try await ledger.sweepSessionURLs()
    var looked: Int64 = 0
    var corrected: Int64 = 0
    for id in try await ledger.reader.uploadsInFlight() {
      looked += 1
      let recorded = try await ledger.record(id) { Reconciliation.compare($0, with: known) }
      corrected += Int64(recorded.events.count)
    }
    let reconciled = Reconciled(uploads: looked, events: corrected)
    try await ledger.append(.reconciled(reconciled), cause: .reconciliation)
  }

  /// Takes over a transfer that an earlier process started.
  private func adopt(_ transfer: TransferDescription) async throws(LedgerError) {
    live[transfer] = pacing.credential.round
    transfers += 1
    guard !transport.sendsSlices else { return }
    let bytes = try await ledger.upload(transfer.upload).partFileBytes(of: transfer.part)
    partFiles[PartKey(upload: transfer.upload, part: transfer.part)] = bytes
  }

  /// Deletes copies that belong to no upload that still needs one, and files of parts that are not
  /// on their way.
  ///
  /// A copy without a row is what a kill between copying and recording leaves; its source is still
  /// there. But where the log has lost events, or has just begun beside copies that were there
  /// before, the row may be what is missing: then the copy is set aside, never deleted.
  private func sweep() async throws(LedgerError) {
    let mayHaveLostRows = try await ledger.state().tailLost != nil || ledger.launch.value == 1
    for name in staging.files() {
      if let file = PartFileName(name) {
        let key = PartKey(upload: file.upload, part: file.part)
        if partFiles[key] == nil { staging.release(part: file.part, of: file.upload) }
        continue
      }
      guard let file = StagedFileID(name) else { continue }
      guard let id = UploadID(name), !taking.contains(id) else { continue }
      let upload = try await ledger.reader.upload(id)
      if let upload, upload.copy?.file == file, upload.copyReleased == nil { continue }
      if upload == nil, mayHaveLostRows {
        staging.setAside(file)
      } else {
        try? staging.release(file)
      }
    }
  }
}

extension Upload {
  /// Whether it cannot go on because its copy is gone, so that the same file picked anew replaces
  /// it.
  fileprivate var isWaitingForItsFile: Bool { attention?.actions.contains(.addAgain) ?? false }
}
