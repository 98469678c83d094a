/// The server opened a session for the upload.
public struct SessionOpened: EventPayload {
  /// What the server offers.
  public let offer: SessionOffer

  /// Makes the fact from the server's offer.
  public init(offer: SessionOffer) { self.offer = offer }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    guard let text = (payload["received"] ?? .text("")).text, let held = PartSet(text: text) else {
      throw .invalid("payload.received")
    }
    let partCount = try payload.requiredInteger("part_count")
    guard (0...Int64(PartPlan.maximumPartCount)).contains(partCount) else {
      throw .invalid("payload.part_count")
    }
    offer = SessionOffer(
      session: SessionReference(try fields.requiredReference()),
      partSize: try fields.requiredBytes(), partCount: Int(partCount),
      expires: fields.until.map { Timestamp(microseconds: $0) }, received: held)
  }

  func write(to fields: inout EventFields) {
    fields.reference = offer.session.text
    fields.bytes = offer.partSize
    fields.until = offer.expires?.microseconds
    fields.setPayload([
      "part_count": .integer(Int64(offer.partCount)),
      "received": offer.received.isEmpty ? nil : .text(offer.received.text),
    ])
  }
}

/// The server acknowledges bytes of a part.
public struct PartConfirmed: EventPayload {
  /// Which part.
  public let part: PartNumber
  /// How many bytes of it the server holds; fewer than its length where the server owns the offset.
  public let byteCount: Int64

  /// Makes the fact from its values.
  public init(part: PartNumber, byteCount: Int64) {
    self.part = part
    self.byteCount = byteCount
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    part = try fields.requiredPart()
    byteCount = try fields.requiredBytes()
  }

  func write(to fields: inout EventFields) {
    fields.part = Int64(part.index)
    fields.bytes = byteCount
  }
}

/// The server holds every byte.
public struct Received: EventPayload {
  /// How many bytes the object has.
  public let byteCount: Int64

  /// Makes the fact from the count of bytes.
  public init(byteCount: Int64) { self.byteCount = byteCount }

  init(_ fields: EventFields) throws(FieldProblem) { byteCount = try fields.requiredBytes() }

  func write(to fields: inout EventFields) { fields.bytes = byteCount }
}

/// The server checked the assembled object, and its hash equals ours.
public struct Verified: EventPayload {
  /// The hash the server computed.
  public let hash: ContentHash

  /// Makes the fact from the hash.
  public init(hash: ContentHash) { self.hash = hash }

  init(_ fields: EventFields) throws(FieldProblem) { hash = try fields.requiredHash() }

  func write(to fields: inout EventFields) { fields.hash = hash }
}

/// The server bound the object to its record: available everywhere.
public struct Committed: EventPayload {
  /// The server's name for the object.
  public let remote: RemoteID
  /// The version of the record, where the server states one.
  public let version: Int64?
  /// The hash the server stated.
  public let hash: ContentHash
  /// The status code of the reply that stated it.
  public let status: Int

  /// Makes the fact from the server's statement.
  public init(remote: RemoteID, version: Int64?, hash: ContentHash, status: Int) {
    self.remote = remote
    self.version = version
    self.hash = hash
    self.status = status
  }

  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    remote = RemoteID(try fields.requiredReference())
    hash = try fields.requiredHash()
    version = try payload.optionalInteger("record_version")
    status = Int(clamping: try payload.requiredInteger("status"))
  }

  func write(to fields: inout EventFields) {
    fields.reference = remote.text
    fields.hash = hash
    fields.setPayload([
      "record_version": version.map { .integer($0) }, "status": .integer(Int64(status)),
    ])
  }
}

/// The commit was refused because the record has moved on.
public struct Conflicted: EventPayload {
  /// The record's version now.
  public let currentVersion: Int64

  /// Makes the fact from the record's version.
  public init(currentVersion: Int64) { self.currentVersion = currentVersion }

  init(_ fields: EventFields) throws(FieldProblem) {
    currentVersion = try fields.payloadObject().requiredInteger("current_version")
  }

  func write(to fields: inout EventFields) {
    fields.setPayload(["current_version": .integer(currentVersion)])
  }
}
