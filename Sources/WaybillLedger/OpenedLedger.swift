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
  /// The account the ledger is opened for, by any name that is the account's for ever; nil leaves
  /// it open. See `Ledger.assign(to:)`.
  public var account: String?
  /// Where recorded times come from.
  public var clock: @Sendable () -> Timestamp
  /// The formats that are known, oldest first.
  package var migrator = Migrator.standard

  /// Makes options; the clock is the system's by default.
  public init(
    app: String = "waybill", mode: Launched.Mode = .foreground, account: String? = nil,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now }
  ) {
    self.app = app
    self.mode = mode
    self.account = account
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
    let writer: LogWriter
    do throws(LedgerError) {
      writer = try openWriter(files, options)
    } catch {
      // A person has to get in to free some space, and the log must say that the launch happened.
      guard error.code == .diskFull, Reserve.release(files) else { throw error }
      writer = try openWriter(files, options)
    }
    let reader = try await LedgerReader.open(files.directory)
    return OpenedLedger(
      files: files, lease: lease, writer: writer, reader: reader, launch: writer.launch)
  }

  private static func openWriter(
    _ files: LedgerFiles, _ options: LedgerOptions
  ) throws(LedgerError) -> LogWriter {
    let marked = HeadMark.read(path: files.headMark)
    let (connection, identity) = try openDatabase(files, marked, options.migrator)
    let writer = try LogWriter(
      files: files, connection: connection, identity: identity, clock: options.clock)
    try announce(options, lost: lostTail(marked, connection, writer.head), writer)
    return writer
  }

  private static func openDatabase(
    _ files: LedgerFiles, _ marked: HeadMark.Reading, _ migrator: Migrator
  ) throws(LedgerError) -> (Connection, FileIdentity) {
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
    let identity = FileIdentity(files.database)
    _ = try version(files, migrator, access: .reader)
    let (connection, version) = try version(files, migrator, access: .writer)
    guard let identity, identity == FileIdentity(files.database) else {
      connection.leaveLogAtClose()
      throw LedgerError.replaced(files)
    }
    try migrator.migrate(connection, from: version, files)
    do {
      try ProjectionRunner.bringUp(connection)
    } catch {
      throw LedgerError(error, doing: "bringing \(files.database) up to date")
    }
    return (connection, identity)
  }

  /// Opens the database and gives its format, 0 for an empty one; refuses what we cannot write.
  private static func version(
    _ files: LedgerFiles, _ migrator: Migrator, access: Connection.Access
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
    case .ledger(let version) where version > migrator.newestVersion:
      throw LedgerError(
        .newerFormat,
        "\(files.database) has format \(version); this version writes \(migrator.newestVersion)",
        remedy: "update Waybill; reading it still works")
    case .ledger(let version): return (connection, version)
    }
  }

  /// The fact that events are missing, when the head mark knows of more than the log has.
  private static func lostTail(
    _ marked: HeadMark.Reading, _ connection: Connection, _ head: GlobalPosition
  ) throws(LedgerError) -> TailLost? {
    guard case .mark(let mark) = marked, mark.position != .start else { return nil }
    if mark.position <= head {
      do {
        if try connection.knows(mark, hasRanges: true) { return nil }
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
