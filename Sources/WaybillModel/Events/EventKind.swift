/// The stored name of each kind of event. Dotted, never a Swift type name, never renamed.
public enum EventKind: String, CaseIterable, Sendable {
  // Local facts.
  case uploadExported = "upload.exported"
  case uploadHashed = "upload.hashed"
  case uploadDeduplicated = "upload.deduplicated"
  case uploadQueued = "upload.queued"
  case partSent = "part.sent"
  case partFailed = "part.failed"
  case copyReleased = "copy.released"
  // Wishes that were granted.
  case uploadCancelled = "upload.cancelled"
  case uploadRetried = "upload.retried"
  case uploadPaused = "upload.paused"
  case uploadResumed = "upload.resumed"
  // What the server stated.
  case sessionOpened = "session.opened"
  case partConfirmed = "part.confirmed"
  case uploadReceived = "upload.received"
  case uploadVerified = "upload.verified"
  case uploadCommitted = "upload.committed"
  case uploadConflicted = "upload.conflicted"
  // The end of what goes by itself, corrections and notes.
  case attentionNeeded = "upload.attention_needed"
  case partRevoked = "part.revoked"
  case transferLost = "transfer.lost"
  case sessionExpired = "session.expired"
  case verificationRevoked = "verification.revoked"
  case observationNoted = "observation.noted"
  // The ledger's own stream.
  case ledgerLaunched = "ledger.launched"
  case ledgerReconciled = "ledger.reconciled"
  case conditionsChanged = "conditions.changed"
  case ledgerSealed = "ledger.sealed"
  case ledgerUnsealed = "ledger.unsealed"
  case ledgerTailLost = "ledger.tail_lost"
  case ledgerArchived = "ledger.archived"

  /// Whether the kind belongs to the ledger's own stream.
  public var isLedgerKind: Bool {
    switch self {
    case .ledgerLaunched, .ledgerReconciled, .conditionsChanged, .ledgerSealed, .ledgerUnsealed,
      .ledgerTailLost, .ledgerArchived:
      true
    default: false
    }
  }

  /// How far an event of this kind must have reached before its append returns.
  public var durability: Durability {
    switch self {
    case .partSent, .observationNoted, .conditionsChanged, .ledgerReconciled: .ridesAlong
    default: .synced
    }
  }
}

/// How far an event must have reached before its append returns.
public enum Durability: Sendable, Comparable {
  /// In the log; on stable storage together with the next synced event.
  case ridesAlong
  /// On stable storage.
  case synced
}
