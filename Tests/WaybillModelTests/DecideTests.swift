import Testing
import WaybillModel
import WaybillTesting

struct DecideTests {
  private static let commands: [(String, UploadCommand)] = [
    ("export", .export(Samples.exported())), ("hash", .hash(Samples.hash)),
    ("queue", .queue(Samples.intent)), ("deduplicate", .deduplicate(.remote(Samples.remote))),
    ("send 0", .send(PartNumber(0))), ("send 2", .send(PartNumber(2))),
    ("send 3", .send(PartNumber(3))), ("send -1", .send(PartNumber(-1))),
    ("cancel", .cancel(.user)), ("retry", .retry), ("pause", .pause), ("resume", .resume),
    ("release copy", .releaseCopy),
  ]

  @Test func `every command has the recorded answer in every state`() {
    var text = "What each command is answered with in each state: events, nothing, or a refusal.\n"
    for story in Story.allCases {
      text += "\n## \(story.rawValue)\n"
      for (name, command) in DecideTests.commands {
        let answer =
          switch story.history.when(command).answer {
          case .success(let events) where events.isEmpty: "nothing"
          case .success(let events): events.map(\.event.kind.rawValue).joined(separator: ", ")
          case .failure(let rejection): "refused: \(rejection.message)"
          }
        text += name + String(repeating: " ", count: 14 - name.count) + answer + "\n"
      }
    }
    Golden.check(text, against: "Tests/Golden/decisions.txt")
  }

  @Test func `a copy, its hash and the intent are recorded one after the other`() {
    given()
      .when(.export(Samples.exported())).then(.exported(Samples.exported()))
      .when(.hash(Samples.hash)).then(.hashed(Hashed(hash: Samples.hash)))
      .when(.queue(Samples.intent)).then(.queued(Queued(intent: Samples.intent)))
  }

  @Test func `a second copy is refused`() {
    Story.exported.history.when(.export(Samples.exported())).thenRejected(.alreadyDone)
  }

  @Test func `an upload without events is unknown to every later command`() {
    for command: UploadCommand in [.hash(Samples.hash), .cancel(.user), .retry, .pause, .resume] {
      given().when(command).thenRejected(.unknownUpload)
    }
  }

  @Test func `a part is sent with the next attempt and its own length`() {
    Story.failed.history.when(.send(PartNumber(2))).then(Samples.sent(2, attempt: 2))
  }

  // Case A08.
  @Test func `a part in flight is not sent again`() {
    Story.inFlight.history.when(.send(PartNumber(2))).thenRejected(.alreadyInFlight)
  }

  @Test func `a confirmed part is not sent again`() {
    Story.someConfirmed.history.when(.send(PartNumber(0))).thenRejected(.alreadyDone)
  }

  @Test func `nothing is sent while a person holds the upload back`() {
    Story.paused.history.when(.send(PartNumber(0))).thenRejected(.paused)
  }

  @Test func `nothing is sent while a person has to decide`() {
    Story.attention.history.when(.send(PartNumber(0))).thenRejected(.needsAttention)
  }

  @Test func `cancelling twice records it once`() {
    Story.queued.history
      .when(.cancel(.user)).then(.cancelled(Cancelled(reason: .user)))
      .when(.cancel(.account)).thenNothing()
  }

  @Test func `what is available everywhere cannot be cancelled`() {
    Story.committed.history.when(.cancel(.user)).thenRejected(.ended)
  }

  // Case F02.
  @Test func `a retry starts with no attempts used and the round after the last`() {
    let again = Story.attention.history.when(.retry).then(.retried(Retried(round: 1)))
    #expect(again.upload.attention == nil)
    #expect(again.upload.parts.allSatisfy { $0.failures == 0 && $0.notBefore == nil })
    again.when(.retry).thenNothing()
    again.and(.attentionNeeded(AttentionNeeded(reason: .quota))).when(.retry)
      .then(.retried(Retried(round: 2)))
  }

  @Test func `pausing and resuming twice records each once`() {
    Story.sessionOpen.history
      .when(.pause).then(.paused).when(.pause).thenNothing()
      .when(.resume).then(.resumed).when(.resume).thenNothing()
  }

  // Case C05.
  @Test(arguments: Story.allCases)
  func `the copy is kept until the upload has ended`(story: Story) {
    let history = story.history
    guard history.upload.ending == nil else { return }
    history.when(.releaseCopy).thenRejected(.copyStillNeeded)
  }

  @Test func `the copy is released once`() {
    Story.cancelled.history.when(.releaseCopy).then(.copyReleased).when(.releaseCopy).thenNothing()
  }
}
