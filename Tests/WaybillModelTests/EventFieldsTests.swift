import Testing
import WaybillModel
import WaybillTesting

struct EventFieldsTests {
  private func body(
    _ kindName: String, version: Int = 1, _ fields: EventFields
  ) -> RecordedEvent.Body {
    var history = History()
    return history.record(kindName: kindName, version: version, fields: fields).body
  }

  @Test(arguments: EventKind.allCases)
  func `every kind reads back from its own fields`(kind: EventKind) {
    let expected: RecordedEvent.Body? =
      Samples.uploadEvent(kind).map { .upload($0) } ?? Samples.ledgerEvent(kind).map { .ledger($0) }
    #expect(body(kind.rawValue, Samples.fields(kind)) == expected)
  }

  @Test func `what is not stated reads back as not stated`() {
    let bare: [UploadEvent] = [
      .exported(
        Exported(
          file: StagedFileID(Samples.upload), name: FileName(bytes: [0xff, 0x00, 0x2f]),
          byteCount: 0, source: .file)),
      .deduplicated(Deduplicated(original: .remote(Samples.remote))),
      .queued(
        Queued(
          intent: Intent(destination: "", operation: IdempotencyKey("k"), priority: .background))),
      .sessionOpened(
        SessionOpened(
          offer: SessionOffer(
            session: Samples.session, partSize: 65_536, partCount: 0, expires: nil))),
      .partFailed(
        PartFailed(part: PartNumber(9999), attempt: 1, failure: .offline, notBefore: nil)),
      .committed(Committed(remote: Samples.remote, version: nil, hash: Samples.hash, status: 0)),
      .attentionNeeded(AttentionNeeded(reason: .recordUnreadable)),
      .noted(Noted(claim: .latePart)),
    ]
    for event in bare { #expect(body(event.kind.rawValue, event.fields) == .upload(event)) }
  }

  @Test func `the first shape of the conditions knew of no rule and asked no device`() throws {
    let stored = try #require(EventSample.read(.conditionsChanged, version: 1))
    #expect(
      body("conditions.changed", stored.fields)
        == .ledger(.conditionsChanged(Conditions(network: .online, credentials: .accepted))))
  }

  @Test func `conditions read back as they were, whatever was not known`() {
    let all = [
      Conditions(), Conditions(network: .offline, held: Waiting(.wifi)),
      Conditions(
        held: Waiting(.window, until: Samples.time),
        device: DeviceConditions(
          link: .none, isMetered: false, isLowData: true, power: .external, isBatterySaver: false)),
    ]
    for conditions in all {
      let event = LedgerEvent.conditionsChanged(conditions)
      #expect(body("conditions.changed", version: 2, event.fields) == .ledger(event))
    }
  }

  @Test(arguments: RequiredColumn.all)
  func `a missing column is named`(required: RequiredColumn) {
    var fields = Samples.fields(required.kind)
    required.column.clear(&fields)
    #expect(problem(required.kind, fields) == "\(required.column.rawValue) is missing")
  }

  @Test(arguments: OutOfRange.all)
  func `a value out of range is named`(wrong: OutOfRange) {
    var fields = Samples.fields(wrong.kind)
    wrong.spoil(&fields)
    #expect(
      problem(wrong.kind, fields) == "\(wrong.column) holds a value that this kind cannot have",
      "\(wrong.kind.rawValue)")
  }

  @Test(arguments: MissingMember.all)
  func `a missing member of the payload is named`(missing: MissingMember) {
    var fields = Samples.fields(missing.kind)
    fields.payload = missing.payload
    #expect(problem(missing.kind, fields) == "payload.\(missing.member) is missing")
  }

  private func problem(_ kind: EventKind, _ fields: EventFields) -> String? {
    guard case .unreadable(let problem) = body(kind.rawValue, fields) else { return nil }
    return problem.description
  }

  @Test(arguments: ["part.teleported", "", "PART.SENT", "upload.queued ", "part.sent\u{0}"])
  func `an unknown kind is kept byte for byte`(kindName: String) {
    let fields = EventFieldsTests.strangeFields
    var history = History().and(Samples.queued())
    let before = history.upload
    let recorded = history.record(kindName: kindName, fields: fields)
    #expect(recorded.body == .unrecognized)
    #expect(recorded.kindName == kindName)
    #expect(recorded.fields == fields)
    #expect(recorded.fields.payload?.utf8.elementsEqual("{ \"a\":1 ,\"a\":2}".utf8) == true)
    expectOnlyPlaceChanged(from: before, to: history.upload)
  }

  @Test(arguments: [0, 3, -1, Int.max])
  func `an unknown version of a known kind is kept byte for byte`(version: Int) {
    for kind in EventKind.allCases {
      var history = History().and(Samples.queued())
      let before = history.upload
      let recorded = history.record(
        kindName: kind.rawValue, version: version, fields: EventFieldsTests.strangeFields)
      #expect(recorded.body == .unrecognized)
      #expect(recorded.version == version)
      #expect(recorded.fields == EventFieldsTests.strangeFields)
      expectOnlyPlaceChanged(from: before, to: history.upload)
    }
  }

  private static var strangeFields: EventFields {
    var fields = EventFields()
    fields.part = .min
    fields.bytes = .max
    fields.attempt = -7
    fields.code = "\u{202e}"
    fields.name = [0xff, 0xfe]
    fields.payload = "{ \"a\":1 ,\"a\":2}"
    return fields
  }

  private func expectOnlyPlaceChanged(from before: Upload, to after: Upload) {
    #expect(after.revision == before.revision.next)
    #expect(after.lastPosition == before.lastPosition.next)
    #expect(after.state == before.state)
    #expect(after.copy == before.copy && after.intent == before.intent)
  }

  @Test func `an unreadable event asks for a person and says so`() {
    var history = History().and(Samples.queued())
    history.record(kindName: EventKind.partSent.rawValue, fields: EventFields())
    #expect(history.upload.attention?.reason == .recordUnreadable)
    #expect(history.upload.attention?.position == GlobalPosition(4))
  }
}

enum Column: String {
  case part, bytes, attempt, code, reference, hash, name

  func clear(_ fields: inout EventFields) {
    switch self {
    case .part: fields.part = nil
    case .bytes: fields.bytes = nil
    case .attempt: fields.attempt = nil
    case .code: fields.code = nil
    case .reference: fields.reference = nil
    case .hash: fields.hash = nil
    case .name: fields.name = nil
    }
  }
}

struct RequiredColumn {
  let kind: EventKind
  let column: Column

  static let all: [RequiredColumn] = columns.flatMap { kind, columns -> [RequiredColumn] in
    columns.map { RequiredColumn(kind: kind, column: $0) }
  }

  private static let columns: [(EventKind, [Column])] = [
    (.uploadExported, [.reference, .name, .bytes, .code]),
    (.uploadHashed, [.hash]), (.uploadDeduplicated, [.reference, .code]),
    (.uploadQueued, [.reference]), (.sessionOpened, [.reference, .bytes]),
    (.partSent, [.part, .attempt, .bytes]), (.partFailed, [.part, .attempt, .code]),
    (.partConfirmed, [.part, .bytes]), (.uploadReceived, [.bytes]), (.uploadVerified, [.hash]),
    (.uploadCommitted, [.reference, .hash]), (.uploadCancelled, [.code]),
    (.uploadRetried, [.attempt]), (.attentionNeeded, [.code]),
    (.partRevoked, [.part, .bytes, .attempt]), (.transferLost, [.part, .attempt]),
    (.sessionExpired, [.reference]), (.observationNoted, [.code]),
    (.ledgerLaunched, [.code, .attempt]), (.ledgerArchived, [.hash]),
  ]
}

struct MissingMember {
  let kind: EventKind
  let member: String
  let payload: String?

  static let all = [
    MissingMember(kind: .uploadQueued, member: "priority", payload: nil),
    MissingMember(kind: .uploadQueued, member: "destination", payload: "{\"priority\":0}"),
    MissingMember(kind: .sessionOpened, member: "part_count", payload: "{}"),
    MissingMember(kind: .uploadCommitted, member: "status", payload: nil),
    MissingMember(kind: .uploadConflicted, member: "current_version", payload: nil),
    MissingMember(kind: .ledgerLaunched, member: "app", payload: nil),
    MissingMember(kind: .ledgerLaunched, member: "sqlite", payload: "{\"app\":\"a\"}"),
    MissingMember(kind: .ledgerReconciled, member: "uploads", payload: nil),
    MissingMember(kind: .ledgerReconciled, member: "events", payload: "{\"uploads\":1}"),
    MissingMember(kind: .conditionsChanged, member: "network", payload: nil),
    MissingMember(
      kind: .conditionsChanged, member: "credentials", payload: "{\"network\":\"online\"}"),
    MissingMember(kind: .ledgerTailLost, member: "marked_position", payload: nil),
    MissingMember(
      kind: .ledgerTailLost, member: "last_position", payload: "{\"marked_position\":1}"),
    MissingMember(kind: .ledgerArchived, member: "first", payload: nil),
  ]
}

struct OutOfRange: Sendable {
  let kind: EventKind
  let column: String
  let spoil: @Sendable (inout EventFields) -> Void

  static let all: [OutOfRange] = parts + attempts + bytes + words + payloads

  private static func integers(
    _ column: String, _ set: @escaping @Sendable (inout EventFields, Int64) -> Void,
    _ kinds: [EventKind], _ values: [Int64]
  ) -> [OutOfRange] {
    kinds.flatMap { kind -> [OutOfRange] in
      values.map { value in OutOfRange(kind: kind, column: column) { set(&$0, value) } }
    }
  }

  private static func texts(
    _ column: String, _ set: @escaping @Sendable (inout EventFields, String) -> Void,
    _ kinds: [EventKind], _ value: String
  ) -> [OutOfRange] {
    kinds.map { kind in OutOfRange(kind: kind, column: column) { set(&$0, value) } }
  }

  private static let parts = integers(
    "part", { $0.part = $1 },
    [.partSent, .partFailed, .partConfirmed, .partRevoked, .observationNoted],
    [-1, 10_000, .min, .max])

  private static let attempts = integers(
    "attempt", { $0.attempt = $1 },
    [.partSent, .partFailed, .transferLost, .partRevoked, .uploadRetried, .ledgerLaunched],
    [-1, 0, Int64(Int32.max) + 1, .max])

  private static let bytes = integers(
    "bytes", { $0.bytes = $1 },
    [.uploadExported, .sessionOpened, .partSent, .partConfirmed, .uploadReceived, .partRevoked],
    [-1, .min])

  private static let words: [OutOfRange] =
    texts(
      "code", { $0.code = $1 },
      [
        .uploadExported, .uploadDeduplicated, .partFailed, .uploadCancelled, .attentionNeeded,
        .observationNoted, .ledgerLaunched, .conditionsChanged,
      ], "no such word")
    + texts("code", { $0.code = $1 }, [.conditionsChanged], Waiting.Reason.offline.rawValue)
    + texts(
      "reference", { $0.reference = $1 },
      [.uploadQueued, .sessionOpened, .uploadCommitted, .sessionExpired, .uploadDeduplicated], "")
    + texts("reference", { $0.reference = $1 }, [.uploadExported], "../etc/passwd")
    + texts("reference", { $0.reference = $1 }, [.uploadDeduplicated], "not-a-uuid")

  private static let payloads: [OutOfRange] = wrongPayloads.map { kind, column, payload in
    OutOfRange(kind: kind, column: column) { $0.payload = payload }
  }

  private static func online(_ rest: String) -> String {
    "{\"network\":\"online\",\"credentials\":\"accepted\",\(rest)}"
  }

  private static let wrongPayloads: [(EventKind, String, String)] = [
    (.uploadQueued, "payload", "[]"), (.uploadQueued, "payload", "{"),
    (.uploadQueued, "payload", "{\"priority\":0,\"priority\":1}"),
    (.uploadQueued, "payload.priority", "{\"priority\":7}"),
    (.uploadQueued, "payload.priority", "{\"priority\":0.5}"),
    (.uploadQueued, "payload.destination", "{\"priority\":0,\"destination\":1}"),
    (
      .uploadQueued, "payload.base_version",
      "{\"priority\":0,\"destination\":\"d\",\"base_version\":\"4\"}"
    ),
    (.sessionOpened, "payload.part_count", "{\"part_count\":10001}"),
    (.sessionOpened, "payload.part_count", "{\"part_count\":-1}"),
    (.sessionOpened, "payload.received", "{\"part_count\":3,\"received\":\"2-1\"}"),
    (.sessionOpened, "payload.received", "{\"part_count\":3,\"received\":[0,1]}"),
    (.partFailed, "payload.status", "{\"status\":\"503\"}"),
    (.uploadCommitted, "payload.status", "{\"status\":\"200\"}"),
    (.uploadCommitted, "payload.record_version", "{\"status\":200,\"record_version\":\"5\"}"),
    (.uploadConflicted, "payload.current_version", "{\"current_version\":1e3}"),
    (.attentionNeeded, "payload.actions", "{\"actions\":[\"dance\"]}"),
    (.attentionNeeded, "payload.actions", "{\"actions\":\"retry\"}"),
    (.attentionNeeded, "payload.status", "{\"actions\":[],\"status\":true}"),
    (.conditionsChanged, "payload.network", "{\"network\":\"5g\",\"credentials\":\"accepted\"}"),
    (.conditionsChanged, "payload.credentials", "{\"network\":\"online\",\"credentials\":\"\"}"),
    (.conditionsChanged, "payload.link", online("\"link\":\"pigeon\"")),
    (.conditionsChanged, "payload.power", online("\"power\":1")),
    (.conditionsChanged, "payload.metered", online("\"metered\":\"yes\"")),
    (.conditionsChanged, "payload.low_data", online("\"low_data\":0")),
    (.conditionsChanged, "payload.battery_saver", online("\"battery_saver\":null")),
    (.ledgerReconciled, "payload.uploads", "{\"uploads\":\"1\",\"events\":1}"),
  ]
}
