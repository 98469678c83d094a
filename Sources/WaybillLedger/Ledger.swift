public import WaybillModel
internal import WaybillSQLite
package import WaybillSystem

/// The upload ledger of one account: an append-only log in SQLite with the tables folded from it.
///
/// At most one process at a time appends to a ledger; opening it takes the lease. Everything an
/// append returns is in the log, and what intent and the server say is on stable storage by then.
/// Blocking work runs on queues of the ledger's own, never on the cooperative pool.
public actor Ledger {
  nonisolated private let executor = QueueExecutor(label: "waybill.ledger.writer")

  /// Runs the actor on its own queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Reads of this ledger, on a connection of their own.
  public nonisolated let reader: LedgerReader
  /// Which launch of the ledger this is.
  public nonisolated let launch: LaunchGeneration
  /// The folder of the ledger.
  public nonisolated let directory: String
  /// The folder of the staged copies.
  public nonisolated let stagingDirectory: String
  /// The folder of the trace segments that ended uploads have moved into.
  public nonisolated let archiveDirectory: String
  /// The folder other processes drop commands into.
  nonisolated let inboxDirectory: String

  private var lease: Lease?
  private var writer: LogWriter?
  /// Appends that wait for the next transaction, each with its caller.
  nonisolated private let pending = Locked<[(request: AppendRequest, answer: Answer)]>([])
  /// Held by whoever moves events out of the log: what is read before may not move meanwhile.
  nonisolated package let retentionTurn = Turn()
  /// How many appends the transaction before had.
  private var lastGroup = 0
  private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var nextWaiter = 0
  private var changes: UInt64 = 0

  private typealias Answer = CheckedContinuation<Result<[RecordedEvent], LedgerError>, Never>

  private init(opened: OpenedLedger) {
    reader = opened.reader
    launch = opened.launch
    directory = opened.files.directory
    stagingDirectory = opened.files.staged
    archiveDirectory = opened.files.archive
    inboxDirectory = opened.files.inbox
    lease = opened.lease
    writer = opened.writer
  }

  /// Opens a ledger for writing, making it when the folder is new or empty.
  ///
  /// Takes the lease, brings format and projections up to date, compares the log with its head
  /// mark, appends a synced `ledger.launched` and copies the write-ahead log into the database
  /// before it returns, so that nothing anyone sees afterwards can be undone by a power cut.
  ///
  /// - Parameters:
  ///   - directory: the folder of the ledger; made with mode 0700 when it is missing.
  ///   - options: who opens it and how.
  /// - Throws: `LedgerError`: `busy` names the owner, `newerFormat`, `foreignFile`, `corrupt`,
  ///   `unusable`, `diskFull`, `otherAccount`. Nothing is ever recreated or deleted.
  public static func open(
    directory: String, options: LedgerOptions = LedgerOptions()
  ) async throws(LedgerError) -> Ledger {
    let ledger = Ledger(opened: try await OpenedLedger.open(directory, options))
    guard let account = options.account else { return ledger }
    do throws(LedgerError) {
      try await ledger.assign(to: account)
    } catch {
      await ledger.close()
      throw error
    }
    return ledger
  }

  // MARK: Appending

  /// Appends events to one stream, all or none. Appends that arrive together share a transaction;
  /// each succeeds or fails by itself.
  ///
  /// - Parameters:
  ///   - events: what was decided, in order; an empty list appends nothing.
  ///   - upload: the upload whose stream grows.
  ///   - expected: the revision the events were decided at.
  ///   - ids: names for the events, one each, so that the same append again gives the first one
  ///     back; new ones when nil.
  /// - Returns: the recorded events in order; an event whose observation key is known comes back
  ///   as it was recorded first.
  /// - Throws: `LedgerError`: `conflict`, `duplicateContent`, `halfKnown`, `diskFull`,
  ///   `inputOutput`, `closed`; its `outcome` says what became of the write.
  @discardableResult
  public nonisolated func append(
    _ events: [ProposedEvent], to upload: UploadID, expecting expected: ExpectedRevision,
    ids: [EventID]? = nil
  ) async throws(LedgerError) -> [RecordedEvent] {
    precondition(ids == nil || ids?.count == events.count, "one id for each event")
    return try await append(
      AppendRequest(
        upload: upload, expected: expected, drafts: events.map { EventDraft($0) }, ids: ids))
  }

  /// Appends one fact about the ledger itself.
  @discardableResult
  public nonisolated func append(
    _ event: LedgerEvent, cause: Cause, expecting expected: ExpectedRevision = .any
  ) async throws(LedgerError) -> RecordedEvent? {
    try await append(
      AppendRequest(
        upload: nil, expected: expected, drafts: [EventDraft(event, cause: cause)], ids: nil)
    ).first
  }

  /// Decides on the newest state of the ledger itself and appends what was decided, if anything;
  /// decides again when the state has moved in between.
  public func record(
    cause: Cause, _ decide: @Sendable (LedgerState) -> LedgerEvent?
  ) async throws(LedgerError) {
    for attempt in 1... {
      if attempt > 1 { drain() }
      let before = try state()
      guard let event = decide(before) else { return }
      do throws(LedgerError) {
        try await append(event, cause: cause, expecting: .exactly(before.revision))
        return
      } catch {
        guard error.code == .conflict, attempt < Ledger.maximumDecisions else { throw error }
      }
    }
  }

  /// Stays with its caller: the only changes of thread are the one to the writer and the one back.
  nonisolated private func append(
    _ request: AppendRequest
  ) async throws(LedgerError) -> [RecordedEvent] {
    let result = await withCheckedContinuation { (answer: Answer) in
      let isFirst = pending.withLock { pending in
        pending.append((request, answer))
        return pending.count == 1
      }
      if isFirst { executor.afterQueued { self.assumeIsolated { $0.gather(seen: 0, looks: 0) } } }
    }
    return try result.get()
  }

  /// The most appends that share one transaction.
  static let maximumGroup = 1024

  /// How often the writer looks for more appends, between two of which none came, before it begins.
  private static let maximumIdleLooks = 16

  /// Lets callers that the transaction before has just answered come back with their next append,
  /// so that they share this transaction as well. It waits for no more than came then, and only as
  /// long as they do come: one caller alone is never waited for.
  private func gather(seen: Int, looks: Int) {
    let count = pending.withLock { $0.count }
    guard count > 0 else { return }
    let looks = count > seen ? 0 : looks + 1
    guard count < lastGroup, looks < Ledger.maximumIdleLooks else { return drain() }
    executor.afterQueued { self.assumeIsolated { $0.gather(seen: count, looks: looks) } }
  }

  /// Commits what waits now. Who decides anew after a conflict calls it first: else an append that
  /// waits, and is not in the state yet, would overtake the new decision as well.
  func drain() {
    let (batch, left) = pending.withLock { pending in
      let batch = Array(pending.prefix(Ledger.maximumGroup))
      pending.removeFirst(batch.count)
      return (batch, pending.count)
    }
    if left > 0 { executor.afterQueued { self.assumeIsolated { $0.drain() } } }
    guard !batch.isEmpty else { return }
    lastGroup = batch.count
    guard let writer else {
      let closed = LedgerError(.closed, "the ledger has been closed", remedy: "open it again")
      for (_, answer) in batch { answer.resume(returning: .failure(closed)) }
      return
    }
    let results = writer.commit(batch.map(\.request))
    for (index, (_, answer)) in batch.enumerated() { answer.resume(returning: results[index]) }
    announceChange()
  }

  /// The writer of a ledger that has not been closed.
  func openWriter() throws(LedgerError) -> LogWriter {
    if let writer { return writer }
    throw LedgerError(.closed, "the ledger has been closed", remedy: "open it again")
  }

  // MARK: Deciding

  /// The state of an upload as the next append will find it; without events when it is unknown.
  public func upload(_ id: UploadID) throws(LedgerError) -> Upload {
    try openWriter().upload(id)
  }

  /// Decides on the newest state and appends what was decided; on a conflict it catches up and
  /// decides again, at most `maximumDecisions` times.
  ///
  /// - Parameters:
  ///   - id: the upload.
  ///   - decide: gives the events for a state; called again after a conflict.
  /// - Returns: the state after the append and the events that were appended.
  @discardableResult
  public func record(
    _ id: UploadID,
    _ decide: @Sendable (Upload) -> [ProposedEvent]
  ) async throws(LedgerError) -> (upload: Upload, events: [RecordedEvent]) {
    for attempt in 1... {
      if attempt > 1 { drain() }
      let before = try upload(id)
      let proposed = decide(before)
      guard !proposed.isEmpty else { return (before, []) }
      do throws(LedgerError) {
        let events = try await append(proposed, to: id, expecting: .exactly(before.revision))
        return (try upload(id), events)
      } catch {
        guard error.code == .conflict, attempt < Ledger.maximumDecisions else { throw error }
      }
    }
    preconditionFailure("the loop ends by returning or throwing")
  }

  /// How often `record` decides before a conflict is the caller's.
  public static let maximumDecisions = 16

  /// Uploads with something left to do that nothing holds up, folded, in the order of doing.
  ///
  /// - Parameters:
  ///   - now: the current time; uploads that wait until later are passed over.
  ///   - limit: how many at most.
  public func work(now: Timestamp, limit: Int) throws(LedgerError) -> [Upload] {
    try openWriter().work(now: now, limit: limit)
  }

  /// The ledger's own stream, folded.
  public func state() throws(LedgerError) -> LedgerState {
    try openWriter().state
  }

  /// Whether the disk has room for appends of every kind; without, only what gives up or corrects
  /// is recorded, and other appends fail with `diskFull`.
  public func hasRoom() throws(LedgerError) -> Bool { try openWriter().reserve.hasRoom }

  /// Notes how many bytes of parts in flight the transport has taken: a convenience for whoever
  /// watches, no event, forgotten at every launch.
  public func note(progress: [TransferDescription: Int64]) {
    writer?.note(progress: progress)
    announceChange()
  }

  // MARK: Rebuilding

  /// Drops every derived table and folds the log into it anew, one table after the other.
  ///
  /// Each table is one transaction: a cancelled or killed rebuild leaves the old or the new table,
  /// and appends wait only for the table that is being folded. Nothing is sent because of it.
  ///
  /// - Parameter rebuilt: called with the name of each table once it is done.
  /// - Returns: the tables that were folded anew; fewer than all only after a cancellation.
  /// - Throws: `LedgerError` when the database cannot be read or written.
  @discardableResult
  public func rebuild(
    rebuilt: @Sendable (String) -> Void = { _ in }
  ) async throws(LedgerError) -> [String] {
    var names: [String] = []
    for projection in Projections.derived {
      if Task.isCancelled { break }
      try openWriter().rebuild(projection)
      names.append(projection.name)
      rebuilt(projection.name)
      announceChange()
      await Task.yield()
    }
    return names
  }

  // MARK: Following

  /// Waits until something has been committed since `seen`, or the caller is cancelled.
  ///
  /// - Returns: the count of changes, to be given the next time.
  func change(since seen: UInt64) async -> UInt64 {
    guard changes == seen, writer != nil else { return changes }
    let waiter = nextWaiter
    nextWaiter += 1
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume() }
        waiters[waiter] = continuation
      }
    } onCancel: {
      Task { await self.wake(waiter) }
    }
    return changes
  }

  private func wake(_ waiter: Int) { waiters.removeValue(forKey: waiter)?.resume() }

  func announceChange() {
    changes += 1
    let woken = waiters
    waiters.removeAll()
    for continuation in woken.values { continuation.resume() }
  }

  // MARK: Ending

  /// Whether the ledger has been closed.
  var isClosed: Bool { writer == nil }

  /// Copies the write-ahead log into the database and gives up the lease. Whoever follows is told
  /// that nothing more comes; appends after this fail with `closed`.
  public func close() async {
    guard writer != nil else { return }
    endWriting()
    await reader.close()
    announceChange()
  }

  /// The connection is gone before the lease is: no other owner ever meets it.
  private func endWriting() {
    writer?.checkpoint(truncate: true)
    writer = nil
    lease = nil
  }
}
