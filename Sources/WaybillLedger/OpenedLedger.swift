internal import WaybillHash
public import WaybillModel
internal import WaybillSQLite

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Who opens a ledger, and how.
public struct LedgerOptions: Sendable {
  /// The app and its version, recorded with each launch and shown to whoever finds the ledger busy.
  public var app: String
  /// Whether a person sees the process or the system started it.
  public var mode: Launched.Mode
  /// Where recorded times come from.
  public var clock: @Sendable () -> Timestamp

  /// Makes options; the clock is the system's by default.
  public init(
    app: String = "waybill", mode: Launched.Mode = .foreground,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now }
  ) {
    self.app = app
    self.mode = mode
    self.clock = clock
  }
}

/// The system's wall clock.
public enum SystemClock {
  /// Now, in microseconds since the Unix epoch.
  public static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// Everything `Ledger.open` has to do before there is a ledger.
struct OpenedLedger: Sendable {
  let files: LedgerFiles
  let lease: Lease
  nonisolated(unsafe) let writer: LogWriter  // handed to the one actor that uses it
  let reader: LedgerReader
  let launch: LaunchGeneration

  @concurrent
  static func open(
    _ directory: String, _ options: LedgerOptions
  ) async throws(LedgerError) -> OpenedLedger {
    let named = LedgerFiles(directory: directory)
    try named.prepare()
    let files = try named.resolved()
    let lease = try Lease(path: files.lease, app: options.app, now: options.clock())
    let marked = HeadMark.read(path: files.headMark)
    let connection = try openDatabase(files, marked)
    let writer = try LogWriter(files: files, connection: connection, clock: options.clock)
    try announce(options, lost: lostTail(marked, connection, writer.head), writer)
    let reader = try await LedgerReader.open(files.directory)
    return OpenedLedger(
      files: files, lease: lease, writer: writer, reader: reader, launch: writer.launch)
  }

  private static func openDatabase(
    _ files: LedgerFiles, _ marked: HeadMark.Reading
  ) throws(LedgerError) -> Connection {
    let file = try files.databaseFile()
    if file != .present, marked != .absent {
      throw LedgerError(
        .corrupt,
        "\(files.database) is \(file == .absent ? "gone" : "empty"), but its head mark"
          + " says that it held events",
        remedy: "restore it from a copy; to begin anew, use another folder")
    }
    if file == .absent { try files.createDatabase() }
    // Looked at by a reader first: a writer's settings would change what is not ours.
    _ = try version(files, access: .reader)
    let (connection, version) = try version(files, access: .writer)
    do {
      try Migrator.migrate(connection, from: version)
      try ProjectionRunner.bringUp(connection)
    } catch {
      throw LedgerError(error, doing: "bringing \(files.database) up to date")
    }
    return connection
  }

  /// Opens the database and gives its format, 0 for an empty one; refuses what we cannot write.
  private static func version(
    _ files: LedgerFiles, access: Connection.Access
  ) throws(LedgerError) -> (Connection, Int64) {
    let connection: Connection
    let format: Migrator.Format
    do {
      connection = try Connection(path: files.database, access: access)
      format = try Migrator.format(of: connection)
    } catch {
      throw LedgerError(
        opening: files.database, error,
        hasHeadMark: HeadMark.read(path: files.headMark) != .absent)
    }
    switch format {
    case .empty: return (connection, 0)
    case .foreign: throw LedgerError.foreign(files.database)
    case .ledger(let version) where version > Migrator.newestVersion: throw newer(files, version)
    case .ledger(let version): return (connection, version)
    }
  }

  static func newer(_ files: LedgerFiles, _ version: Int64) -> LedgerError {
    LedgerError(
      .newerFormat,
      "\(files.database) has format \(version); this version writes \(Migrator.newestVersion)",
      remedy: "update Waybill; reading it still works")
  }

  /// The fact that events are missing, when the head mark knows of more than the log has.
  private static func lostTail(
    _ marked: HeadMark.Reading, _ connection: Connection, _ head: GlobalPosition
  ) throws(LedgerError) -> TailLost? {
    guard case .mark(let mark) = marked, mark.position != .start else { return nil }
    if mark.position <= head {
      do {
        let statement = try connection.prepare("SELECT chain FROM events WHERE position = ?")
        statement.bind(1, mark.position.value)
        let chain = try statement.firstRow { ContentHash($0.bytes(0)) } ?? nil
        if chain == mark.chain { return nil }
      } catch {
        throw LedgerError(error, doing: "comparing the log with its head mark")
      }
    }
    return TailLost(markedPosition: mark.position, lastPosition: head)
  }

  private static func announce(
    _ options: LedgerOptions, lost: TailLost?, _ writer: LogWriter
  ) throws(LedgerError) {
    var drafts: [EventDraft] = []
    if let lost { drafts.append(EventDraft(.tailLost(lost), cause: .launch)) }
    let launched = Launched(
      mode: options.mode, generation: writer.launch, app: options.app,
      sqlite: Connection.libraryVersion)
    drafts.append(EventDraft(.launched(launched), cause: .launch))
    let request = AppendRequest(upload: nil, expected: .any, drafts: drafts, ids: nil)
    _ = try writer.commit([request])[0].get()
    writer.checkpoint(truncate: true)
  }
}
