internal import WaybillHash
internal import WaybillModel
internal import WaybillSQLite

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Appends to the log and keeps the projections: the one connection that writes and checkpoints.
///
/// Not `Sendable`; it lives inside the `Ledger` actor.
final class LogWriter {
  /// The log is copied into the database once it is this long.
  static let checkpointBytes: Int64 = 4_194_304

  private let files: LedgerFiles
  private let clock: @Sendable () -> Timestamp
  private var random = RandomBits()
  let mark: HeadMark.File
  private let identity: FileIdentity
  var reserve: Reserve

  var connection: Connection
  var statements: WriterStatements
  private(set) var tables: [any ProjectionTable]
  private var chain: EventChain
  var cache = FoldCache()

  /// The ledger's own stream, folded.
  private(set) var state: LedgerState
  /// The newest position in the log.
  private(set) var head: GlobalPosition
  var durableHead: HeadMark
  /// The launch this writer belongs to: the one behind the newest in the log.
  let launch: LaunchGeneration
  /// How long the write-ahead log has to be for the next attempt to copy it.
  private var checkpointAt = LogWriter.checkpointBytes
  /// Whether a failed commit is still to be looked up in the log.
  private var mustReopen = false

  init(
    files: LedgerFiles, connection: Connection, identity: FileIdentity,
    clock: @escaping @Sendable () -> Timestamp
  ) throws(LedgerError) {
    self.files = files
    self.clock = clock
    self.connection = connection
    self.identity = identity
    reserve = Reserve(files: files)
    mark = try HeadMark.File(path: files.headMark)
    do {
      let loaded = try LoadedLog(connection)
      (statements, tables) = (loaded.statements, loaded.tables)
      (head, state) = (loaded.head, loaded.state)
      chain = EventChain(value: loaded.chain)
      durableHead = HeadMark(position: loaded.head, chain: loaded.chain)
      launch = LaunchGeneration((loaded.state.launch?.value ?? 0) + 1)
      try connection.execute("DELETE FROM progress")
    } catch {
      throw LedgerError(error, doing: "loading the end of the log")
    }
  }

  // MARK: Committing

  /// Appends what several callers ask for in one transaction; each gets its own answer.
  func commit(_ requests: [AppendRequest]) -> [Result<[RecordedEvent], LedgerError>] {
    defer { cache.trim() }
    if reserve.isAllThatIsLeft() { return requests.map { commitFromReserve($0) } }
    do {
      return try transact(requests)
    } catch {
      if requests.count == 1, error.code == .diskFull, requests[0].mayUseReserve {
        return [commitFromReserve(requests[0])]
      }
      // One caller's failure is not its neighbours': each is tried by itself. What keeps the
      // transaction from beginning at all is everyone's, and each new try would wait as long.
      let isEveryones = error.code == .busy || mustReopen
      guard requests.count > 1, error.outcome == .notWritten, !isEveryones else {
        return requests.map { _ in .failure(error) }
      }
      return requests.flatMap { commit([$0]) }
    }
  }

  /// Appends on a full disk, in the room that was kept back.
  private func commitFromReserve(
    _ request: AppendRequest
  ) -> Result<[RecordedEvent], LedgerError> {
    guard request.mayUseReserve else { return .failure(reserve.error) }
    reserve.release()
    do {
      try checkDatabase()
      reserve.shorten(connection)
      return try transact([request])[0]
    } catch {
      return .failure(error)
    }
  }

  /// Stops before anything goes into a file that nobody can find again, or into a stranger's.
  func checkDatabase() throws(LedgerError) {
    guard FileIdentity(files.database) != identity else { return }
    connection.leaveLogAtClose()
    throw LedgerError.replaced(files)
  }

  /// Makes good a failed commit: what is read after it is what the next transaction begins with.
  func ensureOpen() throws(LedgerError) {
    try checkDatabase()
    guard mustReopen else { return }
    do throws(LedgerError) {
      try reopen()
    } catch {
      throw LedgerError(error.code, error.message, remedy: error.remedy)
    }
  }

  /// Runs requests in one transaction, behind `work` on the same connection: all or nothing.
  func transact(
    _ requests: [AppendRequest],
    after work: (Connection) throws(SQLiteError) -> Void = { _ in }
  ) throws(LedgerError) -> [Result<[RecordedEvent], LedgerError>] {
    try ensureOpen()
    let isDurable = requests.contains { $0.durability == .synced }
    var transaction = Transaction(head: head, chain: chain.value, time: clock())
    var results: [Result<[RecordedEvent], LedgerError>] = []
    do {
      try connection.setSynchronous(isDurable ? .full : .normal)
      try statements.begin.run()
      try work(connection)
      for request in requests { results.append(try append(request, in: &transaction)) }
      if transaction.head == head {
        abandon(transaction)
        return results
      }
      for touched in transaction.touched.values {
        for table in tables {
          try table.write(touched.entry.upload, stream: touched.stream, before: touched.before)
        }
      }
      if !transaction.ledgerEvents.isEmpty {
        var next = state
        for event in transaction.ledgerEvents { next.evolve(event) }
        LedgerStateTable.bind(next, to: statements.ledgerState)
        try statements.ledgerState.run()
      }
      if transaction.ledgerEvents.contains(where: { $0.kind == .ledgerLaunched }) {
        try keepTablesUp(to: transaction.head)
      }
    } catch {
      abandon(transaction)
      throw LedgerError(error, doing: "appending")
    }
    do {
      try statements.commit.run()
    } catch  where error.code.primary == .full {
      // The frame that commits is written last, so it was not: nothing is left to be found out.
      abandon(transaction)
      throw LedgerError(error, doing: "appending")
    } catch {
      try settle(error, transaction)
    }
    finish(transaction, isDurable: isDurable)
    return results
  }

  /// Says that the derived tables are at a position, and that this launch keeps them up.
  private func keepTablesUp(to position: GlobalPosition) throws(SQLiteError) {
    statements.checkpoint.bind(1, position.value)
    statements.checkpoint.bind(2, launch.value)
    try statements.checkpoint.run()
  }

  /// What one transaction has done so far.
  struct Transaction {
    var head: GlobalPosition
    let startChain: ContentHash
    let time: Timestamp
    var touched: [UploadID: Touched] = [:]
    var hashes: [ContentHash: UploadID] = [:]
    var ledgerEvents: [RecordedEvent] = []

    init(head: GlobalPosition, chain: ContentHash, time: Timestamp) {
      self.head = head
      startChain = chain
      self.time = time
    }
  }

  /// An upload that grows in a transaction, and what it was before.
  struct Touched {
    let entry: FoldCache.Entry
    let stream: Int64
    let before: Upload
  }

  private func abandon(_ transaction: Transaction) {
    if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    for id in transaction.touched.keys { cache.remove(id) }
    chain.reset(to: transaction.startChain)
  }

  private func finish(_ transaction: Transaction, isDurable: Bool) {
    head = transaction.head
    for event in transaction.ledgerEvents { state.evolve(event) }
    if isDurable { durableHead = HeadMark(position: head, chain: chain.value) }
    // Written after every commit: the file is also what other processes watch to follow the log.
    mark.write(durableHead, sync: false)
    checkpointWhenLong()
  }

  /// Behind a slow reader a copy cannot be completed, so the next attempt waits until the log has
  /// grown by a quarter of the bound: each attempt sorts all of it.
  private func checkpointWhenLong() {
    var status = stat()
    guard stat(files.log, &status) == 0 else { return }
    let length = Int64(status.st_size)
    if length <= LogWriter.checkpointBytes { checkpointAt = LogWriter.checkpointBytes }
    guard length > checkpointAt else { return }
    checkpoint(truncate: false)
    checkpointAt = length + LogWriter.checkpointBytes / 4
  }

  /// Answers a failed COMMIT: it may have happened. The connection is closed and opened again, and
  /// the log itself says which it was.
  private func settle(_ error: SQLiteError, _ transaction: Transaction) throws(LedgerError) {
    let wanted = chain.value
    abandon(transaction)
    try reopen()
    guard chain.value == wanted else { throw LedgerError(error, doing: "committing") }
  }

  /// Opens the database anew and empties its write-ahead log. What a failed commit left behind the
  /// end of that log would otherwise come to life when the log is recovered after a crash.
  private func reopen() throws(LedgerError) {
    mustReopen = true
    cache.removeAll()
    guard FileIdentity(files.database) == identity else {
      connection.leaveLogAtClose()
      throw LedgerError.replaced(files, outcome: .indeterminate)
    }
    do throws(SQLiteError) {
      let reopened = try Connection(path: files.database, access: .writer)
      let loaded = try LoadedLog(reopened)
      connection = reopened
      (statements, tables) = (loaded.statements, loaded.tables)
      (head, state) = (loaded.head, loaded.state)
      chain.reset(to: loaded.chain)
      guard try connection.checkpoint(truncate: true).logged == 0 else {
        throw SQLiteError(code: .busy, message: "a reader holds the write-ahead log")
      }
      mustReopen = false
    } catch {
      throw LedgerError(error, doing: "reopening after a failed commit", outcome: .indeterminate)
    }
  }

  // MARK: One request

  private func append(
    _ request: AppendRequest, in transaction: inout Transaction
  ) throws(SQLiteError) -> Result<[RecordedEvent], LedgerError> {
    if let ids = request.ids, let known = try knownEvents(ids) { return known }
    guard let id = request.upload else {
      let revision = StreamRevision(
        state.revision.value + Int64(transaction.ledgerEvents.count))
      guard request.expected.holds(for: revision) else { return .failure(Self.conflict(nil)) }
      var recorded: [RecordedEvent] = []
      for (index, draft) in request.drafts.enumerated() {
        let count = Int64(transaction.ledgerEvents.count)
        let event = try insert(
          draft, stream: 0, upload: nil, revision: state.revision.value + count + 1,
          id: request.ids?[index], in: &transaction)
        transaction.ledgerEvents.append(event)
        recorded.append(event)
      }
      return .success(recorded)
    }
    let entry = try load(id)
    guard request.expected.holds(for: entry.upload.revision) else {
      return .failure(Self.conflict(entry.upload.revision))
    }
    if request.ids != nil, let refusal = try unknowable(entry) { return .failure(refusal) }
    if let refusal = try contentConflict(request, entry.upload, in: &transaction) {
      return .failure(refusal)
    }
    let stream: Int64
    if let known = entry.stream {
      stream = known
    } else {
      guard !request.drafts.isEmpty else { return .success([]) }
      guard !isSealed(in: transaction) else { return .failure(Self.sealed) }
      statements.newStream.bind(1, id.description)
      try statements.newStream.run()
      stream = connection.lastInsertedRow
    }
    entry.stream = stream
    if transaction.touched[id] == nil {
      transaction.touched[id] = Touched(entry: entry, stream: stream, before: entry.upload)
    }
    var recorded: [RecordedEvent] = []
    for (index, draft) in request.drafts.enumerated() {
      if let key = draft.observation, let first = try observed(key, stream: stream) {
        recorded.append(first)
        continue
      }
      let event = try insert(
        draft, stream: stream, upload: id, revision: entry.upload.revision.next.value,
        id: request.ids?[index], in: &transaction)
      entry.upload.evolve(event)
      try forgetProgress(after: draft, stream: stream)
      recorded.append(event)
    }
    return .success(recorded)
  }

  private func insert(
    _ draft: EventDraft, stream: Int64, upload: UploadID?, revision: Int64, id: EventID?,
    in transaction: inout Transaction
  ) throws(SQLiteError) -> RecordedEvent {
    guard transaction.head.value < Int64.max, revision < Int64.max else {
      throw SQLiteError(code: .full, message: "the log has used up its numbers")
    }
    transaction.head = transaction.head.next
    let event = RecordedEvent(
      position: transaction.head, id: id ?? newEventID(transaction.time), upload: upload,
      revision: StreamRevision(revision), kindName: draft.kind.rawValue, version: draft.version,
      time: transaction.time, causeName: draft.cause.rawValue, launch: launch,
      compensates: draft.compensates, observation: draft.observation, fields: draft.fields,
      body: draft.body)
    EventCodec.bind(
      event, stream: stream, chain: chain.advance(over: event), to: statements.insert)
    try statements.insert.run()
    return event
  }

  private func newEventID(_ time: Timestamp) -> EventID {
    let halves = UUIDv7.halves(time: time, random: random.next())
    return EventID(high: halves.high, low: halves.low)
  }

  // MARK: Looking before appending

  func load(_ id: UploadID) throws(SQLiteError) -> FoldCache.Entry {
    if let entry = cache.entry(id) { return entry }
    statements.streamKey.bind(1, id.description)
    let stream = try statements.streamKey.firstRow { $0.int(0) }
    var upload = Upload(id: id)
    if let stream {
      statements.streamEvents.bind(1, stream)
      try LogReading.each(statements.streamEvents) { upload.evolve($0) }
    }
    return cache.store(upload, stream: stream)
  }

  /// The current state of an upload, as the next append will find it.
  func upload(_ id: UploadID) throws(LedgerError) -> Upload {
    defer { cache.trim() }
    do {
      return try load(id).upload
    } catch {
      throw LedgerError(error, doing: "reading an upload")
    }
  }

  /// Uploads with something left to do that nothing holds up, in the order of doing.
  func work(now: Timestamp, limit: Int) throws(LedgerError) -> [Upload] {
    do {
      statements.work.bind(1, now.microseconds)
      statements.work.bind(2, Int64(limit))
      // What is put off for longer than any pause was put off by a clock that has been set since.
      statements.work.bind(
        3, now.adding(milliseconds: RetryPolicy.serverCeilingMilliseconds).microseconds)
      var ids: [UploadID] = []
      try statements.work.forEachRow { row in
        if let id = UploadID(row.text(0)) { ids.append(id) }
        return true
      }
      var uploads: [Upload] = []
      for id in ids { uploads.append(try load(id).upload) }
      cache.trim()
      return uploads
    } catch {
      throw LedgerError(error, doing: "reading the work list")
    }
  }

  private func knownEvents(
    _ ids: [EventID]
  ) throws(SQLiteError) -> Result<[RecordedEvent], LedgerError>? {
    var known: [RecordedEvent] = []
    for id in ids {
      withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) {
        statements.eventByID.bind(1, bytes: $0)
      }
      if let event = try statements.eventByID.firstRow({ row in
        EventCodec.event(row, of: EventCodec.upload(row))
      }) {
        known.append(event)
      }
    }
    if known.isEmpty { return nil }
    guard known.count == ids.count else {
      return .failure(
        LedgerError(
          .halfKnown, "some of these events are in the log and some are not",
          remedy: "append the unknown ones by themselves"))
    }
    return .success(known)
  }

  private func observed(
    _ key: ObservationKey, stream: Int64
  ) throws(SQLiteError) -> RecordedEvent? {
    statements.eventByObservation.bind(1, stream)
    statements.eventByObservation.bind(2, key.text)
    return try statements.eventByObservation.firstRow { row in
      EventCodec.event(row, of: EventCodec.upload(row))
    }
  }

  // MARK: Around the log

  /// Drops one derived table and folds the whole log into it anew.
  func rebuild(_ projection: any DerivedTable.Type) throws(LedgerError) {
    try checkDatabase()
    // Until it succeeds the tables are not to be written: the next append opens the database anew.
    mustReopen = true
    do throws(SQLiteError) {
      tables = []
      try connection.setSynchronous(.full)
      try ProjectionRunner.rebuild(projection, connection, launch: launch)
      tables = try LoadedLog.tables(connection)
      mustReopen = false
      checkpointWhenLong()
    } catch {
      throw LedgerError(error, doing: "rebuilding \(projection.name)")
    }
  }

  /// Copies the write-ahead log into the database. A failure here loses nothing: the log has it.
  ///
  /// - Returns: whether the write-ahead log is empty now; a reader may still need it.
  @discardableResult
  func checkpoint(truncate: Bool) -> Bool {
    guard (try? checkDatabase()) != nil else { return false }
    let pages = try? connection.checkpoint(truncate: truncate)
    mark.write(durableHead, sync: true)
    return truncate && pages?.logged == 0
  }

  private func forgetProgress(after draft: EventDraft, stream: Int64) throws(SQLiteError) {
    guard draft.endsFlight else { return }
    statements.forget.bind(1, stream)
    statements.forget.bind(2, draft.fields.part)
    try statements.forget.run()
  }
}
