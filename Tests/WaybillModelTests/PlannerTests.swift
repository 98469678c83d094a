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
