import Testing
import WaybillModel
import WaybillTesting

/// The rows of the table in the design, by name.
struct ReconciliationTests {
  private let expired = UploadEvent.sessionExpired(SessionExpired(session: Samples.session))

  private func revoked(_ part: Int, regression: Int = 1) -> UploadEvent {
    .partRevoked(PartRevoked(part: PartNumber(part), byteCount: 0, regression: regression))
  }

  // MARK: Transport

  @Test func `a part sent whose task is alive needs nothing`() {
    Story.inFlight.history.when(transportHas: [Samples.transfer(2)]).thenNothing()
  }

  @Test func `a part sent by an earlier launch whose task is alive needs nothing`() {
    Story.inFlight.history.relaunched().when(transportHas: [Samples.transfer(2)]).thenNothing()
  }

  // Cases A01, A03, A05.
  @Test func `a part sent without a task is lost and no attempt is charged`() {
    let history = Story.inFlight.history.relaunched().when(transportHas: [])
      .then(.transferLost(TransferLost(part: PartNumber(2), attempt: 1)))
    #expect(history.log.last?.compensates == GlobalPosition(5))
    #expect(history.upload.parts[2].failures == 0)
    #expect(history.upload.flights.isEmpty)
    history.when(transportHas: []).thenNothing()
    history.when(.send(PartNumber(2))).then(Samples.sent(2, attempt: 2))
  }

  @Test func `a task of another attempt does not stand for the one that was sent`() {
    Story.inFlight.history
      .when(transportHas: [
        Samples.transfer(2, attempt: 2), Samples.transfer(2, launch: 2), Samples.transfer(1),
      ])
      .then(.transferLost(TransferLost(part: PartNumber(2), attempt: 1)))
  }

  @Test(arguments: [Story.cancelled, .committed, .deduplicated])
  func `an ended upload has no lost transfers`(story: Story) {
    story.history.when(transportHas: []).thenNothing()
  }

  // MARK: Server

  @Test func `a part sent or unsent that the server holds is confirmed`() {
    let history = Story.inFlight.history.when(serverSays: .open(received: PartSet([1, 2])))
      .then(Samples.confirmed(1), Samples.confirmed(2))
    history.when(serverSays: .open(received: PartSet([1, 2]))).thenNothing()
    #expect(history.upload.flights.isEmpty)
  }

  @Test func `a part half confirmed that the server holds is confirmed whole`() {
    given(Samples.opened()).and(Samples.confirmed(0, byteCount: 4_194_304))
      .when(serverSays: .open(received: PartSet([0]))).then(Samples.confirmed(0))
      .when(serverSays: .open(received: PartSet([0]))).thenNothing()
  }

  @Test func `a part confirmed that the server lacks is revoked`() {
    let history = Story.someConfirmed.history.when(serverSays: .open(received: PartSet()))
      .then(revoked(0))
    #expect(history.log.last?.compensates == GlobalPosition(6))
    #expect(history.upload.parts[0].confirmed == 0)
    history.when(serverSays: .open(received: PartSet())).thenNothing()
  }

  // Case B01: two parts of 4 MiB stand for offset 8 MiB.
  @Test func `what lies beyond the server's offset is revoked and sent again`() {
    let part: Int64 = 4_194_304
    let offer = Samples.offer(byteCount: 20_000_000, partSize: part)
    let history = given(Samples.queued()).and(
      .sessionOpened(SessionOpened(offer: offer)), Samples.confirmed(0, byteCount: part),
      Samples.confirmed(1, byteCount: part))
    let after = history.when(serverSays: .open(received: PartSet([0]))).then(revoked(1))
    #expect(after.upload.confirmedBytes == part)
    after.when(.send(PartNumber(1)))
      .then(.partSent(PartSent(part: PartNumber(1), attempt: 1, byteCount: part)))
  }

  // Cases B04, B12.
  @Test func `a session that is gone expires once`() {
    let history = Story.someConfirmed.history.when(serverSays: .gone).then(expired)
    #expect(history.log.last?.compensates == GlobalPosition(4))
    #expect(history.upload.session == nil && history.upload.parts.isEmpty)
    #expect(history.upload.intent?.operation == Samples.intent.operation)
    history.when(serverSays: .gone).thenNothing()
  }

  @Test func `all parts confirmed and received is recorded once`() {
    Story.allConfirmed.history.when(serverSays: .received)
      .then(.received(Received(byteCount: 20_000_000)))
      .when(serverSays: .received).thenNothing()
      .when(serverSays: .open(received: PartSet(all: 3))).thenNothing()
  }

  @Test func `received with parts we did not know of confirms them first`() {
    Story.someConfirmed.history.when(serverSays: .received)
      .then(Samples.confirmed(1), Samples.confirmed(2), .received(Received(byteCount: 20_000_000)))
      .when(serverSays: .received).thenNothing()
  }

  // Cases B20, E04.
  @Test(arguments: [Story.received, .verified, .inFlight, .expired, .attention, .paused])
  func `committed with our hash ends as committed`(story: Story) {
    var history = story.history
    let status = ServerStatus.committed(Samples.stored())
    history.record(Reconciliation.compare(history.upload, with: status))
    #expect(history.upload.stateWord == .committed)
    history.when(serverSays: status).thenNothing()
  }

  @Test func `committed with another hash asks for a person and keeps the copy`() {
    let status = ServerStatus.committed(Samples.stored(hash: Samples.otherHash))
    let history = Story.received.history.when(serverSays: status)
      .then(.attentionNeeded(AttentionNeeded(reason: .hashMismatch, status: 200)))
    history.when(serverSays: status).thenNothing()
    history.when(.releaseCopy).thenRejected(.copyStillNeeded)
  }

  @Test(arguments: [Story.committed, .deduplicated, .cancelled])
  func `nothing but a commit concerns an upload that has ended`(story: Story) {
    for status: ServerStatus in [.gone, .received, .open(received: PartSet())] {
      story.history.when(serverSays: status).thenNothing()
    }
  }

  @Test func `a late success of a cancelled upload is one note`() {
    let note = Noted(claim: .committedDespiteCancel, remote: Samples.remote)
    var history = Story.cancelled.history.when(serverSays: .committed(Samples.stored()))
      .then(.noted(note))
    let length = history.log.count
    history.record(Reconciliation.compare(history.upload, with: .committed(Samples.stored())))
    #expect(history.log.count == length)
  }

  @Test func `a verified object that lost a part is no longer verified`() {
    let history = Story.verified.history.when(serverSays: .open(received: PartSet([0, 1])))
      .then(.verificationRevoked, revoked(2))
    #expect(history.upload.verified == nil && history.upload.received == nil)
    history.when(serverSays: .open(received: PartSet([0, 1]))).thenNothing()
  }

  @Test func `the third regression of the server asks for a person`() {
    var history = History().and(Samples.opened())
    for regression in 1...Reconciliation.maximumRegressions {
      history.record(
        Reconciliation.compare(history.upload, with: .open(received: PartSet([0, 1]))))
      history.record(Reconciliation.compare(history.upload, with: .open(received: PartSet())))
      #expect(history.upload.regressions == regression)
      let isLast = regression == Reconciliation.maximumRegressions
      #expect(history.upload.attention?.reason == (isLast ? .serverInconsistent : nil))
    }
    history.when(serverSays: .open(received: PartSet())).thenNothing()
  }

  // Case B05.
  @Test(arguments: [20_000_000, 0] as [Int64])
  func `the third session that expires without a byte asks for a person`(byteCount: Int64) {
    expectAttention(afterSessionsOf: byteCount, holding: [])
  }

  @Test func `a session opened with parts in it and gone at once counts as barren too`() {
    expectAttention(afterSessionsOf: 20_000_000, holding: [0, 1])
  }

  private func expectAttention(afterSessionsOf byteCount: Int64, holding parts: [Int]) {
    var history = History().and(Samples.queued(byteCount: byteCount))
    for session in 1...Reconciliation.maximumBarrenSessions {
      #expect(history.upload.attention == nil)
      let offer = Samples.offer(
        SessionReference("ses-\(session)"), byteCount: byteCount, holding: parts)
      history.record(history.upload.decide(UploadObservation.opened(offer)))
      history.record(Reconciliation.compare(history.upload, with: .gone))
    }
    #expect(history.upload.attention?.reason == .serverInconsistent)
  }

  @Test func `a confirmed byte starts the count of barren sessions again`() {
    let history = Story.expired.history
    #expect(history.upload.barrenSessions == 0)
  }

  @Test(arguments: [[3], [-1, 9_999], [0, 3]])
  func `parts the server makes up are not confirmed`(parts: [Int]) {
    var history = Story.sessionOpen.history
    history.record(
      Reconciliation.compare(history.upload, with: .open(received: PartSet(parts))))
    #expect(history.upload.confirmedBytes == (parts.contains(0) ? Samples.partSize : 0))
  }

  @Test(arguments: Story.allCases)
  func `asked twice with the same answers there is nothing the second time`(story: Story) {
    let answers: [ServerStatus] = [
      .gone, .received, .open(received: PartSet()), .open(received: PartSet([0, 2])),
      .open(received: PartSet(all: 3)), .open(received: PartSet([0, 99])),
      .committed(Samples.stored()), .committed(Samples.stored(hash: nil)),
      .committed(Samples.stored(hash: Samples.otherHash)),
    ]
    for answer in answers {
      var history = story.history
      history.record(Reconciliation.compare(history.upload, with: []))
      history.record(Reconciliation.compare(history.upload, with: answer))
      let length = history.log.count
      history.record(Reconciliation.compare(history.upload, with: []))
      history.record(Reconciliation.compare(history.upload, with: answer))
      #expect(history.log.count == length, "\(story.rawValue), \(answer)")
    }
  }
}
