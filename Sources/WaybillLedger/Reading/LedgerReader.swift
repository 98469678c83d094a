internal import WaybillModel
internal import WaybillSQLite
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Reads a ledger without ever writing to it, also while another process appends.
///
/// Every read is a short transaction of its own and long answers come in pages, so a reader never
/// keeps the write-ahead log from being copied into the database.
public actor LedgerReader {
  nonisolated private let executor = QueueExecutor(label: "waybill.ledger.reader")

  /// Runs the actor on its own queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// The largest page any read gives.
  public static let maximumPage = 1000

  /// The path that was opened.
  public nonisolated let path: String
  /// The format of the ledger; a newer one than this code writes is readable as far as it is known.
  public nonisolated let formatVersion: Int64
  nonisolated let files: LedgerFiles?
  private var connection: Connection?

  private init(path: String, files: LedgerFiles?, connection: Connection, formatVersion: Int64) {
    self.path = path
    self.files = files
    self.connection = connection
    self.formatVersion = formatVersion
  }

  /// Opens a ledger folder or a `.sqlite` file for reading.
  ///
  /// - Throws: `LedgerError`: `notFound`, `foreignFile`, `corrupt`, `unusable`.
  @concurrent
  public static func open(_ path: String) async throws(LedgerError) -> LedgerReader {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw LedgerError(
        .notFound, "there is no ledger at \(EscapedText.escape(path))",
        remedy: "name one with --ledger, or make one with 'waybill push' or 'waybill add'")
    }
    let files = status.st_mode & S_IFMT == S_IFDIR ? LedgerFiles(directory: path) : nil
    let database = files?.database ?? path
    if files != nil, stat(database, &status) != 0 {
      throw LedgerError(
        .notFound, "there is no ledger in \(EscapedText.escape(path))",
        remedy: "name one with --ledger, or make one with 'waybill push' or 'waybill add'")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw LedgerError(
        .unusable, "\(EscapedText.escape(database)) is not a plain file",
        remedy: "name a ledger folder or a .sqlite file")
    }
    let hasHeadMark = files.map { HeadMark.read(path: $0.headMark) != .absent } ?? false
    guard status.st_size > 0 else {
      throw hasHeadMark
        ? LedgerError(
          .corrupt,
          "\(EscapedText.escape(database)) is empty, but its head mark says that it held events",
          remedy: "restore it from a copy")
        : LedgerError(
          .notFound, "\(EscapedText.escape(database)) is empty: nothing was ever recorded there",
          remedy: "make a ledger with 'waybill push' or 'waybill add'")
    }
    let connection = try connect(resolved(database), hasHeadMark: hasHeadMark)
    do {
      switch try Migrator.format(of: connection) {
      case .ledger(let version):
        return LedgerReader(
          path: path, files: files, connection: connection, formatVersion: version)
      case .empty, .foreign: break
      }
    } catch {
      throw LedgerError(opening: database, error, hasHeadMark: hasHeadMark)
    }
    throw LedgerError.foreign(database)
  }

  /// Opens the database as it can be opened: beside a writer where the folder can be written,
  /// untouched where it cannot and no write-ahead log is left to be read.
  private static func connect(
    _ database: String, hasHeadMark: Bool
  ) throws(LedgerError) -> Connection {
    do {
      let connection = try Connection(path: database, access: .reader)
      _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
      return connection
    } catch {
      var status = stat()
      let hasLog = stat(database + "-wal", &status) == 0 && status.st_size > 0
      let isClosedToUs = [ResultCode.readOnly, .cannotOpen].contains(error.code.primary)
      if isClosedToUs, !hasLog, let untouched = try? Connection(path: database, access: .immutable)
      {
        return untouched
      }
      throw LedgerError(opening: database, error, hasHeadMark: hasHeadMark)
    }
  }

  /// The path with links resolved, since SQLite is told to follow none.
  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Ends reading; further reads throw `closed`.
  public func close() { connection = nil }

  /// Runs one read and gives its failure the house's words.
  func read<T>(
    _ work: String, _ body: (Connection) throws(SQLiteError) -> T
  ) throws(LedgerError) -> T {
    guard let connection else {
      throw LedgerError(.closed, "the ledger has been closed", remedy: "open it again")
    }
    do {
      return try body(connection)
    } catch {
      throw LedgerError(error, doing: work)
    }
  }

  /// Who holds the lease right now, in words; nil when nobody does.
  public nonisolated var owner: String? { files.flatMap { Lease.holder(path: $0.lease) } }

  /// The head mark beside the log; `absent` for a database without a folder.
  nonisolated var headMark: HeadMark.Reading {
    files.map { HeadMark.read(path: $0.headMark) } ?? .absent
  }

  /// The folder of the segments that ended uploads have moved into; nil for a database without a
  /// folder.
  public nonisolated var archiveDirectory: String? { files?.archive }

  /// The file that is touched after each commit, for whoever wants to be told of changes; nil for
  /// a database without a folder.
  public nonisolated var changeFile: String? { files?.headMark }
}
