public import WaybillLedger
internal import WaybillModel
internal import WaybillSystem
internal import WaybillTrace

/// Why uploads could not be archived or purged; what was not moved is still in the log.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is; an open list.
  public struct Code: Hashable, Sendable {
    /// The stable word of the code.
    public let word: String

    private init(_ word: String) { self.word = word }

    /// The ledger could not do it; `ledger` says why.
    public static let ledger = Code("ledger")
    /// The disk is full.
    public static let diskFull = Code("disk_full")
    /// A file of the archive could not be written, named or removed.
    public static let file = Code("file")
    /// A segment is missing, or not what was recorded of it.
    public static let damagedSegment = Code("damaged_segment")
    /// The log does not hold what was to move.
    public static let changed = Code("changed")
  }

  /// What kind of failure it is.
  public let code: Code
  /// What is wrong and where, on one line.
  public let message: String
  /// What to do next, on one line.
  public let remedy: String
  /// The failure of the ledger, where it is one.
  public let ledger: LedgerError?
  /// The upload that no segment can hold, where that is the failure.
  let upload: UploadID?

  init(_ code: Code, _ message: String, remedy: String, upload: UploadID? = nil) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.upload = upload
    ledger = nil
  }

  init(_ error: LedgerError) {
    code = .ledger
    message = error.message
    remedy = error.remedy
    ledger = error
    upload = nil
  }

  init(_ error: TraceError, upload: UploadID? = nil) {
    self.init(
      error.code == .diskFull ? .diskFull : .file, error.message, remedy: error.remedy,
      upload: upload)
  }

  init(_ error: SystemError, doing work: String) {
    self.init(
      .file, "cannot \(work): \(error.text)", remedy: "check the folder, its owner and the disk")
  }

  /// An event of the log is not the one that was recorded there.
  static func changed(_ position: GlobalPosition) -> ArchiveError {
    ArchiveError(
      .changed, "event \(position.value) is not what was recorded, so nothing was moved",
      remedy: "run 'waybill verify' on the ledger, and keep a copy of its folder")
  }

  /// Message and remedy on one line.
  public var description: String { "\(message); \(remedy)" }

  /// Runs work on a ledger and gives its errors this form.
  static func from<T>(
    _ work: () async throws(LedgerError) -> sending T
  ) async throws(ArchiveError) -> sending T {
    do {
      return try await work()
    } catch {
      throw ArchiveError(error)
    }
  }
}
