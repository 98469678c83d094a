import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillTesting

/// Words and progress that were wrong in the field, on a real server that misbehaves.
@MainActor @Suite(.timeLimit(.minutes(2)))
struct UploadsModelCaseTests {
  // E01: over 100 % after a retry.
  @Test func `parts that fail and are sent again never show more than all`() async throws {
    let screen = try await ScreenFixture(
      faults: "part#6:503,part#7:drop,part#8:drop-reply,part*:delay=10", haste: 10)
    let model = screen.model
    model.onAppear()
    await model.picked([try screen.files.picture("a.jpg", 655_360)])
    await until { model.progress.count == 1 }
    let row = try #require(model.rows.first)
    let progress = watch(of: { model.progress }) { $0.isDone }
    let rows = watch(of: { (row.bytesSent, row.fraction) }) { $0.1 == 1 }
    screen.startRun()
    let steps = await progress.value
    #expect(steps.allSatisfy { $0.sentBytes <= 655_360 && $0.fraction <= 1 })
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.fraction <= $1.fraction })
    #expect(await rows.value.allSatisfy { $0.0 <= 655_360 && $0.1 <= 1 })
    #expect(try await screen.kinds(row.id).contains("part.failed"))
    try await screen.end()
  }

  // E03: minutes between 100 % and done.
  @Test func `while the server takes its time the row says verifying, and since when`()
    async throws
  {
    let screen = try await ScreenFixture(faults: "commit#1-3:504", closed: [.commits], haste: 10)
    let model = screen.model
    model.onAppear()
    await model.picked([try screen.files.picture("a.jpg", 100_000)])
    await until { model.rows.count == 1 }
    let row = try #require(model.rows.first)
    let seen = watch(of: { (row.state, row.copy, model.progress.percent) }) {
      $0.0?.word == .committed
    }
    screen.startRun()
    await until { row.state == .verifying && model.progress.percent == 99 }
    screen.transport.open(.commits)
    let verifying = await seen.value.filter { $0.0 == .verifying }
    #expect(!verifying.isEmpty)
    #expect(verifying.allSatisfy { $0.2 == 99 })
    let statements = try await screen.files.events(screen.ledger, of: row.id)
      .filter { ["part.confirmed", "upload.received"].contains($0.kindName) }
    var style = PhraseStyle()
    style.moment = { $0.description }
    let labels = verifying.map { $0.1.label(style) }.withoutRepetitions
    #expect(labels.count == 1)
    #expect(
      statements.suffix(2).contains {
        labels == ["Verifying. The server has everything and is checking it. Since \($0.time)"]
      })
    try await screen.end()
  }

  // E04: 100 % and never leaves the list.
  @Test func `a commit whose reply is lost ends as available everywhere`() async throws {
    let screen = try await ScreenFixture(faults: "commit*:drop-reply", haste: 10)
    let model = screen.model
    model.onAppear()
    await model.picked([try screen.files.picture("a.jpg", 100_000)])
    screen.startRun()
    await until { model.progress.isDone }
    #expect(model.rows.map(\.copy.title.text) == ["Available everywhere"])
    #expect(screen.server?.photoCount == 1)
    try await screen.end()
  }

  // E07: the sum stops near 93 %, then a duplicate appears after an error.
  @Test func `without the last callback the evidence still leads to all, once`() async throws {
    let screen = try await ScreenFixture(faults: "part#5:drop-reply", haste: 10)
    let model = screen.model
    model.onAppear()
    let file = try screen.files.picture("a.jpg", 327_680)
    await model.picked([file])
    screen.startRun()
    await until { model.progress.isDone }
    await model.picked([file])
    #expect(model.notice == PickNotice(alreadyUploaded: 1))
    #expect(model.rows.count == 1 && model.rows[0].fraction == 1)
    #expect(model.progress.phrase.text == "1 of 1 · 100 %")
    #expect(screen.server?.photoCount == 1)
    try await screen.end()
  }

  // E08: the row turns green, then a retry starts.
  @Test func `a check that fails after the last part was never shown as good`() async throws {
    let screen = try await ScreenFixture(faults: "commit#1:wrong-hash")
    let model = screen.model
    model.onAppear()
    let file = try screen.files.picture("a.jpg", 200_000)
    await model.picked([file])
    await until { model.rows.count == 1 }
    let row = try #require(model.rows.first)
    let seen = watch(of: { (row.copy, row.fraction, model.progress.fraction) }) {
      $0.0.actions.isEmpty == false
    }
    screen.startRun()
    let steps = await seen.value
    #expect(steps.allSatisfy { !$0.0.glyph.contains("checkmark") && $0.1 < 1 && $0.2 < 1 })
    #expect(row.copy.detail == AttentionReason.hashMismatch.phrase)
    #expect(row.copy.actions.first == .addAgain)
    await until { model.progress.attentionCount == 1 }
    // Added again, it takes the place of the one that could not go on.
    await model.picked([file])
    await until { model.rows.count == 2 && row.state == nil }
    #expect(model.notice == nil)
    try await screen.end()
  }
}
