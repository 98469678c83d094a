/// The stored name of each kind of event. Dotted, never a Swift type name, never renamed.
public enum EventKind: String, CaseIterable, Sendable {
  // MARK: Local facts

  /// A durable copy of the file is in the staging folder.
  case uploadExported = "upload.exported"
  /// The SHA-256 of the copy is known.
  case uploadHashed = "upload.hashed"
  /// The same bytes are queued or stored already; the stream has ended.
  case uploadDeduplicated = "upload.deduplicated"
  /// The intent to send is durable.
  case uploadQueued = "upload.queued"
  /// A part was handed to the transport.
  case partSent = "part.sent"
  /// An attempt at a part ended without success.
  case partFailed = "part.failed"
  /// The local copy was deleted.
  case copyReleased = "copy.released"

  // MARK: Wishes that were granted

  /// The upload was given up.
  case uploadCancelled = "upload.cancelled"
  /// The upload is back to queued, with no attempts used.
  case uploadRetried = "upload.retried"
  /// A person held the upload back.
  case uploadPaused = "upload.paused"
  /// The upload is no longer held back.
  case uploadResumed = "upload.resumed"

  // MARK: What the server stated

  /// The server opened a session.
  case sessionOpened = "session.opened"
  /// The server acknowledged bytes of a part.
  case partConfirmed = "part.confirmed"
  /// The server holds every byte.
  case uploadReceived = "upload.received"
  /// The server checked the assembled object, and its hash equals ours.
  case uploadVerified = "upload.verified"
  /// The server bound the object to its record.
  case uploadCommitted = "upload.committed"
  /// The server refused the commit because its record has moved.
  case uploadConflicted = "upload.conflicted"

  // MARK: The end of what goes by itself, corrections and notes

  /// Automatic recovery cannot go on.
  case attentionNeeded = "upload.attention_needed"
  /// Corrects a confirmation: the server no longer holds the part.
  case partRevoked = "part.revoked"
  /// Corrects a sent part: the transport has no such task.
  case transferLost = "transfer.lost"
  /// Corrects an opened session: it is gone, and its parts are unsent again.
  case sessionExpired = "session.expired"
  /// Corrects a verification: the object is gone or has another hash.
  case verificationRevoked = "verification.revoked"
  /// A late or contradictory claim was kept as a note; it changes no state.
  case observationNoted = "observation.noted"

  // MARK: The ledger's own stream

  /// A process opened the ledger for writing.
  case ledgerLaunched = "ledger.launched"
  /// A pass compared the ledger with transport and server.
  case ledgerReconciled = "ledger.reconciled"
  /// Network, power or settings changed.
  case conditionsChanged = "conditions.changed"
  /// The ledger was closed to sending, by a sign-out or lost access.
  case ledgerSealed = "ledger.sealed"
  /// The ledger is open to sending again.
  case ledgerUnsealed = "ledger.unsealed"
  /// The log ended before its head mark; what came behind is lost.
  case ledgerTailLost = "ledger.tail_lost"
  /// Ended streams were moved into a trace segment.
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
