internal import WaybillLedger
internal import WaybillModel

/// States and reasons in a person's words.
extension Waiting.Reason {
  var words: String {
    switch self {
    case .offline: "server out of reach"
    case .retrying: "next attempt"
    case .credentials: "sign-in"
    case .quota: "room in the account"
    case .paused: "paused"
    case .sealed: "signed out"
    case .wifi: "Wi-Fi"
    case .lowData: "Low Data Mode to end"
    case .charger: "charger"
    case .batterySaver: "battery saver to end"
    case .window: "its time of day"
    case .disk: "room on this device"
    }
  }
}

extension Waiting.Reason {
  /// What everything waits for, and what a person can do, as the end of a sentence.
  var sentence: String {
    switch self {
    case .offline: "the server was out of reach; 'waybill push' tries again"
    case .credentials: "the server did not accept the credential; push with a valid token"
    case .sealed: "the ledger is sealed; sign in to its account again"
    case .wifi: "the network is metered, and the push was to send over Wi-Fi or cable only"
    case .lowData: "the system saves data, and the push was not to send then"
    case .charger: "the device runs on battery, and the push was to send on a charger only"
    case .batterySaver: "the system saves power, and the push was not to send then"
    case .window: "the push was to send at another time of day"
    case .disk: "this device has no room left; make some"
    case .retrying, .quota, .paused: words
    }
  }
}

extension AttentionReason {
  var words: String {
    switch self {
    case .hashMismatch: "server holds other bytes"
    case .sourceMissing: "local copy is gone"
    case .sourceChanged: "local copy has changed"
    case .accessRevoked: "access was revoked"
    case .serverInconsistent: "server keeps losing parts"
    case .refused: "server refuses it"
    case .tooLarge: "too large for the server"
    case .quota: "account is full"
    case .conflict: "record has moved on"
    case .attemptsExhausted: "too many failed attempts"
    case .protocolViolation: "server breaks the protocol"
    case .notOurServer: "something else answers for the server"
    case .serverUnfinished: "server does not finish"
    case .unproven: "server proves nothing"
    case .recordUnreadable: "its record is damaged"
    }
  }
}

extension NextAction {
  var words: String {
    switch self {
    case .retry: "retry it"
    case .cancel: "cancel it"
    case .addAgain: "add the file again"
    case .signIn: "sign in again"
    case .freeSpace: "make room in the account"
    case .resolveConflict: "choose between the versions"
    case .askSupport: "ask support"
    }
  }
}

extension UploadState {
  /// The state of the six-state view in a sentence.
  func words(_ times: TimeText) -> String {
    switch self {
    case .savedLocally: return "saved locally"
    case .queued(nil): return "queued"
    case .queued(let waiting?):
      let until = waiting.until.map { ", not before \(times.full($0))" } ?? ""
      return "queued, waiting: \(waiting.reason.words)\(until)"
    case .sending(let confirmed, let inFlight, let total):
      return "sending, \(HumanText.byteCount(confirmed)) of \(HumanText.byteCount(total))"
        + " confirmed, \(HumanText.byteCount(inFlight)) in flight"
    case .verifying: return "verifying: the server holds every byte, the commit is not confirmed"
    case .committed(let remote): return "committed: available everywhere as \(remote.text)"
    case .needsAttention(let reason, let actions):
      let next = actions.map(\.words).joined(separator: ", or ")
      return "needs attention: \(reason.words); \(next)"
    }
  }
}

/// The counts of a ledger, in the shapes they are printed in.
enum StatusText {
  /// The words in the order of the six-state view, then the two ends that leave it.
  static let order: [StateWord] = StateWord.allCases

  static func counts(_ counts: LedgerCounts) -> JSONValue {
    .object(order.map { .init($0.rawValue, .integer(counts[$0])) })
  }

  static func bytes(_ counts: LedgerCounts) -> JSONValue {
    .object([
      .init("total", .integer(counts.totalBytes)),
      .init("confirmed", .integer(counts.confirmedBytes)),
      .init("sent", .integer(counts.sentBytes)),
    ])
  }
}
