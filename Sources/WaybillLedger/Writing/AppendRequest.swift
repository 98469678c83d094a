public import WaybillModel

/// The revision an append expects its stream to be at.
public enum ExpectedRevision: Hashable, Sendable {
  /// The stream has no events yet.
  case none
  /// The stream is at exactly this revision.
  case exactly(StreamRevision)
  /// Whatever it is at.
  case any

  func holds(for revision: StreamRevision) -> Bool {
    switch self {
    case .none: revision == .none
    case .exactly(let wanted): revision == wanted
    case .any: true
    }
  }
}

/// One caller's events for one stream, all or none.
struct AppendRequest: Sendable {
  /// nil for the ledger's own stream.
  let upload: UploadID?
  let expected: ExpectedRevision
  let drafts: [EventDraft]
  /// Ids given by the caller, one for each draft; the same ids again append nothing.
  let ids: [EventID]?

  var durability: Durability { drafts.map(\.durability).max() ?? .ridesAlong }

  /// Whether every event of it is still recorded when the disk is full.
  var mayUseReserve: Bool { drafts.allSatisfy(\.kind.mayUseReserve) }
}

/// An event as it will be stored, before it has a place.
struct EventDraft: Sendable {
  let kind: EventKind
  let version: Int
  let fields: EventFields
  let body: RecordedEvent.Body
  let cause: Cause
  let compensates: GlobalPosition?
  let observation: ObservationKey?

  var durability: Durability { kind.durability }

  /// Whether the event says that a part, or for the end of an upload or session every part, is no
  /// longer on its way.
  var endsFlight: Bool {
    switch kind {
    case .partConfirmed, .partFailed, .transferLost, .sessionExpired, .sessionOpened,
      .uploadCommitted, .uploadCancelled, .uploadDeduplicated:
      true
    default: false
    }
  }

  init(_ proposed: ProposedEvent) {
    kind = proposed.event.kind
    version = proposed.event.version
    fields = proposed.event.fields
    body = .upload(proposed.event)
    cause = proposed.cause
    compensates = proposed.compensates
    observation = proposed.observation
  }

  init(_ event: LedgerEvent, cause: Cause, compensates: GlobalPosition? = nil) {
    kind = event.kind
    version = event.version
    fields = event.fields
    body = .ledger(event)
    self.cause = cause
    self.compensates = compensates
    observation = nil
  }
}
