import Testing
import WaybillModel
import WaybillTesting

struct ObserveTests {
  private let received = UploadEvent.received(Received(byteCount: 20_000_000))
  private let committed: [UploadEvent] = [
    .verified(Verified(hash: Samples.hash)),
    .committed(Committed(remote: Samples.remote, version: 5, hash: Samples.hash, status: 200)),
  ]

  // MARK: Steps put off

  private static let later = Samples.time.adding(milliseconds: 60_000)

  private static func put(off failure: FailureKind, status: Int? = nil) -> UploadObservation {
    .delayed(.commit, failure, status: status, until: later)
  }

  @Test func `each failure of a step is counted until the upload moves on`() {
    let first = Delayed(
      step: .commit, failure: .serverUnavailable, attempt: 1, until: Self.later, status: 503)
    let second = Delayed(
      step: .commit, failure: .inProgress, attempt: 2, until: Self.later, status: 202)
    let again = Delayed(step: .commit, failure: .interrupted, attempt: 1, until: Self.later)
    let twice = Story.received.history
      .when(Self.put(off: .serverUnavailable, status: 503)).then(.delayed(first))
      .when(Self.put(off: .inProgress, status: 202)).then(.delayed(second))
    twice.and(.retried(Retried(round: 1)))
      .when(Self.put(off: .interrupted)).then(.delayed(again))
  }

  @Test(
    arguments: [
      (.serverUnavailable, 16, .attemptsExhausted), (.interrupted, 16, .attemptsExhausted),
      (.throttled, 16, .attemptsExhausted), (.quota, 16, .quota),
      (.inProgress, 16, .serverUnfinished), (.protocolViolation, 8, .protocolViolation),
      (.sourceUnreadable, 8, .attemptsExhausted),
    ] as [(FailureKind, Int, AttentionReason)])
  func `a step that fails again and again is handed to a person`(
    failure: FailureKind, most: Int, reason: AttentionReason
  ) {
    var history = Story.received.history
    for _ in 1..<most {
      history.record(history.upload.decide(Self.put(off: failure)))
      #expect(history.upload.attention == nil)
    }
    #expect(history.log.suffix(most - 1).allSatisfy { $0.kind == .uploadDelayed })
    history.when(Self.put(off: failure, status: 500))
      .then(.attentionNeeded(AttentionNeeded(reason: reason, status: 500)))
  }

  @Test(
    arguments: [
      .cancelled, .committed, .attention, .hashed, .fresh,
    ] as [Story])
  func `what has ended, waits for a person or has no intent is put off by nothing`(story: Story) {
    story.history.when(Self.put(off: .quota)).thenNothing()
  }

  @Test(arguments: [FailureKind.throttled, .quota, .inProgress])
  func `a part that is asked to wait for ever is handed to a person`(failure: FailureKind) {
    var history = given(Samples.opened(holding: [0, 1]))
    for attempt in 1...RetryPolicy.maximumDelays {
      #expect(history.upload.attention == nil)
      history = history.and(Samples.sent(2, attempt: attempt))
      let failed = UploadObservation.partFailed(
        Samples.transfer(2, attempt: attempt), failure, status: 500, notBefore: Self.later)
      history.record(history.upload.decide(failed))
    }
    #expect(history.upload.attention?.reason == failure.attentionReason)
    #expect(history.upload.parts[2].failures == 0)
  }

  // MARK: Parts

  // Case A09.
  @Test func `a success that is delivered five times is one confirmation`() {
    var history = Story.inFlight.history
    for delivery in 0..<5 {
      let decision = history.when(Samples.held(2, server: [2]))
      history = delivery == 0 ? decision.then(Samples.confirmed(2)) : decision.thenNothing()
    }
    #expect(history.upload.confirmedBytes == 3_222_784)
  }

  @Test func `the last part confirmed says that the server holds every byte`() {
    given(Samples.opened(holding: [0, 1])).and(Samples.sent(2))
      .when(Samples.held(2, server: [0, 1, 2])).then(Samples.confirmed(2), received)
      .when(Samples.held(2, server: [0, 1, 2])).thenNothing()
  }

  @Test func `a server that claims all parts proves only the part it answered for`() {
    given(Samples.opened()).and(Samples.sent(0))
      .when(Samples.held(0, server: [0, 1, 2])).then(Samples.confirmed(0))
  }

  @Test func `a success of a transfer that was thought lost is still a confirmation`() {
    Story.lost.history.when(Samples.held(2, server: [2])).then(Samples.confirmed(2))
  }

  @Test func `a success after a failure of the same attempt is still a confirmation`() {
    Story.failed.history.when(Samples.held(2, server: [0, 1, 2]))
      .then(Samples.confirmed(2), received)
  }

  // Case B22.
  @Test func `a success in a session that is gone says nothing`() {
    let offer = Samples.offer(SessionReference("ses-2"))
    Story.inFlight.history
      .and(
        .sessionExpired(SessionExpired(session: Samples.session)),
        .sessionOpened(SessionOpened(offer: offer))
      )
      .when(Samples.held(2, server: [2])).thenNothing()
      .when(
        UploadObservation.partFailed(
          Samples.transfer(2), .sessionUnknown, status: 404, notBefore: nil)
      ).thenNothing()
  }

  @Test func `a success from before the server took the part back says nothing`() {
    let confirmed = given(Samples.opened(holding: [0, 1])).and(Samples.sent(2))
      .when(Samples.held(2, server: [0, 1, 2])).then(Samples.confirmed(2), received)
    let revoked = confirmed.when(serverSays: .open(received: PartSet([0, 1])))
      .then(.partRevoked(PartRevoked(part: PartNumber(2), byteCount: 0, regression: 1)))
    revoked.when(Samples.held(2, server: [0, 1, 2])).thenNothing()
    revoked.and(Samples.sent(2, attempt: 2))
      .when(Samples.held(2, attempt: 2, server: [0, 1, 2])).then(Samples.confirmed(2), received)
  }

  @Test func `a repeated success of an attempt the log has lost does not complete the upload`() {
    var history = given(Samples.opened(holding: [0, 1]))
    let claim = Samples.held(2, server: [0, 1, 2])
    history = history.when(claim).then(Samples.confirmed(2), received)
    history = history.when(serverSays: .open(received: PartSet([0, 1])))
      .then(.partRevoked(PartRevoked(part: PartNumber(2), byteCount: 0, regression: 1)))
    let length = history.log.count
    history.record(history.upload.decide(claim))
    #expect(history.log.count == length)
    #expect(history.upload.received == nil)
  }

  @Test(arguments: [-1, 3, 9_999, Int.max])
  func `a claim about a part that is not in the plan says nothing`(part: Int) {
    let history = Story.inFlight.history
    history.when(Samples.held(part, server: [part])).thenNothing()
    history.when(
      UploadObservation.partFailed(
        Samples.transfer(part), .interrupted, status: nil, notBefore: nil)
    ).thenNothing()
  }

  @Test func `a claim about another upload says nothing`() {
    let stranger = TransferDescription(
      upload: Samples.otherUpload, part: PartNumber(2), attempt: 1, launch: LaunchGeneration(1))
    let history = Story.inFlight.history
    history.when(UploadObservation.partHeld(stranger, received: PartSet([2]))).thenNothing()
    history.when(UploadObservation.partFailed(stranger, .refused, status: 400, notBefore: nil))
      .thenNothing()
    Story.cancelled.history.when(UploadObservation.partHeld(stranger, received: PartSet([2])))
      .thenNothing()
  }

  @Test(arguments: [Story.fresh, .exported, .queued, .expired])
  func `a claim about a part without a session says nothing`(story: Story) {
    story.history.when(Samples.held(2, server: [0, 1, 2])).thenNothing()
  }

  // Case F03.
  @Test func `a late confirmation after cancel is one note and changes no state`() {
    let note = UploadEvent.noted(Noted(claim: .latePart, part: PartNumber(2)))
    var history = Story.cancelled.history.when(Samples.held(2, server: [2])).then(note)
    #expect(history.upload.stateWord == .cancelled)
    let length = history.log.count
    history.record(history.upload.decide(Samples.held(2, server: [2])))
    #expect(history.log.count == length)
  }

  @Test(arguments: [-1, 10_000, Int.min, .max])
  func `a late confirmation of a part no upload can have is not even noted`(part: Int) {
    Story.cancelled.history.when(Samples.held(part, server: [])).thenNothing()
  }

  // MARK: Failures

  @Test func `a failure of the attempt in flight is recorded once`() {
    let failure = UploadObservation.partFailed(
      Samples.transfer(2), .offline, status: nil,
      notBefore: Samples.time.adding(milliseconds: 60_000))
    Story.inFlight.history.when(failure).then(Samples.failed(2, .offline))
      .when(failure).thenNothing()
  }

  // Case B02.
  @Test func `a failure of another attempt or another launch says nothing`() {
    let history = Story.failed.history.relaunched().and(Samples.sent(2, attempt: 2))
    for stale in [
      Samples.transfer(2), Samples.transfer(2, attempt: 2),
      Samples.transfer(2, attempt: 3, launch: 2),
    ] {
      history.when(UploadObservation.partFailed(stale, .interrupted, status: nil, notBefore: nil))
        .thenNothing()
    }
  }

  @Test func `a failure after the success of the same attempt says nothing`() {
    Story.inFlight.history.when(Samples.held(2, server: [2])).then(Samples.confirmed(2))
      .when(
        UploadObservation.partFailed(Samples.transfer(2), .stopped, status: nil, notBefore: nil)
      )
      .thenNothing()
  }

  @Test func `the eighth charged failure of a part asks for a person`() {
    var history = History().and(Samples.opened())
    for attempt in 1...RetryPolicy.maximumAttempts {
      history = history.and(Samples.sent(0, attempt: attempt))
      history.record(
        history.upload.decide(
          UploadObservation.partFailed(
            Samples.transfer(0, attempt: attempt), .serverUnavailable, status: 503, notBefore: nil))
      )
      let isLast = attempt == RetryPolicy.maximumAttempts
      #expect(history.upload.attention?.reason == (isLast ? .attemptsExhausted : nil))
    }
  }

  // Case B13.
  @Test(arguments: FailureKind.allCases.filter { !$0.chargesAttempt })
  func `being offline, signed out, full, throttled or stopped uses up no attempt`(
    failure: FailureKind
  ) {
    var history = History().and(Samples.opened())
    for attempt in 1...50 {
      history = history.and(
        Samples.sent(0, attempt: attempt), Samples.failed(0, failure, attempt: attempt))
    }
    #expect(history.upload.parts[0].failures == 0)
    #expect(history.upload.parts[0].setbacks == 50)
  }

  // MARK: Sessions

  @Test func `a session is opened once however often the reply comes`() {
    let offer = Samples.offer()
    Story.queued.history.when(UploadObservation.opened(offer))
      .then(.sessionOpened(SessionOpened(offer: offer)))
      .when(UploadObservation.opened(offer)).thenNothing()
  }

  // Case B08.
  @Test func `a session that holds every part already needs no part sent`() {
    let offer = Samples.offer(holding: [0, 1, 2])
    let history = Story.queued.history.when(UploadObservation.opened(offer))
      .then(.sessionOpened(SessionOpened(offer: offer)), received)
    #expect(history.upload.state == .verifying)
    #expect(history.upload.confirmedBytes == 20_000_000)
  }

  @Test(arguments: [Story.sessionOpen, .cancelled, .committed, .deduplicated])
  func `a second session is one note however often the reply comes`(story: Story) {
    let late = UploadObservation.opened(Samples.offer(SessionReference("ses-2")))
    var history = story.history.when(late).then(.noted(Noted(claim: .lateSession)))
    let length = history.log.count
    history.record(history.upload.decide(late))
    #expect(history.log.count == length)
  }

  // Case B11.
  @Test(arguments: [
    SessionOffer(session: Samples.session, partSize: 0, partCount: 3, expires: nil),
    SessionOffer(session: Samples.session, partSize: .max, partCount: 1, expires: nil),
    SessionOffer(session: Samples.session, partSize: Samples.partSize, partCount: 2, expires: nil),
    SessionOffer(session: Samples.session, partSize: Samples.partSize, partCount: -1, expires: nil),
    SessionOffer(session: Samples.session, partSize: 65_535, partCount: 306, expires: nil),
    Samples.offer(holding: [3]), Samples.offer(holding: [0, 1, 2, 3]),
  ])
  func `an offer that breaks the protocol asks for a person, once`(offer: SessionOffer) {
    Story.queued.history.when(UploadObservation.opened(offer))
      .then(.attentionNeeded(AttentionNeeded(reason: .protocolViolation)))
      .when(UploadObservation.opened(offer)).thenNothing()
  }

  // MARK: Objects

  @Test func `a commit whose hash matches is available everywhere`() {
    let history = Story.received.history.when(UploadObservation.committed(Samples.stored()))
      .then(committed[0], committed[1])
    #expect(history.upload.state == .committed(Samples.remote))
    history.when(UploadObservation.committed(Samples.stored())).thenNothing()
  }

  // Case A07, E04.
  @Test func `a commit whose parts were never acknowledged counts as all of them`() {
    let history = Story.inFlight.history.when(UploadObservation.committed(Samples.stored()))
      .then(received, committed[0], committed[1])
    #expect(history.upload.confirmedBytes == 20_000_000)
    #expect(history.upload.bytesInFlight == 0)
  }

  @Test func `a commit with another hash asks for a person and keeps the copy`() {
    let wrong = UploadObservation.committed(Samples.stored(hash: Samples.otherHash))
    let history = Story.received.history.when(wrong)
      .then(.attentionNeeded(AttentionNeeded(reason: .hashMismatch, status: 200)))
    history.when(wrong).thenNothing()
    history.when(.releaseCopy).thenRejected(.copyStillNeeded)
  }

  @Test func `a commit without a hash proves nothing`() {
    Story.received.history.when(UploadObservation.committed(Samples.stored(hash: nil)))
      .thenNothing()
  }

  @Test(arguments: [Story.fresh, .exported, .hashed])
  func `a commit of what was never queued says nothing`(story: Story) {
    story.history.when(UploadObservation.committed(Samples.stored())).thenNothing()
    story.history.when(UploadObservation.alreadyStored(Samples.stored())).thenNothing()
  }

  @Test func `a commit after cancel is one note`() {
    let note = Noted(claim: .committedDespiteCancel, remote: Samples.remote)
    var history = Story.cancelled.history.when(UploadObservation.committed(Samples.stored()))
      .then(.noted(note))
    let length = history.log.count
    history.record(history.upload.decide(UploadObservation.committed(Samples.stored())))
    #expect(history.log.count == length)
  }

  // Case D13.
  @Test func `an object the server has already ends the upload as its duplicate`() {
    Story.queued.history.when(UploadObservation.alreadyStored(Samples.stored()))
      .then(.deduplicated(Deduplicated(original: .remote(Samples.remote))))
      .when(UploadObservation.alreadyStored(Samples.stored())).thenNothing()
  }

  @Test func `an object stored by an earlier session of ours is our own commit`() {
    Story.expired.history.when(UploadObservation.alreadyStored(Samples.stored()))
      .then(received, committed[0], committed[1])
  }

  @Test func `an object with another hash is no duplicate`() {
    Story.queued.history
      .when(UploadObservation.alreadyStored(Samples.stored(hash: Samples.otherHash)))
      .then(.attentionNeeded(AttentionNeeded(reason: .hashMismatch, status: 200)))
  }

  @Test func `a conflict names the version once and asks for a person`() {
    Story.received.history.when(UploadObservation.conflicted(currentVersion: 6))
      .then(
        .conflicted(Conflicted(currentVersion: 6)),
        .attentionNeeded(AttentionNeeded(reason: .conflict, status: 409))
      )
      .when(UploadObservation.conflicted(currentVersion: 6)).thenNothing()
      .when(UploadObservation.conflicted(currentVersion: 7))
      .then(.conflicted(Conflicted(currentVersion: 7)))
  }

  // Case B14.
  @Test func `the same obstacle asks for a person once`() {
    let refusal = UploadObservation.blocked(.refused, status: 422)
    Story.inFlight.history.when(refusal)
      .then(.attentionNeeded(AttentionNeeded(reason: .refused, status: 422)))
      .when(refusal).thenNothing()
    Story.committed.history.when(refusal).thenNothing()
    given().when(refusal).thenNothing()
  }
}
