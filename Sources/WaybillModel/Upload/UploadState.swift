/// The six-state view: what can be said of an upload from the evidence in the log.
public enum UploadState: Equatable, Sendable {
  /// A durable copy exists; nothing says yet where it shall go.
  case savedLocally
  /// Intent is durable; nothing is on its way.
  case queued(Waiting?)
  /// Parts are on their way or acknowledged, not all of them yet. Counts are in bytes.
  case sending(confirmed: Int64, inFlight: Int64, total: Int64)
  /// The server holds every byte and has not yet bound the object to its record.
  case verifying
  /// Available everywhere.
  case committed(RemoteID)
  /// Automatic recovery cannot go on.
  case needsAttention(AttentionReason, [NextAction])

  /// The stable word of the state.
  public var word: StateWord {
    switch self {
    case .savedLocally: .savedLocally
    case .queued: .queued
    case .sending: .sending
    case .verifying: .verifying
    case .committed: .committed
    case .needsAttention: .needsAttention
    }
  }
}

/// The words of the six states, and of the two ends that leave the view.
public enum StateWord: String, Sendable, CaseIterable {
  /// A durable copy exists.
  case savedLocally = "saved_locally"
  /// Intent is durable.
  case queued
  /// Bytes are moving.
  case sending
  /// The server holds every byte.
  case verifying
  /// Available everywhere.
  case committed
  /// A person has to decide.
  case needsAttention = "needs_attention"
  /// Given up; left the view.
  case cancelled
  /// The same bytes are known under another name; left the view.
  case deduplicated
}

/// What a queued upload waits for.
public struct Waiting: Hashable, Sendable {
  /// The reasons an upload can wait for.
  public enum Reason: String, Sendable, CaseIterable {
    /// The server cannot be reached.
    case offline
    /// The next attempt is scheduled.
    case retrying
    /// The server does not accept the credential.
    case credentials
    /// The account has no room.
    case quota
    /// A person holds it back.
    case paused
    /// The ledger is sealed: its account is signed out here.
    case sealed
    /// The network costs, and a rule of the person wants one that does not.
    case wifi
    /// The system saves data.
    case lowData = "low_data"
    /// The device runs on battery.
    case charger
    /// The system saves power.
    case batterySaver = "battery_saver"
    /// It is outside the times of day in which a rule of the person lets uploads go.
    case window
    /// This device has no room left.
    case disk

    /// Whether it is a rule of the person that is waited for; see `SendingPolicy`.
    public var isRule: Bool {
      switch self {
      case .wifi, .lowData, .charger, .batterySaver, .window: true
      case .offline, .retrying, .credentials, .quota, .paused, .sealed, .disk: false
      }
    }

    /// Whether it is this device that is waited for: a rule of the person about it, or its disk.
    var isOfDevice: Bool { isRule || self == .disk }
  }

  /// Why.
  public let reason: Reason
  /// Until when at the earliest, where that is known.
  public let until: Timestamp?

  /// Makes a wait from its reason and its end.
  public init(_ reason: Reason, until: Timestamp? = nil) {
    self.reason = reason
    self.until = until
  }
}

extension Upload {
  /// The state of the six-state view; nil once the upload has left it.
  public var state: UploadState? {
    switch ending {
    case .committed(let committed): return .committed(committed.remote)
    case .cancelled, .deduplicated: return nil
    case nil: break
    }
    if let attention { return .needsAttention(attention.reason, attention.actions) }
    guard intent != nil else { return copy == nil ? nil : .savedLocally }
    let isWhole = received != nil || (session != nil && allPartsConfirmed)
    if isWhole, paused == nil { return .verifying }
    if let waiting { return .queued(waiting) }
    let confirmed = confirmedBytes
    let inFlight = bytesInFlight
    if confirmed == 0, inFlight == 0 { return .queued(nil) }
    return .sending(confirmed: confirmed, inFlight: inFlight, total: byteCount)
  }

  /// The state's word, also after the upload has left the view; nil before there is a copy.
  public var stateWord: StateWord? {
    switch ending {
    case .cancelled: .cancelled
    case .deduplicated: .deduplicated
    default: state?.word
    }
  }

  /// What the upload itself waits for; conditions that hold for all are not looked at here. A
  /// commit that the server has under way is waited for, but holds nothing up.
  public var waiting: Waiting? {
    guard ending == nil, attention == nil, intent != nil else { return nil }
    if paused != nil { return Waiting(.paused) }
    if parts.contains(where: { $0.flight != nil }) { return nil }
    if let delay, delay.failure != .inProgress {
      return Waiting(Waiting.Reason(delay.failure), until: delay.until)
    }
    guard received == nil else { return nil }
    var earliest: Waiting?
    for index in parts.indices where !isConfirmed(PartNumber(index)) {
      guard let notBefore = parts[index].notBefore else { return nil }
      if let known = earliest?.until, known <= notBefore { continue }
      earliest = Waiting(Waiting.Reason(parts[index].failure), until: notBefore)
    }
    return earliest
  }
}

extension Upload {
  /// The earliest moment at which there is something to do, where one is set.
  public var notBefore: Timestamp? { delay?.until ?? waiting?.until }
}

extension Waiting.Reason {
  init(_ failure: FailureKind?) {
    switch failure {
    case .offline: self = .offline
    case .credentials: self = .credentials
    case .quota: self = .quota
    default: self = .retrying
    }
  }
}
