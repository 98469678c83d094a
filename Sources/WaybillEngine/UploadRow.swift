public import Observation
internal import WaybillLedger
public import WaybillModel

/// One upload of a list on a screen. A change of one row is seen by whoever shows that row alone.
///
/// Rows belong to their `UploadsModel`, which keeps them current while it follows the ledger.
@MainActor @Observable
public final class UploadRow: nonisolated Identifiable {
  /// The upload.
  public nonisolated let id: UploadID
  private var row: QueueRow
  private let surroundings: Surroundings
  /// The batch it was last counted in.
  @ObservationIgnored var counted: Int?

  init(_ row: QueueRow, in surroundings: Surroundings) {
    id = row.upload.id
    self.row = row
    self.surroundings = surroundings
  }

  /// The person's name for the file on one line, with what could deceive the eye spelled out.
  public var name: String { row.upload.fileName.display }

  /// The length of the file in bytes.
  public var byteCount: Int64 { row.upload.byteCount }

  /// The position of its first event; it gives the order of adding.
  var added: GlobalPosition { row.added }

  /// The six-state view of it; nil once it was given up.
  public var state: UploadState? { row.evidence }

  /// What it waits for: by itself, or with all others.
  public var waiting: Waiting? {
    if case .waiting(let own) = row.upload.state { return own }
    return surroundings.waiting
  }

  /// What to say of it.
  public var copy: StateCopy {
    StateCopy(state, waiting: waiting, verifyingSince: row.verifyingSince)
  }

  /// Acknowledged bytes and those of parts in flight that were handed to the network.
  public var bytesSent: Int64 { row.upload.bytesSent }

  /// Bytes the server acknowledged.
  public var bytesConfirmed: Int64 { row.bytesConfirmed }

  /// How far its bytes are, from 0 to 1; 1 only once the server has committed it.
  public var fraction: Double {
    if isCommitted { return 1 }
    guard byteCount > 0 else { return 0 }
    return min(Double(bytesSent) / Double(byteCount), 0.99)
  }

  /// Whether the server has bound it to its record.
  public var isCommitted: Bool { state?.word == .committed }

  /// Whether a person can give it up.
  public var canCancel: Bool { state != nil && !isCommitted }

  /// Whether trying again now would change anything.
  public var canRetry: Bool {
    switch state {
    case .needsAttention: true
    case .queued(let waiting?): waiting.reason != .paused
    default: false
    }
  }

  /// Whether a person can hold it back.
  public var canPause: Bool {
    switch state {
    case .queued(let waiting): waiting?.reason != .paused
    case .sending: true
    case .savedLocally, .verifying, .committed, .needsAttention, nil: false
    }
  }

  /// Whether a person holds it back.
  public var canResume: Bool {
    if case .queued(let waiting?) = state { waiting.reason == .paused } else { false }
  }

  var share: UploadShare? {
    UploadShare(state, total: byteCount, confirmed: bytesConfirmed, sent: bytesSent)
  }

  /// Takes what is known now; nobody is told where it is what was known before.
  func take(_ newer: QueueRow) {
    var newer = newer
    // Verifying began when it was first seen to: a later word of the server does not begin it anew.
    if row.evidence == .verifying, newer.evidence == .verifying {
      newer = newer.verifying(since: row.verifyingSince ?? newer.verifyingSince)
    }
    if newer != row { row = newer }
  }
}

/// What holds up every row at once, so that one change of it is one change.
@MainActor @Observable
final class Surroundings {
  private(set) var waiting: Waiting?

  func take(_ now: Waiting?) {
    if waiting != now { waiting = now }
  }
}

extension QueueRow {
  fileprivate func verifying(since: Timestamp?) -> QueueRow {
    QueueRow(
      upload: upload, evidence: evidence, added: added, bytesConfirmed: bytesConfirmed,
      verifyingSince: since)
  }
}
