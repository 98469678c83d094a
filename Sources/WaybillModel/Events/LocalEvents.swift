/// A durable copy of a person's file is in the staging folder.
public struct Exported: EventPayload {
  /// The copy, named by us.
  public let file: StagedFileID
  /// The person's name for it, byte for byte.
  public let name: FileName
  /// The length of the copy in bytes.
  public let byteCount: Int64
  /// Where it came from.
  public let source: ExportSource
  /// When it was captured, where that is known.
  public let captured: Timestamp?

  /// Makes the fact from its values.
  public init(
    file: StagedFileID, name: FileName, byteCount: Int64, source: ExportSource,
    captured: Timestamp? = nil
  ) {
    self.file = file
    self.name = name
    self.byteCount = byteCount
    self.source = source
    self.captured = captured
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    guard let file = StagedFileID(try fields.requiredReference()) else {
      throw .invalid("reference")
    }
    guard let name = fields.name else { throw .missing("name") }
    self.init(
      file: file, name: FileName(bytes: name), byteCount: try fields.requiredBytes(),
      source: try fields.requiredCode(ExportSource.self),
      captured: fields.until.map { Timestamp(microseconds: $0) })
  }

  func write(to fields: inout EventFields) {
    fields.reference = file.text
    fields.name = name.bytes
    fields.bytes = byteCount
    fields.code = source.rawValue
    fields.until = captured?.microseconds
  }
}

/// The SHA-256 of the copy is known.
public struct Hashed: EventPayload {
  /// The hash of the copy's bytes.
  public let hash: ContentHash

  /// Makes the fact from the hash.
  public init(hash: ContentHash) { self.hash = hash }

  init(_ fields: EventFields) throws(FieldProblem) { hash = try fields.requiredHash() }

  func write(to fields: inout EventFields) { fields.hash = hash }
}

/// The same bytes are queued or stored already; the stream ends here.
public struct Deduplicated: EventPayload {
  /// What already holds the bytes.
  public enum Original: Equatable, Sendable {
    /// Another upload of this ledger.
    case upload(UploadID)
    /// An object the server names.
    case remote(RemoteID)
  }

  /// What already holds the bytes.
  public let original: Original

  /// Makes the fact from what holds the bytes.
  public init(original: Original) { self.original = original }

  init(_ fields: EventFields) throws(FieldProblem) {
    let reference = try fields.requiredReference()
    switch fields.code {
    case "upload":
      guard let upload = UploadID(reference) else { throw .invalid("reference") }
      original = .upload(upload)
    case "remote": original = .remote(RemoteID(reference))
    case nil: throw .missing("code")
    default: throw .invalid("code")
    }
  }

  func write(to fields: inout EventFields) {
    switch original {
    case .upload(let upload):
      fields.code = "upload"
      fields.reference = upload.description
    case .remote(let remote):
      fields.code = "remote"
      fields.reference = remote.text
    }
  }
}

/// Intent is durable: from here on the upload reaches an end or asks for attention.
public struct Queued: EventPayload {
  /// What shall be done, and how it is known to the server.
  public let intent: Intent

  /// Makes the fact from the intent.
  public init(intent: Intent) { self.intent = intent }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    let priority = try payload.requiredInteger("priority")
    guard let level = Priority(rawValue: Int(clamping: priority)) else {
      throw .invalid("payload.priority")
    }
    intent = Intent(
      destination: try payload.requiredText("destination"),
      operation: IdempotencyKey(try fields.requiredReference()), priority: level,
      baseVersion: try payload.optionalInteger("base_version"))
  }

  func write(to fields: inout EventFields) {
    fields.reference = intent.operation.text
    fields.setPayload([
      "destination": .text(intent.destination),
      "priority": .integer(Int64(intent.priority.rawValue)),
      "base_version": intent.baseVersion.map { .integer($0) },
    ])
  }
}

/// What a queued upload is meant to become.
public struct Intent: Equatable, Sendable {
  /// The base URL of the service, without user name, password or query.
  public let destination: String
  /// The key every attempt at this upload carries.
  public let operation: IdempotencyKey
  /// How soon, compared with others.
  public let priority: Priority
  /// The version of the record the upload builds on, where it replaces one.
  public let baseVersion: Int64?

  /// Makes an intent from its values.
  public init(
    destination: String, operation: IdempotencyKey, priority: Priority = .normal,
    baseVersion: Int64? = nil
  ) {
    self.destination = destination
    self.operation = operation
    self.priority = priority
    self.baseVersion = baseVersion
  }
}

/// How soon an upload is sent, compared with others.
public enum Priority: Int, Sendable, Comparable, CaseIterable {
  /// Behind everything else.
  case background = -1
  /// In the order of adding.
  case normal = 0
  /// Before everything else.
  case urgent = 1

  /// Orders from background to urgent.
  public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}

/// A part was handed to the transport.
public struct PartSent: EventPayload {
  /// Which part.
  public let part: PartNumber
  /// Which attempt at the part, from 1; never used twice in one upload for the same part.
  public let attempt: Int
  /// The length of the part in bytes.
  public let byteCount: Int64

  /// Makes the fact from its values.
  public init(part: PartNumber, attempt: Int, byteCount: Int64) {
    self.part = part
    self.attempt = attempt
    self.byteCount = byteCount
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    part = try fields.requiredPart()
    attempt = try fields.requiredAttempt()
    byteCount = try fields.requiredBytes()
  }

  func write(to fields: inout EventFields) {
    fields.part = Int64(part.index)
    fields.attempt = Int64(attempt)
    fields.bytes = byteCount
  }
}

/// An attempt at a part ended without success.
public struct PartFailed: EventPayload {
  /// Which part.
  public let part: PartNumber
  /// Which attempt.
  public let attempt: Int
  /// How it failed.
  public let failure: FailureKind
  /// The earliest moment of the next attempt; nil when there is none by itself.
  public let notBefore: Timestamp?
  /// The status code of the reply, where one came.
  public let status: Int?

  /// Makes the fact from its values.
  public init(
    part: PartNumber, attempt: Int, failure: FailureKind, notBefore: Timestamp?, status: Int? = nil
  ) {
    self.part = part
    self.attempt = attempt
    self.failure = failure
    self.notBefore = notBefore
    self.status = status
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    part = try fields.requiredPart()
    attempt = try fields.requiredAttempt()
    failure = try fields.requiredCode(FailureKind.self)
    notBefore = fields.until.map { Timestamp(microseconds: $0) }
    status = try fields.payloadObject().optionalInteger("status").map { Int(clamping: $0) }
  }

  func write(to fields: inout EventFields) {
    fields.part = Int64(part.index)
    fields.attempt = Int64(attempt)
    fields.code = failure.rawValue
    fields.until = notBefore?.microseconds
    fields.setPayload(["status": status.map { .integer(Int64($0)) }])
  }
}

/// The next try of a step other than sending was put off.
public struct Delayed: EventPayload {
  /// Which step.
  public let step: DelayedStep
  /// How the last try failed.
  public let failure: FailureKind
  /// Which failure it is, from 1, since the upload last moved on.
  public let attempt: Int
  /// The earliest moment of the next try.
  public let until: Timestamp
  /// The status code of the reply, where one came.
  public let status: Int?

  /// Makes the fact from its values.
  public init(
    step: DelayedStep, failure: FailureKind, attempt: Int, until: Timestamp, status: Int? = nil
  ) {
    self.step = step
    self.failure = failure
    self.attempt = attempt
    self.until = until
    self.status = status
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    guard let step = DelayedStep(rawValue: try payload.requiredText("step")) else {
      throw .invalid("payload.step")
    }
    guard let until = fields.until else { throw .missing("until") }
    self.init(
      step: step, failure: try fields.requiredCode(FailureKind.self),
      attempt: try fields.requiredAttempt(), until: Timestamp(microseconds: until),
      status: try payload.optionalInteger("status").map { Int(clamping: $0) })
  }

  func write(to fields: inout EventFields) {
    fields.code = failure.rawValue
    fields.attempt = Int64(attempt)
    fields.until = until.microseconds
    fields.setPayload([
      "step": .text(step.rawValue), "status": status.map { .integer(Int64($0)) },
    ])
  }
}

/// The upload was given up.
public struct Cancelled: EventPayload {
  /// Who gave it up.
  public let reason: CancelReason

  /// Makes the fact from its reason.
  public init(reason: CancelReason) { self.reason = reason }

  init(_ fields: EventFields) throws(FieldProblem) {
    reason = try fields.requiredCode(CancelReason.self)
  }

  func write(to fields: inout EventFields) { fields.code = reason.rawValue }
}

/// Back to queued, with no attempts used.
public struct Retried: EventPayload {
  /// How often the upload has been retried, this time included.
  public let round: Int

  /// Makes the fact from the round.
  public init(round: Int) { self.round = round }

  init(_ fields: EventFields) throws(FieldProblem) { round = try fields.requiredAttempt() }

  func write(to fields: inout EventFields) { fields.attempt = Int64(round) }
}

/// Automatic recovery cannot go on.
public struct AttentionNeeded: EventPayload {
  /// Why.
  public let reason: AttentionReason
  /// What a person can do, best first.
  public let actions: [NextAction]
  /// The status code of the reply that led here, where one did.
  public let status: Int?

  /// Makes the fact from its reason, with the actions that go with it.
  public init(reason: AttentionReason, status: Int? = nil) {
    self.reason = reason
    self.actions = reason.nextActions
    self.status = status
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    reason = try fields.requiredCode(AttentionReason.self)
    let payload = try fields.payloadObject()
    var actions: [NextAction] = []
    guard let words = (payload["actions"] ?? .array([])).array else {
      throw .invalid("payload.actions")
    }
    for word in words {
      guard let action = word.text.flatMap(NextAction.init) else {
        throw .invalid("payload.actions")
      }
      actions.append(action)
    }
    self.actions = actions
    status = try payload.optionalInteger("status").map { Int(clamping: $0) }
  }

  func write(to fields: inout EventFields) {
    fields.code = reason.rawValue
    fields.setPayload([
      "actions": .array(actions.map { .text($0.rawValue) }),
      "status": status.map { .integer(Int64($0)) },
    ])
  }
}
