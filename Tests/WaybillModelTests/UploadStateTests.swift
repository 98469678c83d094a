import Testing
import WaybillModel
import WaybillTesting

struct UploadStateTests {
  @Test(
    arguments: [
      (.fresh, nil), (.exported, .savedLocally), (.hashed, .savedLocally), (.queued, .queued),
      (.sessionOpen, .queued), (.inFlight, .sending), (.failed, .queued),
      (.someConfirmed, .sending),
      (.allConfirmed, .verifying), (.received, .verifying), (.verified, .verifying),
      (.committed, .committed), (.released, .committed), (.conflicted, .needsAttention),
      (.cancelled, .cancelled), (.deduplicated, .deduplicated), (.attention, .needsAttention),
      (.paused, .queued), (.lost, .queued), (.revoked, .sending), (.expired, .queued),
      (.retried, .queued), (.emptyFile, .verifying), (.openDelayed, .queued),
      (.commitDelayed, .verifying), (.commitUnderWay, .verifying),
    ] as [(Story, StateWord?)])
  func `the six-state view follows the evidence`(story: Story, word: StateWord?) {
    #expect(story.history.upload.stateWord == word, "\(story.rawValue)")
  }

  // Cases E03, E08.
  @Test func `all bytes at the server is not yet available everywhere`() {
    #expect(Story.received.history.upload.state == .verifying)
    #expect(Story.verified.history.upload.state == .verifying)
    #expect(Story.committed.history.upload.state == .committed(Samples.remote))
  }

  @Test func `sending counts confirmed bytes and bytes in flight`() {
    #expect(
      Story.someConfirmed.history.upload.state
        == .sending(confirmed: 8_388_608, inFlight: 8_388_608, total: 20_000_000))
  }

  // Case E01.
  @Test func `a part that is sent again after it was half revoked is counted once`() {
    let upload = given(Samples.opened()).and(
      Samples.sent(0), Samples.confirmed(0),
      .partRevoked(PartRevoked(part: PartNumber(0), byteCount: 4_194_304, regression: 1)),
      Samples.confirmed(1), Samples.confirmed(2), Samples.sent(0, attempt: 2)
    ).upload
    #expect(
      upload.state == .sending(confirmed: 15_805_696, inFlight: 4_194_304, total: 20_000_000))
    #expect(QueuedUpload(upload, progress: .max)?.bytesSent == 20_000_000)
  }

  @Test func `a wait ends with the first part that may be sent again`() {
    let late = Timestamp(seconds: 2_000_000_000)
    let failed = PartFailed(
      part: PartNumber(1), attempt: 1, failure: .quota, notBefore: late, status: 507)
    let history = given(Samples.opened(holding: [0])).and(
      Samples.sent(1), Samples.sent(2), .partFailed(failed))
    #expect(history.upload.waiting == nil)
    let both = history.and(Samples.failed(2, .offline))
    let soon = Samples.time.adding(milliseconds: 60_000)
    #expect(both.upload.waiting == Waiting(.offline, until: soon))
    #expect(both.upload.state == .queued(Waiting(.offline, until: soon)))
  }

  @Test(
    arguments: [
      (.offline, .offline), (.credentials, .credentials), (.quota, .quota),
      (.serverUnavailable, .retrying), (.throttled, .retrying),
    ] as [(FailureKind, Waiting.Reason)])
  func `the reason of a wait is the failure's`(failure: FailureKind, reason: Waiting.Reason) {
    let history = given(Samples.opened(holding: [0, 1])).and(
      Samples.sent(2), Samples.failed(2, failure))
    #expect(history.upload.waiting?.reason == reason)
  }

  @Test func `what is put off says why and until when, and whatever moves it on ends that`() {
    let until = Samples.time.adding(milliseconds: 60_000)
    let open = Story.openDelayed.history
    #expect(open.upload.state == .queued(Waiting(.retrying, until: until)))
    #expect(open.upload.notBefore == until)
    let commit = Story.commitDelayed.history
    #expect(commit.upload.state == .verifying)
    #expect(commit.upload.waiting == Waiting(.quota, until: until))
    #expect(Story.commitUnderWay.history.upload.waiting == nil)
    #expect(Story.commitUnderWay.history.upload.notBefore == until)
    let opened = open.and(.sessionOpened(SessionOpened(offer: Samples.offer()))).upload
    #expect(opened.delay == nil && opened.notBefore == nil)
    #expect(commit.and(.cancelled(Cancelled(reason: .user))).upload.notBefore == nil)
    #expect(commit.and(.retried(Retried(round: 1))).upload.notBefore == nil)
    #expect(
      Story.queued.history.and(Samples.delayed(.open, .quota), .paused).upload.waiting
        == Waiting(.paused))
  }

  @Test func `an upload that is held back says so whatever else it waits for`() {
    #expect(Story.failed.history.and(.paused).upload.waiting == Waiting(.paused))
    #expect(Story.paused.history.and(.resumed).upload.waiting == nil)
  }
}

struct QueuedUploadTests {
  @Test(arguments: Story.allCases)
  func `a row never shows more bytes than the file has`(story: Story) {
    let upload = story.history.upload
    for progress in [Int64.min, -1, 0, 1, 5_000_000, 20_000_001, .max] {
      guard let row = QueuedUpload(upload, progress: progress) else { continue }
      #expect((0...row.byteCount).contains(row.bytesSent), "\(story.rawValue), \(progress)")
    }
  }

  @Test(
    arguments: [
      (.exported, "queued"), (.queued, "queued"), (.sessionOpen, "queued"),
      (.inFlight, "uploading"),
      (.failed, "waiting"), (.someConfirmed, "uploading"), (.received, "uploading"),
      (.committed, "done"), (.conflicted, "failed"), (.cancelled, "cancelled"),
      (.paused, "waiting"), (.emptyFile, "uploading"), (.openDelayed, "waiting"),
      (.commitDelayed, "waiting"), (.commitUnderWay, "uploading"),
    ] as [(Story, String)])
  func `a row has the word of its state`(story: Story, word: String) {
    #expect(QueuedUpload(story.history.upload)?.state.word == word, "\(story.rawValue)")
  }

  @Test func `without a copy or as a duplicate there is no row`() {
    #expect(QueuedUpload(Story.fresh.history.upload) == nil)
    #expect(QueuedUpload(Story.deduplicated.history.upload) == nil)
  }

  // Case D01.
  @Test func `an empty file is all sent from the start`() {
    let row = QueuedUpload(Story.emptyFile.history.upload, progress: 10)
    #expect(row?.byteCount == 0 && row?.bytesSent == 0)
  }

  @Test func `bytes in flight count only as far as parts are in flight`() {
    let upload = Story.someConfirmed.history.upload
    #expect(QueuedUpload(upload, progress: 1_000_000)?.bytesSent == 9_388_608)
    #expect(QueuedUpload(upload, progress: .max)?.bytesSent == 16_777_216)
    #expect(QueuedUpload(Story.lost.history.upload, progress: 99)?.bytesSent == 0)
  }

  @Test func `conditions hold up what is open and nothing that has ended`() {
    let offline = Conditions(network: .offline)
    let signedOut = Conditions(network: .offline, credentials: .rejected)
    func row(_ story: Story, _ conditions: Conditions) -> QueuedUpload.State? {
      QueuedUpload(story.history.upload)?.state.held(by: conditions)
    }
    #expect(row(.queued, offline) == .waiting(Waiting(.offline)))
    #expect(row(.inFlight, offline) == .waiting(Waiting(.offline)))
    #expect(row(.received, signedOut) == .waiting(Waiting(.credentials)))
    #expect(row(.paused, signedOut) == .waiting(Waiting(.paused)))
    #expect(row(.committed, signedOut) == .done(Samples.remote))
    #expect(row(.conflicted, signedOut) == .failed(.conflict))
    #expect(row(.cancelled, signedOut) == .cancelled)
    #expect(row(.queued, Conditions(network: .online, credentials: .accepted)) == .queued)
  }

  @Test func `of several things that hold everything up one is said, in a fixed order`() {
    var conditions = Conditions(
      network: .offline, credentials: .rejected, held: Waiting(.wifi, until: nil))
    func state(isSealed: Bool) -> LedgerState {
      var state = LedgerState()
      var history = History()
      let events: [LedgerEvent] =
        [.conditionsChanged(conditions)] + (isSealed ? [.sealed(Sealed(copies: .keep))] : [])
      for event in events {
        state.evolve(
          history.record(
            kindName: event.kind.rawValue, version: event.version, fields: event.fields))
      }
      return state
    }
    #expect(state(isSealed: true).waiting == Waiting(.sealed))
    #expect(state(isSealed: false).waiting == Waiting(.credentials))
    conditions.credentials = .accepted
    #expect(state(isSealed: false).waiting == Waiting(.wifi))
    conditions.held = nil
    #expect(state(isSealed: false).waiting == Waiting(.offline))
  }
}
