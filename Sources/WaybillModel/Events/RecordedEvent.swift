/// One row of the log: a fact with its place, its time and what brought it.
public struct RecordedEvent: Equatable, Sendable {
  /// What a recorded event says, as far as this version can read it.
  public enum Body: Equatable, Sendable {
    /// A fact about an upload.
    case upload(UploadEvent)
    /// A fact about the ledger.
    case ledger(LedgerEvent)
    /// A kind or version this code does not know; kept byte for byte.
    case unrecognized
    /// A known kind whose fields cannot be read.
    case unreadable(FieldProblem)
  }

  /// Its place in the whole ledger.
  public let position: GlobalPosition
  /// Its name, unique for ever.
  public let id: EventID
  /// The upload whose stream it is in; nil for the ledger's own stream.
  public let upload: UploadID?
  /// Its place in its stream.
  public let revision: StreamRevision
  /// The stored name of its kind, also when this code does not know it.
  public let kindName: String
  /// The version of its shape as it was stored.
  public let version: Int
  /// When it was recorded; an annotation.
  public let time: Timestamp
  /// The stored word for who brought it, also when this code does not know it.
  public let causeName: String
  /// The launch that recorded it.
  public let launch: LaunchGeneration
  /// The position of the event it corrects.
  public let compensates: GlobalPosition?
  /// The key of the observation it came from, unique in its stream.
  public let observation: ObservationKey?
  /// The stored fields, byte for byte.
  public let fields: EventFields
  /// What it says.
  public let body: Body

  /// Makes a recorded event and reads its body from the stored fields.
  public init(
    position: GlobalPosition, id: EventID, upload: UploadID?, revision: StreamRevision,
    kindName: String, version: Int, time: Timestamp, causeName: String, launch: LaunchGeneration,
    compensates: GlobalPosition?, observation: ObservationKey?, fields: EventFields
  ) {
    self.init(
      position: position, id: id, upload: upload, revision: revision, kindName: kindName,
      version: version, time: time, causeName: causeName, launch: launch, compensates: compensates,
      observation: observation, fields: fields,
      body: Upcasters.body(kindName: kindName, version: version, fields: fields))
  }

  /// Makes a recorded event of a kind that has been looked up already; nil is an unknown one.
  package init(
    position: GlobalPosition, id: EventID, upload: UploadID?, revision: StreamRevision,
    kind: EventKind?, kindName: String, version: Int, time: Timestamp, causeName: String,
    launch: LaunchGeneration, compensates: GlobalPosition?, observation: ObservationKey?,
    fields: EventFields
  ) {
    self.init(
      position: position, id: id, upload: upload, revision: revision, kindName: kindName,
      version: version, time: time, causeName: causeName, launch: launch, compensates: compensates,
      observation: observation, fields: fields,
      body: Upcasters.body(kind: kind, version: version, fields: fields))
  }

  /// Makes a recorded event whose fields were just written from `body`: reading them back would
  /// give the same.
  package init(
    position: GlobalPosition, id: EventID, upload: UploadID?, revision: StreamRevision,
    kindName: String, version: Int, time: Timestamp, causeName: String, launch: LaunchGeneration,
    compensates: GlobalPosition?, observation: ObservationKey?, fields: EventFields, body: Body
  ) {
    self.position = position
    self.id = id
    self.upload = upload
    self.revision = revision
    self.kindName = kindName
    self.version = version
    self.time = time
    self.causeName = causeName
    self.launch = launch
    self.compensates = compensates
    self.observation = observation
    self.fields = fields
    self.body = body
  }

  /// Who brought it; nil for a cause this code does not know.
  public var cause: Cause? { Cause(rawValue: causeName) }

  /// The known kind, or nil.
  public var kind: EventKind? { EventKind(rawValue: kindName) }
}

/// The one way from stored fields to an event, whatever version they were written in.
///
/// A chain of one-version steps brings old fields to the current shape at read time; the stored
/// event is never changed.
enum Upcasters {
  static func body(kindName: String, version: Int, fields: EventFields) -> RecordedEvent.Body {
    body(kind: EventKind(rawValue: kindName), version: version, fields: fields)
  }

  static func body(kind: EventKind?, version: Int, fields: EventFields) -> RecordedEvent.Body {
    // A version 2 so far only added fields that the first one has not; the payload reads both.
    guard let kind, (1...kind.newestVersion).contains(version) else { return .unrecognized }
    do {
      if kind.isLedgerKind {
        return try LedgerEvent(kind: kind, fields: fields).map { .ledger($0) } ?? .unrecognized
      }
      return try UploadEvent(kind: kind, fields: fields).map { .upload($0) } ?? .unrecognized
    } catch {
      return .unreadable(error)
    }
  }
}

/// Names the claim an event came from, so that a repeated callback is one event.
public struct ObservationKey: Hashable, Sendable {
  /// The text of the key, unique in its stream.
  public let text: String

  /// Makes a key from its text.
  public init(_ text: String) { self.text = text }
}

/// An event that has been decided and not yet appended.
public struct ProposedEvent: Equatable, Sendable {
  /// The fact.
  public let event: UploadEvent
  /// Who brought it.
  public let cause: Cause
  /// The position of the event it corrects.
  public let compensates: GlobalPosition?
  /// The key of the claim it came from.
  public let observation: ObservationKey?

  /// Makes a proposal.
  public init(
    _ event: UploadEvent, cause: Cause, compensates: GlobalPosition? = nil,
    observation: ObservationKey? = nil
  ) {
    self.event = event
    self.cause = cause
    self.compensates = compensates
    self.observation = observation
  }
}
