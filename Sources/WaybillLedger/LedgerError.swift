internal import WaybillModel
internal import WaybillSQLite

/// Why a call to the ledger did not do what was asked, and what is true now.
public struct LedgerError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is; an open list, so keep a default when you switch over it.
  public struct Code: Hashable, Sendable {
    /// The stable word of the code.
    public let word: String

    private init(_ word: String) { self.word = word }

    /// There is no ledger at that place.
    public static let notFound = Code("not_found")
    /// Another process owns the ledger.
    public static let busy = Code("busy")
    /// The ledger was written by a newer version.
    public static let newerFormat = Code("newer_format")
    /// The file is no ledger of ours.
    public static let foreignFile = Code("foreign_file")
    /// The database, or a file beside it, is damaged.
    public static let corrupt = Code("corrupt")
    /// The files cannot be used as they are: permissions, a link, a folder in place of a file.
    public static let unusable = Code("unusable")
    /// The disk is full.
    public static let diskFull = Code("disk_full")
    /// Reading or writing failed.
    public static let inputOutput = Code("input_output")
    /// The stream is not at the revision the caller expected.
    public static let conflict = Code("conflict")
    /// A batch names some event ids that are known and some that are not.
    public static let halfKnown = Code("half_known")
    /// Another live upload has the same bytes.
    public static let duplicateContent = Code("duplicate_content")
    /// The upload whose bytes another one was said to repeat has been given up.
    public static let originalGone = Code("original_gone")
    /// The database is no longer the file that was opened: removed, renamed, replaced or linked.
    public static let replaced = Code("replaced")
    /// The ledger's uploads go to another service.
    public static let otherDestination = Code("other_destination")
    /// The ledger belongs to another account.
    public static let otherAccount = Code("other_account")
    /// The account of the ledger has signed out here.
    public static let sealed = Code("sealed")
    /// An upload that has not ended cannot be removed.
    public static let notEnded = Code("not_ended")
    /// The beginning of the stream is in a segment, so the log cannot tell whether it knows these
    /// event ids.
    public static let archived = Code("archived")
    /// The ledger has been closed.
    public static let closed = Code("closed")
  }

  /// What became of a write that failed.
  public enum Outcome: String, Sendable {
    /// Nothing was written.
    case notWritten = "not_written"
    /// Everything was written.
    case written
    /// It may have been written: reopen, read the revision, decide again.
    case indeterminate
  }

  /// What kind of failure it is.
  public let code: Code
  /// What is wrong and where, on one line.
  public let message: String
  /// What to do next, on one line; empty when there is nothing to do.
  public let remedy: String
  /// What became of the write.
  public let outcome: Outcome

  init(_ code: Code, _ message: String, remedy: String = "", outcome: Outcome = .notWritten) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.outcome = outcome
  }

  /// Message and remedy on one line.
  public var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }

  /// The error behind a failed SQLite call.
  init(_ error: SQLiteError, doing work: String, outcome: Outcome = .notWritten) {
    let text = "\(work) failed: \(error.message) (SQLite \(error.code.rawValue))"
    // The index of the write-ahead log could not grow, which on a sound disk means a full one.
    let isFull = error.code == .noRoomForIndex
    switch isFull ? .full : error.code.primary {
    case .full:
      self.init(
        .diskFull, text, remedy: "free some space; nothing that was recorded is lost",
        outcome: outcome)
    case .corrupt:
      self.init(
        .corrupt, text, remedy: "copy the ledger folder, then run 'waybill verify' on it",
        outcome: outcome)
    case .notADatabase:
      self.init(
        .foreignFile, text, remedy: "name a ledger folder, or another path", outcome: outcome)
    case .busy, .locked:
      self.init(
        .busy, text, remedy: "another process holds the database; try again", outcome: outcome)
    case .readOnly, .permission, .cannotOpen, .authorization:
      self.init(
        .unusable, text, remedy: "check the owner and the mode of the ledger folder",
        outcome: outcome)
    default:
      self.init(
        .inputOutput, text, remedy: "check the disk, then open the ledger again",
        outcome: outcome)
    }
  }

  /// The error behind a database that cannot be opened. A file that is no database is foreign,
  /// unless a head mark beside it says that it was a ledger: then it is damaged.
  init(opening database: String, _ error: SQLiteError, hasHeadMark: Bool) {
    let work = "opening \(EscapedText.escape(database))"
    guard error.code.primary == .notADatabase, hasHeadMark else {
      self.init(error, doing: work)
      return
    }
    self.init(
      .corrupt, "\(work) failed: its head mark says that it held events, but it is no database now",
      remedy: "keep a copy of the folder, then restore the database from a backup")
  }

  /// A database file that was exchanged under an open ledger.
  static func replaced(_ files: LedgerFiles, outcome: Outcome = .notWritten) -> LedgerError {
    LedgerError(
      .replaced,
      "\(EscapedText.escape(files.database)) is no longer the file that was opened: it was removed,"
        + " renamed, linked or replaced",
      remedy: "put the file back with what lies beside it, then open the ledger again",
      outcome: outcome)
  }

  /// A database that is none of ours.
  static func foreign(_ database: String) -> LedgerError {
    LedgerError(
      .foreignFile,
      "\(EscapedText.escape(database)) is a database, but not a Waybill ledger",
      remedy: "name another place with --ledger")
  }
}
