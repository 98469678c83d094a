import Testing
import WaybillModel

/// What leaves the log, as a function of ages and sizes.
struct RetentionTests {
  private let now = Timestamp(seconds: 1_800_000_000)
  private let policy = RetentionPolicy(
    ageSeconds: 86_400, maximumEvents: 100, maximumBytes: 1000)
  private func before(_ seconds: Int64) -> Timestamp { now.adding(milliseconds: -1000 * seconds) }

  @Test(arguments: [(0, false), (86_399, false), (86_400, true), (1_000_000, true), (-500, false)])
  func `an ended upload leaves once it is as old as the policy says`(
    age: Int64, leaves: Bool
  ) {
    var pass = RetentionPass(policy, size: LogSize(events: 10, bytes: 10), now: now)
    let takes = pass.takes(newest: before(age), removed: 5)
    #expect(takes == leaves)
  }

  @Test func `a log with too many events lets go what was added first, and no more`() {
    var pass = RetentionPass(policy, size: LogSize(events: 112, bytes: 10), now: now)
    let takes = [8, 8, 8].map { pass.takes(newest: now, removed: $0) }
    #expect(takes == [true, true, false])
  }

  @Test func `a log with too many bytes lets go the same share of its events`() {
    var pass = RetentionPass(policy, size: LogSize(events: 50, bytes: 1250), now: now)
    // A fifth of the bytes is over, so ten events go.
    let takes = [5, 5, 5].map { pass.takes(newest: now, removed: $0) }
    #expect(takes == [true, true, false])
  }

  @Test func `an empty log and extreme bounds overflow nothing`() {
    var none = RetentionPass(RetentionPolicy(), size: LogSize(events: 0, bytes: 0), now: now)
    let noneTakes = none.takes(newest: now, removed: 1)
    #expect(!noneTakes)
    let greedy = RetentionPolicy(ageSeconds: .max, maximumEvents: 0, maximumBytes: 0)
    var all = RetentionPass(greedy, size: LogSize(events: .max, bytes: .max), now: now)
    let allTakes = all.takes(newest: Timestamp(microseconds: .max), removed: .max)
    #expect(allTakes)
    var never = RetentionPass(
      RetentionPolicy(ageSeconds: .max, maximumEvents: .max, maximumBytes: .max),
      size: LogSize(events: 1, bytes: 1), now: now)
    let neverTakes = never.takes(newest: before(1_000_000), removed: 1)
    #expect(!neverTakes)
  }

  @Test func `of an ended stream what ended it stays, with all that came after`() {
    let kinds: [EventKind?] = [
      .uploadExported, .uploadHashed, .uploadQueued, nil, .uploadCommitted, .copyReleased, nil,
    ]
    #expect(ArchivedStream.leavingCount(kinds) == 4)
  }

  @Test func `a duplicate stays from its hash on`() {
    #expect(
      ArchivedStream.leavingCount([.uploadExported, .uploadHashed, nil, .uploadDeduplicated])
        == 1)
  }

  @Test(
    arguments: [[], [.uploadExported, .uploadHashed, nil, .attentionNeeded]] as [[EventKind?]])
  func `a stream that has not ended keeps everything`(kinds: [EventKind?]) {
    #expect(ArchivedStream.leavingCount(kinds) == nil)
  }

  @Test func `a segment is named by the positions it spans and its digest`() {
    let digest = ContentHash([UInt8](repeating: 0x3c, count: 32))
    let name = SegmentName(
      first: GlobalPosition(1), last: GlobalPosition(880), digest: digest ?? .zero)
    #expect(name.text == "1-880-3c3c3c3c3c3c3c3c.waybill.jsonl.lz4")
  }
}
