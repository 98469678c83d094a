import Observation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillTesting

/// What a screen binds to, on a real ledger and a real server.
@MainActor @Suite(.timeLimit(.minutes(2)))
struct UploadsModelTests {
  @Test func `a row goes from queued over sending and verifying to available everywhere`()
    async throws
  {
    let screen = try await ScreenFixture(faults: "", closed: [.parts, .commits])
    let model = screen.model
    model.onAppear()
    await model.picked([try screen.files.picture("a.jpg", 300_000)])
    await until { model.rows.count == 1 }
    let row = try #require(model.rows.first)
    #expect(row.name == "a.jpg" && row.byteCount == 300_000)
    #expect(model.row(row.id) === row)
    let seen = watch(of: { row.copy.title.text }) { _ in row.isCommitted }
    let fractions = watch(of: { row.fraction }) { _ in row.isCommitted }
    screen.startRun()
    await until { row.state?.word == .sending }
    screen.transport.open(.parts)
    await until { row.state == .verifying }
    #expect(model.progress.percent == 99)
    screen.transport.open(.commits)
    #expect(
      await seen.value.withoutRepetitions == [
        "Queued", "Sending", "Verifying", "Available everywhere",
      ])
    #expect(await fractions.value.dropLast().allSatisfy { $0 < 1 })
    #expect(row.fraction == 1)
    #expect(model.rows.first === row)
    #expect(screen.server?.photoCount == 1)
    try await screen.end()
  }

  @Test func `progress is monotone within a batch and full only with the last commit`()
    async throws
  {
    let screen = try await ScreenFixture(faults: "", closed: [.commits])
    let model = screen.model
    model.onAppear()
    let files = try (0..<5).map {
      try screen.files.picture("\($0).jpg", 100_000 + $0 * 40_000, seed: UInt8($0))
    }
    await model.picked(files)
    await until { model.progress.count == 5 }
    #expect(model.progress.phrase.text == "0 of 5 · 0 %")
    let seen = watch(of: { model.progress }) { $0.isDone }
    screen.startRun()
    await until { model.progress.percent == 99 }
    #expect(model.progress.doneCount == 0)
    for done in 1...5 {
      screen.transport.open(.commits, for: 1)
      await until { model.progress.doneCount == done }
    }
    let steps = await seen.value
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.fraction <= $1.fraction })
    #expect(steps.dropLast().allSatisfy { $0.fraction < 1 && $0.percent < 100 })
    #expect(steps.allSatisfy { $0.count == 5 && $0.sentBytes <= $0.totalBytes })
    #expect(model.progress.phrase.text == "5 of 5 · 100 %")
    #expect(try await screen.ledger.reader.counts()[.committed] == 5)
    try await screen.end()
  }

  @Test func `what was skipped is told once, whoever comes and goes`() async throws {
    let screen = try await ScreenFixture(faults: "")
    let model = screen.model
    model.onAppear()
    let file = try screen.files.picture("a.jpg", 1000)
    await model.picked([file])
    #expect(model.notice == nil)
    await model.picked([file])
    #expect(model.notice == PickNotice(alreadyQueued: 1))
    model.dismissNotice()
    // Whatever happens to the uploads now does not tell it again.
    let notices = watch(of: { (model.notice, model.rows.first?.isCommitted) }) { $0.1 == true }
    screen.startRun()
    #expect(await notices.value.allSatisfy { $0.0 == nil })
    model.onDisappear()
    model.onAppear()
    #expect(model.notice == nil)
    await model.picked([file])
    #expect(model.notice?.phrases.map(\.text) == ["1 already uploaded, skipped"])
    // A second pick before the first notice was put away: neither is lost.
    await model.picked([file])
    #expect(model.notice?.phrases.map(\.text) == ["2 already uploaded, skipped"])
    #expect(model.rows.count == 1)
    try await screen.end()
  }

  @Test func `files that could not be taken are counted, and named with the reason`()
    async throws
  {
    let screen = try await ScreenFixture()
    let model = screen.model
    let folder = PickedFile(path: [UInt8](screen.files.folder.utf8), name: FileName("a\u{202e}b"))
    let missing = PickedFile(path: [UInt8]("/nowhere/c.jpg".utf8))
    await model.picked([folder, try screen.files.picture("a.jpg", 10), missing])
    #expect(model.notice?.phrases.map(\.text) == ["2 could not be read"])
    #expect(model.unavailable.map(\.name) == ["a\\u{202e}b", "c.jpg"])
    #expect(model.unavailable.allSatisfy { !$0.reason.isEmpty })
    #expect(model.problem == nil)
    await model.picked(Array(repeating: missing, count: 2 * UploadsModel.maximumNamed))
    #expect(model.notice?.unreadable == 2 + 2 * UploadsModel.maximumNamed)
    #expect(model.unavailable.count == UploadsModel.maximumNamed)
    model.dismissNotice()
    #expect(model.unavailable == [])
    try await screen.end()
  }

  @Test func `files a stop came before are told, not lost`() async throws {
    let screen = try await ScreenFixture()
    let file = try screen.files.picture("a.jpg", 10)
    let model = screen.model
    let pick = Task { await model.picked([file, file]) }
    pick.cancel()
    await pick.value
    #expect(model.notice?.notLookedAt == 2)
    try await screen.end()
  }

  @Test func `orders about one upload are events of the ledger`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    let id = UploadLife(1).id
    try await screen.seed(1..<2)
    model.onAppear()
    await until { model.rows.count == 1 }
    let row = try #require(model.row(id))
    #expect(row.canPause && row.canCancel && !row.canResume && !row.canRetry)
    await model.pause(id)
    await until { row.canResume }
    #expect(row.copy.title.text == "Paused" && !row.canPause)
    await model.resume(id)
    await until { row.canPause }
    try await screen.record(
      .attentionNeeded(AttentionNeeded(reason: .quota, status: 507)), id)
    await until { row.canRetry }
    #expect(row.copy.actions == [.freeSpace, .retry])
    #expect(model.progress.attentionPhrase?.text == "Needs attention: 1")
    await model.retry(id)
    await until { row.state == .queued(nil) }
    await model.cancel(id)
    await until { row.state == nil }
    #expect(row.copy.title.text == "Cancelled" && !row.canCancel)
    #expect(model.problem == nil)
    #expect(
      try await screen.kinds(id).suffix(5) == [
        "upload.paused", "upload.resumed", "upload.attention_needed", "upload.retried",
        "upload.cancelled",
      ])
    try await screen.end()
  }

  @Test func `orders about many uploads are granted each by itself`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(0..<200)
    try await screen.seed(200..<203, to: .committed)
    let ids = (0..<203).map { UploadLife($0).id }
    model.onAppear()
    await until { model.progress.count == 200 }
    await model.pause(Array(ids[..<150]))
    #expect(try await screen.files.count(.uploadPaused, in: screen.ledger) == 150)
    #expect(model.problem == nil)
    await model.cancel(ids)
    #expect(try await screen.files.count(.uploadCancelled, in: screen.ledger) == 200)
    // Case F04: the list keeps what was given up.
    await until { model.progress.count == 0 }
    #expect(model.rows.count == 203)
    #expect(model.rows.filter { $0.state == nil }.count == 200)
    #expect(model.problems.map(\.kind) == [.ended])
    await model.resume(ids)
    #expect(model.problems.map(\.kind) == [.ended])
    try await screen.end()
  }

  @Test func `a cancelled upload sends nothing more, and a retried one goes on`() async throws {
    let screen = try await ScreenFixture(faults: "part#1-2:413")
    let model = screen.model
    model.onAppear()
    screen.startRun()
    await model.picked([try screen.files.picture("a.jpg", 1000)])
    await until { model.rows.first?.canRetry ?? false }
    let row = try #require(model.rows.first)
    #expect(row.copy.detail == AttentionReason.tooLarge.phrase)
    await model.retry(row.id)
    await until { row.canRetry == false }
    await until { row.canRetry }
    await model.retry(row.id)
    await until { row.isCommitted }
    screen.transport.open(.commits, for: 0)
    await model.picked([try screen.files.picture("b.jpg", 400_000, seed: 3)])
    await until { model.rows.count == 2 && model.rows[1].state == .verifying }
    await model.cancel(model.rows[1].id)
    await until { model.rows[1].state == nil }
    #expect(screen.server?.photoCount == 1)
    #expect(model.progress.count == 0 || model.progress.isDone)
    try await screen.end()
  }

  @Test func `what cannot be granted is a problem with a remedy, until it is put away`()
    async throws
  {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(1..<2, to: .committed)
    await model.cancel(UploadLife(1).id)
    await model.retry(UploadLife(7).id)
    #expect(model.problems.map(\.kind) == [.ended, .unknownUpload])
    await model.cancel(UploadLife(1).id)
    #expect(model.problems.count == 2)
    let problem = try #require(model.problem)
    #expect(!problem.text.text.isEmpty && !problem.remedy.text.isEmpty)
    model.dismissProblem()
    #expect(model.problem?.kind == .unknownUpload)
    model.dismissProblem()
    model.dismissProblem()
    #expect(model.problem == nil)
    try await screen.end()
  }

  @Test func `errors of the ledger are shown, not thrown away`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    let file = try screen.files.picture("a.jpg", 10)
    await model.picked([file])
    let other = UploadsModel(
      engine: screen.engine, destination: try Destination("http://127.0.0.1:10"))
    await other.picked([file])
    #expect(other.problem?.kind == .otherDestination)
    #expect(other.problem?.diagnosis.hasPrefix("other_destination: ") == true)
    await screen.ledger.close()
    await model.cancel(UploadLife(1).id)
    await model.picked([file])
    #expect(model.problems.map(\.kind) == [.closed])
    #expect(model.notice == nil)
  }

  // Case E03: a later word of the server does not begin it anew.
  @Test func `verifying goes on since the server had every byte`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    let life = UploadLife(1, to: .received, partCount: 1)
    try await screen.ledger.append(Array(life.events.dropLast()), to: life.id, expecting: .none)
    model.onAppear()
    await until { model.rows.first?.state == .verifying }
    let row = try #require(model.rows.first)
    var style = PhraseStyle()
    style.moment = { $0.description }
    let label = row.copy.label(style)
    let whole = try #require(try await screen.files.events(screen.ledger, of: life.id).last)
    #expect(whole.kindName == "part.confirmed" && label.hasSuffix("Since \(whole.time)"))
    let seen = watch(of: { (row.copy.label(style), row.canRetry) }) { $0.1 }
    var updates = screen.ledger.uploads().makeAsyncIterator()
    _ = try await updates.next()
    try await screen.record(.received(Received(byteCount: row.byteCount)), life.id)
    let later = try #require(try await updates.next()?.rows.first?.verifyingSince)
    #expect(later > whole.time)
    try await screen.record(.attentionNeeded(AttentionNeeded(reason: .refused)), life.id)
    #expect(await seen.value.dropLast().allSatisfy { $0.0 == label })
    try await screen.end()
  }

  @Test func `what holds up all uploads is said above the list and in each row`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(1..<4)
    try await screen.seed(4..<5, to: .received)
    model.onAppear()
    await until { model.isLoaded }
    #expect(model.banner == nil)
    try await screen.ledger.append(
      .conditionsChanged(Conditions(network: .offline)), cause: .transport)
    await until { model.banner != nil }
    #expect(model.banner?.title.text == "Waiting")
    #expect(model.rows.prefix(3).allSatisfy { $0.copy == model.banner })
    #expect(
      model.rows.last?.copy.detail.text == "The server has everything, but cannot be reached")
    try await screen.ledger.append(
      .conditionsChanged(Conditions(network: .online)), cause: .transport)
    await until { model.banner == nil }
    #expect(model.rows.prefix(3).allSatisfy { $0.copy.title.text == "Queued" })
    try await screen.ledger.append(.sealed(Sealed(copies: .keep)), cause: .command)
    await until { model.banner != nil }
    #expect(model.banner?.detail.text == "You are signed out; sign in to go on")
    try await screen.end()
  }
}
