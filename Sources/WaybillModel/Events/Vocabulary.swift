/// Who brought a fact: the cause every recorded event carries.
public enum Cause: String, Sendable, CaseIterable {
  /// A person's or an app's wish.
  case command
  /// A callback of the transport.
  case transport
  /// A reply of the server.
  case server
  /// The comparison of ledger, transport and server.
  case reconciliation
  /// The launch of the ledger.
  case launch
}

/// Where a file came from.
public enum ExportSource: String, Sendable, CaseIterable {
  /// A path on the command line.
  case file
  /// A person's pick in an app.
  case picker
  /// An automatic backup.
  case backup
}

/// How an attempt at a part, or a call, failed.
public enum FailureKind: String, Sendable, CaseIterable {
  /// The server cannot be reached, or something in between answers for it.
  case offline
  /// The connection ended early, or nothing moved for too long.
  case interrupted
  /// The server cannot work right now: 5xx or 423.
  case serverUnavailable = "server_unavailable"
  /// The server has not finished an earlier request: for the same part, or for the commit.
  case inProgress = "in_progress"
  /// The server asked for fewer requests: 429.
  case throttled
  /// The credential was not accepted: 401.
  case credentials
  /// The server does not know the session; its status has to be asked.
  case sessionUnknown = "session_unknown"
  /// The server stands at another offset than we thought; its status has to be asked.
  case offsetMoved = "offset_moved"
  /// The bytes that arrived do not have the digest that was announced.
  case digestMismatch = "digest_mismatch"
  /// The reply broke the protocol.
  case protocolViolation = "protocol_violation"
  /// Something else answers in the server's place, for this upload and not for others.
  case notOurServer = "not_our_server"
  /// The account has no room: 507.
  case quota
  /// The server will never take this: a 4xx that no repeat mends.
  case refused
  /// The local copy could not be read to its end.
  case sourceUnreadable = "source_unreadable"
  /// We stopped it.
  case stopped

  /// Whether a failure of this kind uses up one of the bounded attempts. What is nobody's fault,
  /// being offline or signed out, does not.
  public var chargesAttempt: Bool {
    switch self {
    case .offline, .credentials, .stopped, .quota, .throttled, .inProgress, .offsetMoved: false
    case .interrupted, .serverUnavailable, .sessionUnknown, .digestMismatch, .protocolViolation,
      .notOurServer, .refused, .sourceUnreadable:
      true
    }
  }
}

/// A step whose next try was put off.
public enum DelayedStep: String, Sendable, CaseIterable {
  /// Asking the server for a session.
  case open
  /// Asking the server what it holds.
  case askStatus = "ask_status"
  /// Asking the server to bind the object to its record.
  case commit
  /// Reading the local copy.
  case readCopy = "read_copy"
}

/// Why automatic recovery cannot go on.
public enum AttentionReason: String, Sendable, CaseIterable {
  /// The server holds an object with another hash than ours.
  case hashMismatch = "hash_mismatch"
  /// The local copy is gone.
  case sourceMissing = "source_missing"
  /// The local copy no longer has the bytes that were hashed.
  case sourceChanged = "source_changed"
  /// The account may no longer write there: 403.
  case accessRevoked = "access_revoked"
  /// The server lost what it had confirmed, again and again.
  case serverInconsistent = "server_inconsistent"
  /// The server refuses this upload for good.
  case refused
  /// The file or part is larger than the server takes: 413.
  case tooLarge = "too_large"
  /// The account has no room: 507.
  case quota
  /// The record has moved on since the upload was queued.
  case conflict
  /// All attempts at a part failed.
  case attemptsExhausted = "attempts_exhausted"
  /// The server's replies break the protocol.
  case protocolViolation = "protocol_violation"
  /// Something else answers in the server's place.
  case notOurServer = "not_our_server"
  /// The server does not finish what it was asked to do.
  case serverUnfinished = "server_unfinished"
  /// The server holds every byte, but does not check what it is sent, or not all of it.
  case unproven
  /// An event of this upload cannot be read.
  case recordUnreadable = "record_unreadable"

  /// What a person can do about it, best first.
  public var nextActions: [NextAction] {
    switch self {
    case .hashMismatch, .sourceChanged, .sourceMissing: [.addAgain, .cancel]
    case .accessRevoked: [.signIn, .retry, .cancel]
    case .serverInconsistent, .protocolViolation, .notOurServer, .serverUnfinished:
      [.retry, .askSupport]
    case .refused, .unproven: [.askSupport, .cancel]
    case .tooLarge: [.cancel, .askSupport]
    case .quota: [.freeSpace, .retry]
    case .conflict: [.resolveConflict, .cancel]
    case .attemptsExhausted: [.retry, .cancel]
    case .recordUnreadable: [.askSupport]
    }
  }
}

/// Something a person can do about an upload that needs attention.
public enum NextAction: String, Sendable, CaseIterable {
  /// Try again from where it stands.
  case retry
  /// Give it up.
  case cancel
  /// Pick the file again.
  case addAgain = "add_again"
  /// Sign in again, or ask for access.
  case signIn = "sign_in"
  /// Make room in the account.
  case freeSpace = "free_space"
  /// Choose between the two versions.
  case resolveConflict = "resolve_conflict"
  /// Send a trace to support.
  case askSupport = "ask_support"
}

/// Who cancelled.
public enum CancelReason: String, Sendable, CaseIterable {
  /// A person.
  case user
  /// The end of an account's session.
  case account
  /// A rule of the app.
  case policy
}

/// What becomes of uploads that have not ended, and of their local copies, when an account signs
/// out.
public enum LocalCopies: String, Sendable, CaseIterable {
  /// They stay as they are and go on once the account signs in again.
  case keep
  /// They are cancelled, and the copies deleted.
  case discard
}

/// What a late or contradictory claim was about; kept as a note, it changes no state.
public enum NotedClaim: String, Sendable, CaseIterable {
  /// A part was acknowledged after the upload had ended.
  case latePart = "late_part"
  /// A session was opened after the upload had ended, or beside the one in use.
  case lateSession = "late_session"
  /// The server committed although the upload was cancelled here.
  case committedDespiteCancel = "committed_despite_cancel"
}
