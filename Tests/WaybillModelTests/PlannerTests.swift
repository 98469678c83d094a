import Testing
import WaybillModel
import WaybillTesting

struct PlannerTests {
  private let until = Samples.time.adding(milliseconds: 60_000)
  private let launch = LaunchGeneration(1)

  private func move(_ story: Story, at now: Timestamp) -> Planner.Move {
    Planner.move(story.history.upload, Planner.Activity(), launch: launch, now: now)
  }

  @Test(arguments: [Story.openDelayed, .commitDelayed, .commitUnderWay])
  func `a step that was put off waits for its moment`(story: Story) {
    #expect(move(story, at: Samples.time) == .wait(until: until))
    #expect(move(story, at: until) == .perform([story == .openDelayed ? .open : .commit]))
  }

  // T1.
  @Test func `a moment further ahead than any pause was written by another clock, and has come`() {
    let early = Samples.time.adding(milliseconds: -RetryPolicy.serverCeilingMilliseconds)
    #expect(move(.openDelayed, at: early) == .perform([.open]))
  }

  // N1: a part whose reply never came may have arrived.
  @Test(arguments: [FailureKind.interrupted, .sessionUnknown])
  func `a part of unknown outcome is asked about before it is sent again`(failure: FailureKind) {
    let upload = given(Samples.opened(holding: [0])).and(
      Samples.sent(1), Samples.failed(1, failure)
    ).upload
    func move(asked: StreamRevision?, at now: Timestamp) -> Planner.Move {
      var activity = Planner.Activity()
      activity.asked = asked
      return Planner.move(upload, activity, launch: launch, now: now)
    }
    // What else there is to send goes meanwhile.
    #expect(move(asked: nil, at: Samples.time) == .perform([.send(PartNumber(2))]))
    #expect(move(asked: nil, at: until) == .perform([.askStatus]))
    #expect(move(asked: StreamRevision(5), at: until) == .perform([.askStatus]))
    let rest = [1, 2].map { Step.send(PartNumber($0)) }
    #expect(move(asked: upload.revision, at: until) == .perform(rest))
  }

  @Test func `a part that was refused is sent again without asking`() {
    let upload = given(Samples.opened(holding: [0, 1])).and(
      Samples.sent(2), Samples.failed(2, .serverUnavailable)
    ).upload
    let move = Planner.move(upload, Planner.Activity(), launch: launch, now: until)
    #expect(move == .perform([.send(PartNumber(2))]))
  }

  @Test func `an upload that waits takes no place of another one`() {
    let waiting = Story.openDelayed.history.upload
    let ready = History(of: Samples.otherUpload).and(Samples.queued()).upload
    let schedule = Planner.schedule(
      [(waiting, Planner.Activity()), (ready, Planner.Activity())], transfers: 0, calls: 0,
      limits: .probe, launch: launch, now: Samples.time)
    #expect(schedule.steps.map(\.upload) == [Samples.otherUpload])
    #expect(schedule.wake == until)
  }
}
