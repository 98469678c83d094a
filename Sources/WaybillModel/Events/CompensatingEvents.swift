/// Corrects a confirmation: the server no longer holds the part, or less of it.
public struct PartRevoked: EventPayload {
  /// Which part.
  public let part: PartNumber
  /// How many of its bytes the server still holds.
  public let byteCount: Int64
  /// How often the server has gone back in this upload, this time included.
  public let regression: Int

  /// Makes the fact from its values.
  public init(part: PartNumber, byteCount: Int64, regression: Int) {
    self.part = part
    self.byteCount = byteCount
    self.regression = regression
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    part = try fields.requiredPart()
    byteCount = try fields.requiredBytes()
    regression = try fields.requiredAttempt()
  }

  func write(to fields: inout EventFields) {
    fields.part = Int64(part.index)
    fields.bytes = byteCount
    fields.attempt = Int64(regression)
  }
}

/// Corrects a sent part: the transport has no such task. No attempt is charged.
public struct TransferLost: EventPayload {
  /// Which part.
  public let part: PartNumber
  /// The attempt that was lost.
  public let attempt: Int

  /// Makes the fact from its values.
  public init(part: PartNumber, attempt: Int) {
    self.part = part
    self.attempt = attempt
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    part = try fields.requiredPart()
    attempt = try fields.requiredAttempt()
  }

  func write(to fields: inout EventFields) {
    fields.part = Int64(part.index)
    fields.attempt = Int64(attempt)
  }
}

/// Corrects an opened session: it is gone, and its parts are unsent again.
public struct SessionExpired: EventPayload {
  /// The session that is gone.
  public let session: SessionReference

  /// Makes the fact from the session that is gone.
  public init(session: SessionReference) { self.session = session }

  init(_ fields: EventFields) throws(FieldProblem) {
    session = SessionReference(try fields.requiredReference())
  }

  func write(to fields: inout EventFields) { fields.reference = session.text }
}

/// A late or contradictory claim, kept as a note; it changes no state.
public struct Noted: EventPayload {
  /// What the claim was about.
  public let claim: NotedClaim
  /// The part it was about, where it was about one.
  public let part: PartNumber?
  /// The remote object it named, where it named one.
  public let remote: RemoteID?

  /// Makes the note from its claim.
  public init(claim: NotedClaim, part: PartNumber? = nil, remote: RemoteID? = nil) {
    self.claim = claim
    self.part = part
    self.remote = remote
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    claim = try fields.requiredCode(NotedClaim.self)
    part = fields.part == nil ? nil : try fields.requiredPart()
    remote = fields.reference.map { RemoteID($0) }
  }

  func write(to fields: inout EventFields) {
    fields.code = claim.rawValue
    fields.part = part.map { Int64($0.index) }
    fields.reference = remote?.text
  }
}
