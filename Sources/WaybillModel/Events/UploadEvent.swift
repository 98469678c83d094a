/// One past-tense fact about one upload.
///
/// To add a kind: a case here, its stored name in `EventKind` below, a payload if it carries more
/// than itself, and the compiler names the rest.
public enum UploadEvent: Equatable, Sendable {
  /// A durable copy is in the staging folder.
  case exported(Exported)
  /// The SHA-256 of the copy is known.
  case hashed(Hashed)
  /// The same bytes are queued or stored already; ends the stream.
  case deduplicated(Deduplicated)
  /// Intent is durable.
  case queued(Queued)
  /// The server opened a session.
  case sessionOpened(SessionOpened)
  /// A part was handed to the transport.
  case partSent(PartSent)
  /// An attempt at a part ended without success.
  case partFailed(PartFailed)
  /// The next try of a step other than sending was put off.
  case delayed(Delayed)
  /// The server acknowledges bytes of a part.
  case partConfirmed(PartConfirmed)
  /// The server holds every byte.
  case received(Received)
  /// The server checked the assembled object and its hash equals ours.
  case verified(Verified)
  /// The server bound the object to its record.
  case committed(Committed)
  /// The commit was refused because the record has moved.
  case conflicted(Conflicted)
  /// The upload was given up.
  case cancelled(Cancelled)
  /// Back to queued with no attempts used.
  case retried(Retried)
  /// Held back by a person.
  case paused
  /// No longer held back.
  case resumed
  /// Automatic recovery cannot go on.
  case attentionNeeded(AttentionNeeded)
  /// The local copy was deleted.
  case copyReleased
  /// Corrects a confirmation: the server no longer holds the part.
  case partRevoked(PartRevoked)
  /// Corrects a sent part: the transport has no such task.
  case transferLost(TransferLost)
  /// Corrects an opened session: it is gone, its parts are unsent again.
  case sessionExpired(SessionExpired)
  /// Corrects a verification: the object is gone or has another hash.
  case verificationRevoked
  /// A late or contradictory claim, kept as a note.
  case noted(Noted)

  /// The stored name.
  public var kind: EventKind {
    switch self {
    case .exported: .uploadExported
    case .hashed: .uploadHashed
    case .deduplicated: .uploadDeduplicated
    case .queued: .uploadQueued
    case .sessionOpened: .sessionOpened
    case .partSent: .partSent
    case .partFailed: .partFailed
    case .delayed: .uploadDelayed
    case .partConfirmed: .partConfirmed
    case .received: .uploadReceived
    case .verified: .uploadVerified
    case .committed: .uploadCommitted
    case .conflicted: .uploadConflicted
    case .cancelled: .uploadCancelled
    case .retried: .uploadRetried
    case .paused: .uploadPaused
    case .resumed: .uploadResumed
    case .attentionNeeded: .attentionNeeded
    case .copyReleased: .copyReleased
    case .partRevoked: .partRevoked
    case .transferLost: .transferLost
    case .sessionExpired: .sessionExpired
    case .verificationRevoked: .verificationRevoked
    case .noted: .observationNoted
    }
  }

  /// The shape of the payload as this code writes it. A new shape is a new version, read by an
  /// upcaster; an old one stays readable for ever.
  public var version: Int { kind.newestVersion }

  /// The payload as stored fields.
  public var fields: EventFields {
    var fields = EventFields()
    switch self {
    case .exported(let payload): payload.write(to: &fields)
    case .hashed(let payload): payload.write(to: &fields)
    case .deduplicated(let payload): payload.write(to: &fields)
    case .queued(let payload): payload.write(to: &fields)
    case .sessionOpened(let payload): payload.write(to: &fields)
    case .partSent(let payload): payload.write(to: &fields)
    case .partFailed(let payload): payload.write(to: &fields)
    case .delayed(let payload): payload.write(to: &fields)
    case .partConfirmed(let payload): payload.write(to: &fields)
    case .received(let payload): payload.write(to: &fields)
    case .verified(let payload): payload.write(to: &fields)
    case .committed(let payload): payload.write(to: &fields)
    case .conflicted(let payload): payload.write(to: &fields)
    case .cancelled(let payload): payload.write(to: &fields)
    case .retried(let payload): payload.write(to: &fields)
    case .attentionNeeded(let payload): payload.write(to: &fields)
    case .partRevoked(let payload): payload.write(to: &fields)
    case .transferLost(let payload): payload.write(to: &fields)
    case .sessionExpired(let payload): payload.write(to: &fields)
    case .noted(let payload): payload.write(to: &fields)
    case .paused, .resumed, .copyReleased, .verificationRevoked: break
    }
    return fields
  }

  /// Reads an event of a known kind from its stored fields at the current version.
  ///
  /// - Throws: `FieldProblem` naming the column that is missing or out of range.
  public init?(kind: EventKind, fields: EventFields) throws(FieldProblem) {
    switch kind {
    case .uploadExported: self = .exported(try Exported(fields))
    case .uploadHashed: self = .hashed(try Hashed(fields))
    case .uploadDeduplicated: self = .deduplicated(try Deduplicated(fields))
    case .uploadQueued: self = .queued(try Queued(fields))
    case .sessionOpened: self = .sessionOpened(try SessionOpened(fields))
    case .partSent: self = .partSent(try PartSent(fields))
    case .partFailed: self = .partFailed(try PartFailed(fields))
    case .uploadDelayed: self = .delayed(try Delayed(fields))
    case .partConfirmed: self = .partConfirmed(try PartConfirmed(fields))
    case .uploadReceived: self = .received(try Received(fields))
    case .uploadVerified: self = .verified(try Verified(fields))
    case .uploadCommitted: self = .committed(try Committed(fields))
    case .uploadConflicted: self = .conflicted(try Conflicted(fields))
    case .uploadCancelled: self = .cancelled(try Cancelled(fields))
    case .uploadRetried: self = .retried(try Retried(fields))
    case .uploadPaused: self = .paused
    case .uploadResumed: self = .resumed
    case .attentionNeeded: self = .attentionNeeded(try AttentionNeeded(fields))
    case .copyReleased: self = .copyReleased
    case .partRevoked: self = .partRevoked(try PartRevoked(fields))
    case .transferLost: self = .transferLost(try TransferLost(fields))
    case .sessionExpired: self = .sessionExpired(try SessionExpired(fields))
    case .verificationRevoked: self = .verificationRevoked
    case .observationNoted: self = .noted(try Noted(fields))
    case .ledgerLaunched, .ledgerReconciled, .ledgerAssigned, .conditionsChanged, .ledgerSealed,
      .ledgerUnsealed, .ledgerTailLost, .ledgerArchived, .ledgerPurged:
      return nil
    }
  }
}

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
  /// The next try of a step other than sending was put off.
  case uploadDelayed = "upload.delayed"
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
  /// The ledger was bound to an account.
  case ledgerAssigned = "ledger.assigned"
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
  /// Ended uploads were removed for good.
  case ledgerPurged = "ledger.purged"

  /// Whether the kind belongs to the ledger's own stream.
  public var isLedgerKind: Bool {
    switch self {
    case .ledgerLaunched, .ledgerReconciled, .ledgerAssigned, .conditionsChanged, .ledgerSealed,
      .ledgerUnsealed, .ledgerTailLost, .ledgerArchived, .ledgerPurged:
      true
    default: false
    }
  }

  /// The newest shape of this kind that this code knows, and the one it writes.
  public var newestVersion: Int {
    switch self {
    case .ledgerArchived, .ledgerSealed, .conditionsChanged: 2
    default: 1
    }
  }

  /// Whether an event of this kind brings an upload further, or to an end of what goes by itself.
  public var movesOn: Bool {
    switch self {
    case .partSent, .partFailed, .uploadDelayed, .partRevoked, .transferLost, .sessionExpired,
      .verificationRevoked, .observationNoted:
      false
    default: true
    }
  }

  /// How far an event of this kind must have reached before its append returns.
  public var durability: Durability {
    switch self {
    case .partSent, .uploadDelayed, .observationNoted, .conditionsChanged, .ledgerReconciled:
      .ridesAlong
    default: .synced
    }
  }

  /// Whether an event of this kind is still recorded when the disk is full, in the room the ledger
  /// keeps back: what gives up, corrects or asks a person, and what a launch has to say.
  ///
  /// Each of them makes the record truer without promising more work; everything else can wait
  /// until there is room.
  public var mayUseReserve: Bool {
    switch self {
    case .uploadCancelled, .attentionNeeded, .partRevoked, .transferLost, .sessionExpired,
      .verificationRevoked, .copyReleased, .ledgerLaunched, .ledgerTailLost, .ledgerSealed,
      .conditionsChanged:
      true
    default: false
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
