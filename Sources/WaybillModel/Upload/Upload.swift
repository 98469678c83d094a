/// Everything the log says about one upload, folded. The only state `decide` and the planner see.
public struct Upload: Equatable, Sendable {
  /// The upload.
  public let id: UploadID
  /// The revision of its stream up to which it is folded.
  public internal(set) var revision = StreamRevision.none
  /// The position of its first event; it gives the order of adding.
  public internal(set) var firstPosition = GlobalPosition.start
  /// The position of its newest event.
  public internal(set) var lastPosition = GlobalPosition.start
  /// When its newest event was recorded.
  public internal(set) var changed = Timestamp(microseconds: 0)

  /// The staged copy, once there is one.
  public internal(set) var copy: Exported?
  /// When the staged copy was recorded; a copy changed after that is suspect.
  public internal(set) var copyRecorded = Timestamp(microseconds: 0)
  /// The event by which the copy was deleted.
  public internal(set) var copyReleased: GlobalPosition?
  /// The SHA-256 of the copy.
  public internal(set) var hash: ContentHash?
  /// What it is meant to become, once that is durable.
  public internal(set) var intent: Intent?
  /// Whether the parts are sent one after the other, to a server that owns the offset; told by the
  /// destination, and kept because the fold of every part asks for it.
  public internal(set) var isSequential = false

  /// The server's session, while there is one.
  public internal(set) var session: Session?
  /// One entry for each part of the session; empty without a session.
  public internal(set) var parts: [PartProgress] = []
  /// The highest attempt number of earlier sessions: attempts of this one begin behind it.
  public internal(set) var attemptFloor = 0
  /// Sessions that expired one after the other without a byte confirmed in between.
  public internal(set) var barrenSessions = 0
  /// How often a session has been opened.
  public internal(set) var sessionsOpened = 0
  /// How often the server went back on what it had confirmed.
  public internal(set) var regressions = 0

  /// The event that says the server holds every byte.
  public internal(set) var received: GlobalPosition?
  /// The event that says the server's hash equals ours.
  public internal(set) var verified: GlobalPosition?
  /// What its next step waits for, since the upload last moved on.
  public internal(set) var delay: Delay?
  /// The record's version after a refused commit.
  public internal(set) var conflict: Int64?
  /// How it ended, once it has.
  public internal(set) var ending: Ending?
  /// Why it cannot go on by itself, while that is so.
  public internal(set) var attention: Attention?
  /// The event by which a person holds it back.
  public internal(set) var paused: GlobalPosition?
  /// How often it has been retried.
  public internal(set) var round = 0
  /// The revision of the newest retry; the server is asked before anything else follows it.
  public internal(set) var retried: StreamRevision?

  /// Makes an upload without events.
  public init(id: UploadID) { self.id = id }

  /// How an upload ended.
  public enum Ending: Equatable, Sendable {
    /// Available everywhere.
    case committed(Committed)
    /// The same bytes are queued or stored under another name.
    case deduplicated(Deduplicated.Original)
    /// Given up.
    case cancelled(CancelReason)
  }

  /// The server's session as the log knows it.
  public struct Session: Equatable, Sendable {
    /// The server's name for it.
    public let reference: SessionReference
    /// How the bytes are cut.
    public let plan: PartPlan
    /// When it ends by itself.
    public let expires: Timestamp?
    /// The event that opened it.
    public let opened: GlobalPosition
    /// The launch that opened it; a later one asks for its status before it sends anything.
    public let launch: LaunchGeneration
  }

  /// Why an upload cannot go on by itself.
  public struct Attention: Equatable, Sendable {
    /// Why.
    public let reason: AttentionReason
    /// What a person can do, best first.
    public let actions: [NextAction]
    /// The event that says so.
    public let position: GlobalPosition
  }

  /// Why and until when a step other than sending is put off.
  public struct Delay: Equatable, Sendable {
    /// How the last try failed.
    public let failure: FailureKind
    /// How many tries have failed since the upload last moved on.
    public let attempt: Int
    /// The earliest moment of the next step, whichever it is.
    public let until: Timestamp
  }

  /// What the log says about one part.
  public struct PartProgress: Equatable, Sendable {
    /// Bytes the server acknowledged.
    public internal(set) var confirmed: Int64 = 0
    /// The event of the acknowledgement.
    public internal(set) var confirmedAt: GlobalPosition?
    /// Bytes from its beginning that the server took whole as they were sent. A digest covers what
    /// is sent at once, so that nobody has checked a piece the server kept of it.
    public internal(set) var checked: Int64 = 0
    /// The byte of the part the newest attempt of this session began at.
    var sentFrom: Int64?
    /// The attempt in flight, if one is.
    public internal(set) var flight: Flight?
    /// The number of the newest attempt.
    public internal(set) var attempt: Int
    /// Whether the server went back on the part in this session: then only the attempt in flight is
    /// believed, since what any other claims may be older than the revocation.
    public internal(set) var isDoubted = false
    /// Failures that used up one of the bounded attempts.
    public internal(set) var failures = 0
    /// Failures in a row for which the server asked for time or room; they are bounded as well.
    public internal(set) var postponements = 0
    /// Failures in a row, charged or not; they set the pace of the next attempt.
    public internal(set) var setbacks = 0
    /// How the newest attempt failed, if it did.
    public internal(set) var failure: FailureKind?
    /// The revision at which it failed.
    public internal(set) var failed = StreamRevision.none
    /// The earliest moment of the next attempt.
    public internal(set) var notBefore: Timestamp?

    /// Whether the server may hold it although nobody has said so, or may not know the session:
    /// only its account tells.
    ///
    /// - Parameter isSequential: whether the server may keep what came before any failure.
    func isOutcomeOpen(isSequential: Bool) -> Bool {
      guard flight == nil, let failure else { return false }
      return switch failure {
      case .interrupted, .sessionUnknown, .offsetMoved: true
      default: isSequential
      }
    }
  }

  /// A part on its way.
  public struct Flight: Equatable, Sendable {
    /// The attempt.
    public let attempt: Int
    /// The launch that sent it.
    public let launch: LaunchGeneration
    /// The event that announced it.
    public let position: GlobalPosition
  }
}

// MARK: Derived answers

extension Upload {
  /// The length of the file in bytes; 0 before a copy exists.
  public var byteCount: Int64 { copy?.byteCount ?? 0 }

  /// Whether the part needs no more bytes.
  public func isConfirmed(_ part: PartNumber) -> Bool {
    guard let plan = session?.plan, parts.indices.contains(part.index) else { return false }
    return parts[part.index].confirmed >= plan.byteCount(of: part)
  }

  /// The bytes of the file a part has to carry now; nil without a session or for a part it does not
  /// have.
  public func unsent(_ part: PartNumber) -> (offset: Int64, count: Int64)? {
    guard let plan = session?.plan, parts.indices.contains(part.index) else { return nil }
    let held = isSequential ? parts[part.index].confirmed : 0
    return (plan.offset(of: part) + held, plan.byteCount(of: part) - held)
  }

  /// Whether the server took every byte of the part in whole attempts.
  public func isChecked(_ part: PartNumber) -> Bool {
    guard let plan = session?.plan, parts.indices.contains(part.index) else { return false }
    return isConfirmed(part) && parts[part.index].checked >= plan.byteCount(of: part)
  }

  /// The first part that needs bytes; nil when there is none.
  var firstUnconfirmed: PartNumber? {
    parts.indices.lazy.map(PartNumber.init).first { !isConfirmed($0) }
  }

  /// Whether every part of the session is confirmed; true at once for an empty file.
  public var allPartsConfirmed: Bool {
    session != nil && parts.indices.allSatisfy { isConfirmed(PartNumber($0)) }
  }

  /// Bytes the server acknowledged: all once it holds every byte, never more than there are.
  public var confirmedBytes: Int64 {
    if received != nil { return byteCount }
    if case .committed = ending { return byteCount }
    return min(parts.reduce(0) { $0 + $1.confirmed }, byteCount)
  }

  /// Bytes of the parts on their way that the server has not acknowledged; together with
  /// `confirmedBytes` never more than there are.
  public var bytesInFlight: Int64 {
    guard let plan = session?.plan, ending == nil else { return 0 }
    let sum: Int64 = parts.indices.reduce(0) { sum, index in
      let part = parts[index]
      return part.flight == nil
        ? sum : sum + plan.byteCount(of: PartNumber(index)) - part.confirmed
    }
    return min(sum, byteCount - confirmedBytes)
  }

  /// Whether the server acknowledged nothing in this session beyond what it held at the opening. An
  /// empty file has nothing to acknowledge.
  var isSessionBarren: Bool {
    guard let session else { return false }
    return !parts.contains { $0.confirmedAt.map { $0 > session.opened } ?? false }
  }

  /// The parts on their way, as the transport describes them.
  public var flights: [TransferDescription] {
    parts.indices.compactMap { index in
      parts[index].flight.map { description(of: $0, part: PartNumber(index)) }
    }
  }

  /// A flight as the transport describes it.
  func description(of flight: Flight, part: PartNumber) -> TransferDescription {
    TransferDescription(upload: id, part: part, attempt: flight.attempt, launch: flight.launch)
  }
}
