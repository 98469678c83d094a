import Testing
import WaybillModel
import WaybillTesting

struct EvolveTests {
  @Test func `every kind of event has the recorded effect in every state`() {
    var text = """
      What each event does in each state. One block for each state, one line for each kind: the
      word of the six-state view afterwards, then what changed; "." means nothing did.


      """
    for story in Story.allCases {
      let before = story.history
      text += "## \(story.rawValue): \(before.upload.stateWord?.rawValue ?? "none")\n"
      for kind in EventKind.allCases where !kind.isLedgerKind {
        var after = before
        after.record(kindName: kind.rawValue, fields: Samples.fields(kind))
        let word = after.upload.stateWord?.rawValue ?? "none"
        let changes = Facets.changes(from: before.upload, to: after.upload)
        text += padded(kind.rawValue, 26) + padded(word, 16) + changes + "\n"
      }
      text += "\n"
    }
    Golden.check(text, against: "Tests/Golden/transitions.txt")
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  @Test(arguments: Story.allCases)
  func `an event of the ledger's own stream changes no upload`(story: Story) {
    for kind in EventKind.allCases where kind.isLedgerKind {
      var history = story.history
      let before = history.upload
      history.record(kindName: kind.rawValue, fields: Samples.fields(kind))
      #expect(Facets.changes(from: before, to: history.upload) == ".")
    }
  }

  @Test(arguments: Story.allCases)
  func `absurd events are folded without a trap and without absurd counts`(story: Story) {
    for event in EvolveTests.absurd {
      for again in EvolveTests.absurd {
        var history = story.history
        history.record([ProposedEvent(event, cause: .server), ProposedEvent(again, cause: .server)])
        let upload = history.upload
        let size = upload.byteCount
        #expect((0...size).contains(upload.confirmedBytes), "\(event) \(again)")
        #expect(upload.bytesInFlight >= 0)
        #expect(upload.confirmedBytes + upload.bytesInFlight <= size, "\(event) \(again)")
        if case .sending(let confirmed, let inFlight, let total)? = upload.state {
          #expect(confirmed >= 0 && inFlight >= 0 && confirmed + inFlight <= total)
        }
        let row = QueuedUpload(upload, progress: .max)
        #expect((0...size).contains(row?.bytesSent ?? 0))
      }
    }
  }

  private static let absurd: [UploadEvent] = [
    .exported(Samples.exported(byteCount: 0)), .exported(Samples.exported(byteCount: .max)),
    .sessionOpened(SessionOpened(offer: Samples.offer(partSize: 1))),
    .sessionOpened(SessionOpened(offer: Samples.offer(byteCount: 9, partSize: 65_536))),
    .partSent(PartSent(part: PartNumber(9999), attempt: Int(Int32.max), byteCount: .max)),
    .partSent(PartSent(part: PartNumber(0), attempt: Int(Int32.max), byteCount: .max)),
    Samples.sent(1), Samples.confirmed(9999), Samples.confirmed(0, byteCount: .max),
    Samples.confirmed(1, byteCount: .max), Samples.confirmed(2, byteCount: 1),
    .partFailed(
      PartFailed(
        part: PartNumber(9999), attempt: 9, failure: .refused,
        notBefore: Timestamp(microseconds: .min))),
    .partRevoked(PartRevoked(part: PartNumber(9999), byteCount: .max, regression: 1)),
    .partRevoked(PartRevoked(part: PartNumber(0), byteCount: .max, regression: Int(Int32.max))),
    .transferLost(TransferLost(part: PartNumber(9999), attempt: 1)),
    .received(Received(byteCount: .max)), .retried(Retried(round: Int(Int32.max))),
    .sessionExpired(SessionExpired(session: SessionReference("another"))),
  ]

  @Test func `the fold remembers where it stands`() {
    let upload = History().and(Samples.opened()).upload
    #expect(upload.revision == StreamRevision(4))
    #expect(upload.firstPosition == GlobalPosition(1))
    #expect(upload.lastPosition == GlobalPosition(4))
    #expect(upload.session?.opened == GlobalPosition(4))
  }

  @Test(arguments: [Story.committed, .released, .cancelled, .deduplicated])
  func `after the end nothing but the release of the copy means anything`(story: Story) {
    for kind in EventKind.allCases where !kind.isLedgerKind && kind != .copyReleased {
      var history = story.history
      let before = history.upload
      history.record(kindName: kind.rawValue, fields: Samples.fields(kind))
      #expect(Facets.changes(from: before, to: history.upload) == ".", "\(kind.rawValue)")
    }
  }

  @Test func `attempts in a new session begin behind those of the old one`() {
    let history = given(Samples.opened()).and(
      Samples.sent(0), Samples.failed(0, .interrupted), Samples.sent(0, attempt: 2),
      .sessionExpired(SessionExpired(session: Samples.session)),
      .sessionOpened(SessionOpened(offer: Samples.offer(SessionReference("ses-2")))))
    history.when(.send(PartNumber(1))).then(Samples.sent(1, attempt: 3))
  }

  @Test func `the ledger's own stream folds into its state`() {
    var ledger = LedgerState()
    for kind in EventKind.allCases where kind.isLedgerKind {
      var history = History()
      ledger.evolve(history.record(kindName: kind.rawValue, fields: Samples.fields(kind)))
      switch kind {
      case .ledgerLaunched: #expect(ledger.launch == LaunchGeneration(3))
      case .conditionsChanged:
        #expect(ledger.conditions.network == .online)
        #expect(ledger.waiting?.reason == .window)
        #expect(ledger.conditions.device.power == .battery)
      case .ledgerAssigned: #expect(ledger.account != nil)
      case .ledgerSealed: #expect(ledger.isSealed)
      case .ledgerUnsealed: #expect(!ledger.isSealed)
      case .ledgerTailLost: #expect(ledger.tailLost == GlobalPosition(1))
      default: break
      }
    }
    var history = History()
    ledger.evolve(
      history.record(
        kindName: EventKind.ledgerReconciled.rawValue, fields: Samples.fields(.ledgerReconciled)))
    #expect(ledger.tailLost == nil)
  }
}

/// An upload as labelled words, so that two can be compared on one line.
enum Facets {
  static func changes(from before: Upload, to after: Upload) -> String {
    let old = list(before)
    let new = list(after)
    var lines: [String] = []
    for (label, value) in new where old.first(where: { $0.0 == label })?.1 != value {
      let was = old.first { $0.0 == label }?.1 ?? "-"
      lines.append("\(label) \(was) → \(value)")
    }
    for (label, value) in old where !new.contains(where: { $0.0 == label }) {
      lines.append("\(label) \(value) → -")
    }
    return lines.isEmpty ? "." : lines.joined(separator: "; ")
  }

  private static func list(_ upload: Upload) -> [(String, String)] {
    var facets: [(String, String)] = [
      ("copy", upload.copy.map { "\($0.byteCount) B" } ?? "-"),
      ("released", mark(upload.copyReleased)),
      ("hash", upload.hash.map { String($0.description.prefix(4)) } ?? "-"),
      ("intent", upload.intent?.operation.text ?? "-"),
      ("session", upload.session?.reference.text ?? "-"),
      ("floor", "\(upload.attemptFloor)"), ("barren", "\(upload.barrenSessions)"),
      ("regressions", "\(upload.regressions)"), ("received", mark(upload.received)),
      ("verified", mark(upload.verified)),
      ("delay", upload.delay.map { "\($0.failure.rawValue) #\($0.attempt)" } ?? "-"),
      ("conflict", upload.conflict.map { "v\($0)" } ?? "-"),
      ("attention", upload.attention?.reason.rawValue ?? "-"), ("paused", mark(upload.paused)),
      ("round", "\(upload.round)"), ("ending", ending(upload)),
    ]
    for index in upload.parts.indices { facets.append(("part \(index)", part(upload, index))) }
    return facets
  }

  private static func mark(_ position: GlobalPosition?) -> String {
    position.map { "@\($0.value)" } ?? "-"
  }

  private static func ending(_ upload: Upload) -> String {
    switch upload.ending {
    case .committed(let committed): "committed \(committed.remote.text)"
    case .deduplicated(.upload): "same as an upload"
    case .deduplicated(.remote(let remote)): "same as \(remote.text)"
    case .cancelled(let reason): "cancelled by \(reason.rawValue)"
    case nil: "-"
    }
  }

  private static func part(_ upload: Upload, _ index: Int) -> String {
    let part = upload.parts[index]
    var words: [String] = []
    if part.confirmed > 0 { words.append("\(part.confirmed) B" + mark(part.confirmedAt)) }
    if let flight = part.flight { words.append("sent #\(flight.attempt)") }
    if let failure = part.failure { words.append("failed #\(part.attempt) \(failure.rawValue)") }
    if part.failures > 0 { words.append("charged \(part.failures)") }
    if part.postponements > 0 { words.append("postponed \(part.postponements)") }
    if part.notBefore != nil { words.append("waits") }
    return words.isEmpty ? "unsent" : words.joined(separator: " ")
  }
}
