internal import WaybillModel

/// A recorded event for people and for machines.
extension RecordedEvent {
  /// The event as one flat object: its place and what brought it, then its own fields.
  var document: JSONValue {
    var members: [JSONValue.Member] = [
      .init("v", .integer(1)), .init("type", .text("event")),
      .init("position", .integer(position.value)),
      .init("upload", upload.map { .text($0.description) } ?? .null),
      .init("revision", .integer(revision.value)), .init("kind", .text(kindName)),
      .init("ts", .text(time.description)), .init("event_id", .text(id.description)),
      .init("kind_version", .integer(Int64(version))), .init("cause", .text(causeName)),
      .init("launch", .integer(launch.value)),
    ]
    func add(_ key: String, _ value: JSONValue?) {
      if let value { members.append(.init(key, value)) }
    }
    add("compensates", compensates.map { .integer($0.value) })
    add("observation", observation.map { .text($0.text) })
    add("part", fields.part.map { .integer($0) })
    add("bytes", fields.bytes.map { .integer($0) })
    add("attempt", fields.attempt.map { .integer($0) })
    add("until", fields.until.map { .text(Timestamp(microseconds: $0).description) })
    add("code", fields.code.map { .text($0) })
    add("reference", fields.reference.map { .text($0) })
    add("hash", fields.hash.map { .text($0.description) })
    if let bytes = fields.name {
      let name = FileName(bytes: bytes)
      add("name", .text(name.repaired))
      if name.text == nil { add("name_hex", .text(name.hex)) }
    }
    if let payload = fields.payload {
      if case .object(let rest)? = try? JSONValue.read([UInt8](payload.utf8)) {
        let taken = Set(members.map(\.key))
        for member in rest where !taken.contains(member.key) { members.append(member) }
      } else {
        add("payload", .text(payload))
      }
    }
    return .object(members)
  }

  /// What the event says beyond its kind, on one line; empty when it says no more.
  func detail(_ times: TimeText) -> String {
    switch body {
    case .upload(let event): event.detail(times)
    case .ledger(let event): event.detail
    case .unrecognized: "not known to this version"
    case .unreadable(let problem): "cannot be read: \(problem)"
    }
  }
}

extension UploadEvent {
  fileprivate func detail(_ times: TimeText) -> String {
    switch self {
    case .exported(let fact): "\(fact.name.display), \(HumanText.byteCount(fact.byteCount))"
    case .hashed(let fact): "sha256 \(fact.hash.description.prefix(16))…"
    case .deduplicated(let fact):
      switch fact.original {
      case .upload(let id): "same bytes as \(id.short)"
      case .remote(let id): "the server has these bytes as \(id.text)"
      }
    case .queued(let fact): "to \(EscapedText.escape(fact.intent.destination))"
    case .sessionOpened(let fact):
      HumanText.count(fact.offer.partCount, "part")
        + " of \(HumanText.byteCount(fact.offer.partSize)), session \(fact.offer.session.text)"
    case .partSent(let fact):
      "part \(fact.part.index), attempt \(fact.attempt), \(HumanText.byteCount(fact.byteCount))"
    case .partFailed(let fact):
      "part \(fact.part.index), attempt \(fact.attempt): \(fact.failure.words)"
        + (fact.status.map { ", status \($0)" } ?? "")
        + (fact.notBefore.map { ", not before \(times.ofDay($0))" } ?? "")
    case .delayed(let fact):
      "\(fact.step.words): \(fact.failure.words)"
        + (fact.status.map { ", status \($0)" } ?? "")
        + ", not before \(times.ofDay(fact.until))"
    case .partConfirmed(let fact):
      "part \(fact.part.index), \(HumanText.byteCount(fact.byteCount))"
    case .received(let fact): "the server holds all \(HumanText.byteCount(fact.byteCount))"
    case .verified(let fact): "the server's hash equals ours, \(fact.hash.description.prefix(16))…"
    case .committed(let fact): "available everywhere as \(fact.remote.text)"
    case .conflicted(let fact): "the record is at version \(fact.currentVersion) now"
    case .cancelled(let fact): "by \(fact.reason.rawValue)"
    case .retried(let fact): "round \(fact.round)"
    case .attentionNeeded(let fact):
      fact.reason.words + (fact.status.map { ", status \($0)" } ?? "")
    case .partRevoked(let fact):
      "part \(fact.part.index): the server holds \(HumanText.byteCount(fact.byteCount)) of it now"
    case .transferLost(let fact):
      "part \(fact.part.index), attempt \(fact.attempt): the transport knows nothing of it"
    case .sessionExpired(let fact): "session \(fact.session.text) is gone"
    case .noted(let fact): fact.claim.rawValue.replacing("_", with: " ")
    default: fields.detail
    }
  }
}

extension EventFields {
  /// What the columns alone say, for a kind that nobody has put into words.
  fileprivate var detail: String {
    [
      part.map { "part \($0)" }, attempt.map { "attempt \($0)" },
      bytes.map { HumanText.byteCount($0) }, code.map { EscapedText.escape($0) },
      reference.map { EscapedText.escape($0) },
    ].compactMap { $0 }.joined(separator: ", ")
  }
}

extension LedgerEvent {
  fileprivate var detail: String {
    switch self {
    case .launched(let fact):
      "launch \(fact.generation.value), \(EscapedText.escape(fact.app)), SQLite"
        + " \(EscapedText.escape(fact.sqlite))"
    case .reconciled(let fact):
      "\(HumanText.count(Int(clamping: fact.uploads), "upload")) compared,"
        + " \(HumanText.count(Int(clamping: fact.events), "event")) appended"
    case .conditionsChanged(let fact):
      "network \(fact.network.rawValue), credentials \(fact.credentials.rawValue)"
        + (fact.held.map { ", held up for \($0.reason.words)" } ?? "")
    case .tailLost(let fact):
      "events \(fact.lastPosition.value + 1) to \(fact.markedPosition.value) are gone"
    case .archived(let fact):
      HumanText.count(Int(clamping: fact.count), "event") + " of ended uploads, positions"
        + " \(fact.first.value) to \(fact.last.value), moved into \(SegmentName(fact).text)"
    case .purged(let fact):
      HumanText.count(Int(clamping: fact.uploads), "upload") + " removed for good, with "
        + HumanText.count(Int(clamping: fact.removed.count), "event")
    case .assigned: "bound to an account"
    case .sealed(let sealed):
      sealed.copies == .keep ? "copies are kept" : "uploads and copies are discarded"
    case .unsealed: ""
    }
  }
}

extension DelayedStep {
  /// The step in a person's words.
  fileprivate var words: String { rawValue.replacing("_", with: " ") }
}

extension FailureKind {
  /// The failure in a person's words.
  fileprivate var words: String { rawValue.replacing("_", with: " ") }
}
