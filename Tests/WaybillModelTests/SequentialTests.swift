import Testing
import WaybillModel
import WaybillTesting

/// Uploads to a server that owns one offset: 20,000,000 bytes in parts of 8 MiB.
struct SequentialTests {
  private static let half = Samples.partSize / 2
  private static let length: Int64 = 20_000_000

  private static var opened: History {
    given([
      .exported(Samples.exported()), .hashed(Hashed(hash: Samples.hash)),
      .queued(Queued(intent: Samples.sequentialIntent)),
      .sessionOpened(SessionOpened(offer: Samples.offer())),
    ])
  }

  private func sent(_ part: Int, attempt: Int = 1, _ byteCount: Int64) -> UploadEvent {
    .partSent(PartSent(part: PartNumber(part), attempt: attempt, byteCount: byteCount))
  }

  private func revoked(_ part: Int, to byteCount: Int64, regression: Int = 1) -> UploadEvent {
    .partRevoked(
      PartRevoked(part: PartNumber(part), byteCount: byteCount, regression: regression))
  }

  private func move(_ history: History, _ activity: Planner.Activity = .init()) -> Planner.Move {
    Planner.move(history.upload, activity, launch: history.launch, now: Samples.time)
  }

  // MARK: Sending

  @Test func `only the first part that needs bytes is sent`() {
    #expect(move(Self.opened) == .perform([.send(PartNumber(0))]))
    #expect(move(Self.opened.and(Samples.confirmed(0))) == .perform([.send(PartNumber(1))]))
    #expect(move(Self.opened.and(Samples.sent(0))) == .rest)
    var activity = Planner.Activity()
    activity.preparing = [PartNumber(0)]
    #expect(move(Self.opened, activity) == .rest)
  }

  @Test func `a part that is not the next one is not announced`() {
    Self.opened.when(.send(PartNumber(1))).thenRejected(.tooEarly)
    Self.opened.and(Samples.sent(0)).when(.send(PartNumber(1))).thenRejected(.tooEarly)
    Self.opened.and(Samples.sent(0)).when(.send(PartNumber(0))).thenRejected(.alreadyInFlight)
  }

  @Test func `a part begins behind the bytes of it that are held`() {
    let history = Self.opened.and(Samples.confirmed(0, byteCount: 3_000_000))
    #expect(history.upload.unsent(PartNumber(0))?.offset == 3_000_000)
    history.when(.send(PartNumber(0))).then(sent(0, Samples.partSize - 3_000_000))
  }

  @Test func `parts of our own protocol are sent whole, whatever is held of them`() {
    let history = given(Samples.opened()).and(Samples.confirmed(0, byteCount: 3_000_000))
    history.when(.send(PartNumber(0))).then(Samples.sent(0))
  }

  // The server may keep what came before a failure of any kind.
  @Test(arguments: FailureKind.allCases)
  func `after any failure the offset is asked for before more is sent`(failure: FailureKind) {
    let history = Self.opened.and(
      Samples.sent(0),
      .partFailed(PartFailed(part: PartNumber(0), attempt: 1, failure: failure, notBefore: nil)))
    #expect(move(history) == .perform([.askStatus]))
    var activity = Planner.Activity()
    activity.asked = history.upload.revision
    #expect(move(history, activity) == .perform([.send(PartNumber(0))]))
  }

  // B02
  @Test func `the loser of a race for one range is not charged`() {
    let history = Self.opened.and(Samples.sent(0)).when(
      .partFailed(Samples.transfer(0), .offsetMoved, status: 409, notBefore: nil)
    ).then(
      .partFailed(
        PartFailed(
          part: PartNumber(0), attempt: 1, failure: .offsetMoved, notBefore: nil, status: 409)))
    #expect(history.upload.parts[0].failures == 0)
    history.when(serverSays: .at(offset: Samples.partSize)).then(Samples.confirmed(0))
  }

  // MARK: The server's offset

  @Test(
    arguments: [
      (0, []), (1, [1]), (Samples.partSize, [Samples.partSize]),
      (Samples.partSize + 5, [Samples.partSize, 5]),
      (length - 1, [Samples.partSize, Samples.partSize, 3_222_783]),
    ] as [(Int64, [Int64])])
  func `an offset confirms what lies before it`(offset: Int64, held: [Int64]) {
    var history = Self.opened
    history.record(Reconciliation.compare(history.upload, with: .at(offset: offset)))
    #expect(history.upload.parts.map(\.confirmed).filter { $0 > 0 } == held)
    #expect(history.upload.confirmedBytes == offset)
    #expect(history.upload.received == nil)
    history.when(serverSays: .at(offset: offset)).thenNothing()
  }

  @Test func `the offset behind the last byte says that everything is received`() {
    Self.opened.when(serverSays: .at(offset: Self.length))
      .then(
        Samples.confirmed(0), Samples.confirmed(1), Samples.confirmed(2),
        .received(Received(byteCount: Self.length))
      )
      .when(serverSays: .at(offset: Self.length)).thenNothing()
  }

  // B01
  @Test func `a server 4 MiB behind takes back half a part, and is resumed there`() {
    let history = Self.opened.and(Samples.sent(0), Samples.confirmed(0))
      .when(serverSays: .at(offset: Self.half)).then(revoked(0, to: Self.half))
    #expect(history.log.last?.compensates == GlobalPosition(6))
    #expect(history.upload.confirmedBytes == Self.half)
    history.when(serverSays: .at(offset: Self.half)).thenNothing()
    history.when(.send(PartNumber(0))).then(sent(0, attempt: 2, Samples.partSize - Self.half))
  }

  @Test func `what goes back three times needs a person`() {
    var history = Self.opened.and(Samples.confirmed(0), Samples.confirmed(1))
    for offset in [Samples.partSize, Self.half, 7] {
      history.record(Reconciliation.compare(history.upload, with: .at(offset: offset)))
    }
    #expect(history.upload.attention?.reason == .serverInconsistent)
    #expect(history.upload.regressions == 3)
  }

  // The answer was given while the part was on its way; the part goes on.
  @Test func `an offset within a part on its way does not end it`() {
    let history = Self.opened.and(Samples.sent(0)).when(serverSays: .at(offset: 5))
      .then(Samples.confirmed(0, byteCount: 5))
    #expect(history.upload.flights == [Samples.transfer(0)])
    #expect(history.upload.confirmedBytes + history.upload.bytesInFlight == Samples.partSize)
    history.when(Samples.held(0, server: [0])).then(Samples.confirmed(0))
  }

  @Test func `a part that moved on has not failed in a row`() {
    let failed = Self.opened.and(Samples.sent(0), Samples.failed(0, .interrupted))
    #expect(failed.upload.parts[0].failures == 1)
    #expect(failed.and(Samples.confirmed(0, byteCount: 1)).upload.parts[0].failures == 0)
  }

  // MARK: What is proved

  @Test func `a part is checked when whole attempts brought all of it`() {
    let whole = Self.opened.and(Samples.sent(0), Samples.confirmed(0))
    #expect(whole.upload.isChecked(PartNumber(0)))
    // A look at the offset while the part was on its way takes nothing from it.
    let looked = Self.opened.and(
      Samples.sent(0), Samples.confirmed(0, byteCount: 5), Samples.confirmed(0))
    #expect(looked.upload.isChecked(PartNumber(0)))
    #expect(!Self.opened.and(Samples.confirmed(0)).upload.isChecked(PartNumber(0)))
    #expect(!Self.opened.and(Samples.sent(0)).upload.isChecked(PartNumber(0)))
  }

  @Test func `a part of which the server kept a piece is not checked until it is sent anew`() {
    let pieced = Self.opened.and(
      Samples.sent(0), Samples.failed(0, .interrupted), Samples.confirmed(0, byteCount: 5),
      sent(0, attempt: 2, Samples.partSize - 5), Samples.confirmed(0))
    #expect(pieced.upload.isConfirmed(PartNumber(0)) && !pieced.upload.isChecked(PartNumber(0)))
    let anew = pieced.and(
      revoked(0, to: 0), sent(0, attempt: 3, Samples.partSize), Samples.confirmed(0))
    #expect(anew.upload.isChecked(PartNumber(0)))
  }

  @Test func `what a server that went back still holds was checked with the whole`() {
    let back = Self.opened.and(
      Samples.sent(0), Samples.confirmed(0), revoked(0, to: Self.half))
    #expect(!back.upload.isChecked(PartNumber(0)))
    let resumed = back.and(sent(0, attempt: 2, Self.half), Samples.confirmed(0))
    #expect(resumed.upload.isChecked(PartNumber(0)))
  }

  @Test func `what was unproved once stays so in its session, whatever the server learns`() {
    let unproven = Self.opened.and(
      Samples.sent(0), Samples.confirmed(0),
      .attentionNeeded(AttentionNeeded(reason: .unproven)), .retried(Retried(round: 1)))
    #expect(!unproven.upload.isChecked(PartNumber(0)))
  }
}
