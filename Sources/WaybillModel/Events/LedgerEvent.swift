/// One past-tense fact about the ledger itself.
public enum LedgerEvent: Equatable, Sendable {
  /// The ledger was opened for writing.
  case launched(Launched)
  /// The open uploads were compared with transport and server.
  case reconciled(Reconciled)
  /// The conditions for sending have changed.
  case conditionsChanged(Conditions)
  /// The ledger was bound to an account.
  case assigned(Assigned)
  /// The account signed out: nothing is sent until the ledger is unsealed.
  case sealed(Sealed)
  /// Sending is allowed again.
  case unsealed
  /// The log is shorter than its head mark says it was.
  case tailLost(TailLost)
  /// Events of ended uploads moved into a verified trace segment.
  case archived(Archived)
  /// Events of uploads were removed for good.
  case purged(Purged)

  /// The stored name.
  public var kind: EventKind {
    switch self {
    case .launched: .ledgerLaunched
    case .reconciled: .ledgerReconciled
    case .assigned: .ledgerAssigned
    case .conditionsChanged: .conditionsChanged
    case .sealed: .ledgerSealed
    case .unsealed: .ledgerUnsealed
    case .tailLost: .ledgerTailLost
    case .archived: .ledgerArchived
    case .purged: .ledgerPurged
    }
  }

  /// The shape of the payload as this code writes it.
  public var version: Int { kind.newestVersion }

  /// The payload as stored fields.
  public var fields: EventFields {
    var fields = EventFields()
    switch self {
    case .launched(let payload): payload.write(to: &fields)
    case .reconciled(let payload): payload.write(to: &fields)
    case .conditionsChanged(let payload): payload.write(to: &fields)
    case .assigned(let payload): payload.write(to: &fields)
    case .sealed(let payload): payload.write(to: &fields)
    case .tailLost(let payload): payload.write(to: &fields)
    case .archived(let payload): payload.write(to: &fields)
    case .purged(let payload): payload.write(to: &fields)
    case .unsealed: break
    }
    return fields
  }

  /// Reads an event of a known kind from its stored fields; nil for kinds of upload streams.
  ///
  /// - Throws: `FieldProblem` naming the column that is missing or out of range.
  public init?(kind: EventKind, fields: EventFields) throws(FieldProblem) {
    switch kind {
    case .ledgerLaunched: self = .launched(try Launched(fields))
    case .ledgerReconciled: self = .reconciled(try Reconciled(fields))
    case .conditionsChanged: self = .conditionsChanged(try Conditions(fields))
    case .ledgerAssigned: self = .assigned(try Assigned(fields))
    case .ledgerSealed: self = .sealed(try Sealed(fields))
    case .ledgerUnsealed: self = .unsealed
    case .ledgerTailLost: self = .tailLost(try TailLost(fields))
    case .ledgerArchived: self = .archived(try Archived(fields))
    case .ledgerPurged: self = .purged(try Purged(fields))
    default: return nil
    }
  }
}

/// The ledger was opened for writing.
public struct Launched: EventPayload {
  /// How a person or the system started the process.
  public enum Mode: String, Sendable, CaseIterable {
    /// A person sees it.
    case foreground
    /// The system started it to hand over results.
    case background
  }

  /// How the process was started.
  public let mode: Mode
  /// Which launch this is, from 1.
  public let generation: LaunchGeneration
  /// The app and its version.
  public let app: String
  /// The version of the SQLite library.
  public let sqlite: String

  /// Makes the fact from its values.
  public init(mode: Mode, generation: LaunchGeneration, app: String, sqlite: String) {
    self.mode = mode
    self.generation = generation
    self.app = app
    self.sqlite = sqlite
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    mode = try fields.requiredCode(Mode.self)
    generation = LaunchGeneration(Int64(try fields.requiredAttempt()))
    app = try payload.requiredText("app")
    sqlite = try payload.requiredText("sqlite")
  }

  func write(to fields: inout EventFields) {
    fields.code = mode.rawValue
    fields.attempt = generation.value
    fields.setPayload(["app": .text(app), "sqlite": .text(sqlite)])
  }
}

/// The open uploads were compared with transport and server.
public struct Reconciled: EventPayload {
  /// How many uploads were looked at.
  public let uploads: Int64
  /// How many events corrected or completed the record.
  public let events: Int64

  /// Makes the fact from its counts.
  public init(uploads: Int64, events: Int64) {
    self.uploads = uploads
    self.events = events
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    uploads = try payload.requiredInteger("uploads")
    events = try payload.requiredInteger("events")
  }

  func write(to fields: inout EventFields) {
    fields.setPayload(["uploads": .integer(uploads), "events": .integer(events)])
  }
}

/// The ledger was bound to an account, which is told again by its name and never named here.
public struct Assigned: EventPayload {
  /// 16 random bytes that go before the name, so that two ledgers of one account do not show it.
  public let salt: [UInt8]
  /// The SHA-256 of the salt and the bytes of the account's name.
  public let digest: ContentHash

  /// Makes the fact from its values.
  public init(salt: [UInt8], digest: ContentHash) {
    self.salt = salt
    self.digest = digest
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let text = try fields.payloadObject().requiredText("salt")
    guard let salt = Base64.decode(text), salt.count == 16 else { throw .invalid("payload.salt") }
    self.salt = salt
    digest = try fields.requiredHash()
  }

  func write(to fields: inout EventFields) {
    fields.hash = digest
    fields.setPayload(["salt": .text(Base64.encode(salt))])
  }
}

/// The account of the ledger signed out.
public struct Sealed: EventPayload {
  /// What becomes of uploads that have not ended, and of the local copies. They are never handed
  /// to another account.
  public let copies: LocalCopies

  /// Makes the fact from its value.
  public init(copies: LocalCopies) { self.copies = copies }

  /// The first version had no payload and kept everything.
  init(_ fields: EventFields) throws(FieldProblem) {
    guard fields.payload != nil else {
      copies = .keep
      return
    }
    guard let copies = LocalCopies(rawValue: try fields.payloadObject().requiredText("copies"))
    else { throw .invalid("payload.copies") }
    self.copies = copies
  }

  func write(to fields: inout EventFields) {
    fields.setPayload(["copies": .text(copies.rawValue)])
  }
}

/// The log is shorter than its head mark says it was: the newest events are gone.
public struct TailLost: EventPayload {
  /// The last position the head mark knew.
  public let markedPosition: GlobalPosition
  /// The last position that is still there.
  public let lastPosition: GlobalPosition

  /// Makes the fact from the two positions.
  public init(markedPosition: GlobalPosition, lastPosition: GlobalPosition) {
    self.markedPosition = markedPosition
    self.lastPosition = lastPosition
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    markedPosition = GlobalPosition(try payload.requiredInteger("marked_position"))
    lastPosition = GlobalPosition(try payload.requiredInteger("last_position"))
  }

  func write(to fields: inout EventFields) {
    fields.setPayload([
      "marked_position": .integer(markedPosition.value),
      "last_position": .integer(lastPosition.value),
    ])
  }
}

/// What left the log in one transaction.
public struct RemovedRuns: Equatable, Sendable {
  /// How many events left.
  public let count: Int64
  /// The SHA-256 over the runs of positions that left, in order: of each the first and the last
  /// position (eight bytes each, big endian) and the chain value of the last event.
  public let digest: ContentHash

  /// Makes the value from its parts.
  public init(count: Int64, digest: ContentHash) {
    self.count = count
    self.digest = digest
  }

  /// nil where neither member is there, as in the first shape of `ledger.archived`.
  fileprivate init?(_ payload: JSONValue) throws(FieldProblem) {
    guard let count = try payload.optionalInteger("removed") else { return nil }
    guard let digest = ContentHash(hex: try payload.requiredText("runs")) else {
      throw .invalid("payload.runs")
    }
    self.init(count: count, digest: digest)
  }
}

/// Events of ended uploads moved into a verified trace segment.
public struct Archived: EventPayload {
  /// The first position in the segment.
  public let first: GlobalPosition
  /// The last position in the segment; positions between the two may be missing in it.
  public let last: GlobalPosition
  /// How many events the segment holds.
  public let count: Int64
  /// The SHA-256 of the segment file.
  public let digest: ContentHash
  /// What left the log with it; nil for a segment that was written anew, and in the first shape of
  /// the event, which no ledger has.
  public let removed: RemovedRuns?

  /// Makes the fact from its values.
  public init(
    first: GlobalPosition, last: GlobalPosition, count: Int64, digest: ContentHash,
    removed: RemovedRuns? = nil
  ) {
    self.first = first
    self.last = last
    self.count = count
    self.digest = digest
    self.removed = removed
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    first = GlobalPosition(try payload.requiredInteger("first"))
    last = GlobalPosition(try payload.requiredInteger("last"))
    count = try payload.requiredInteger("count")
    digest = try fields.requiredHash()
    removed = try RemovedRuns(payload)
  }

  func write(to fields: inout EventFields) {
    fields.hash = digest
    fields.setPayload([
      "first": .integer(first.value), "last": .integer(last.value), "count": .integer(count),
      "removed": removed.map { .integer($0.count) },
      "runs": removed.map { .text($0.digest.description) },
    ])
  }
}

/// Uploads were removed for good: nobody can say any more what they were.
public struct Purged: EventPayload {
  /// How many uploads went.
  public let uploads: Int64
  /// What left the log with them.
  public let removed: RemovedRuns

  /// Makes the fact from its values.
  public init(uploads: Int64, removed: RemovedRuns) {
    self.uploads = uploads
    self.removed = removed
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    uploads = try payload.requiredInteger("uploads")
    guard let removed = try RemovedRuns(payload) else { throw .missing("payload.removed") }
    self.removed = removed
  }

  func write(to fields: inout EventFields) {
    fields.setPayload([
      "uploads": .integer(uploads), "removed": .integer(removed.count),
      "runs": .text(removed.digest.description),
    ])
  }
}
