import Foundation
import Observation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillSystem
import WaybillTesting

/// How a screen's model follows its ledger: when it begins and ends, how often, and how much.
@MainActor @Suite(.timeLimit(.minutes(4)))
struct UploadsModelFollowingTests {
  @Test func `appearing twice follows once, and disappearing ends it`() async throws {
    let clock = ManualClock()
    let screen = try await ScreenFixture(clock: clock)
    let model = screen.model
    try await screen.seed(1..<2)
    model.onAppear()
    model.onAppear()
    await clock.sleepers(1)
    model.onAppear()
    #expect(clock.sleeperCount == 1)
    #expect(model.rows.map(\.id) == [UploadLife(1).id])
    model.onDisappear()
    await clock.sleepers(0)
    try await screen.seed(2..<3)
    clock.advance(by: UploadsModel.pause)
    #expect(model.rows.count == 1)
    // Back again, it takes up what it missed, and a row that stayed is the same row.
    let row = model.rows.first
    model.onAppear()
    await clock.sleepers(1)
    #expect(model.rows.map(\.id) == [UploadLife(1).id, UploadLife(2).id])
    #expect(model.rows.first === row)
    model.onDisappear()
    model.onDisappear()
    await clock.sleepers(0)
    try await screen.end()
  }

  @Test func `two screens follow until the last of them is cancelled`() async throws {
    let clock = ManualClock()
    let screen = try await ScreenFixture(clock: clock)
    let model = screen.model
    let one = Task { await model.follow() }
    let two = Task { await model.follow() }
    await clock.sleepers(1)
    one.cancel()
    await one.value
    try await screen.seed(1..<2)
    clock.advance(by: UploadsModel.pause)
    await until { model.rows.count == 1 }
    two.cancel()
    await two.value
    await clock.sleepers(0)
    try await screen.end()
  }

  @Test func `a model nobody holds any more ends following by itself`() async throws {
    let clock = ManualClock()
    let screen = try await ScreenFixture()
    weak var forgotten: UploadsModel?
    do {
      let model = UploadsModel(
        engine: screen.engine, destination: try Destination("http://127.0.0.1:9"), clock: clock)
      forgotten = model
      model.onAppear()
      await clock.sleepers(1)
    }
    await clock.sleepers(0)
    #expect(forgotten == nil)
    try await screen.end()
  }

  @Test func `following ends with the ledger, without a problem`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    model.onAppear()
    await until { model.isLoaded }
    await screen.ledger.close()
    model.onAppear()
    #expect(model.problem == nil)
  }

  @Test func `a ledger that cannot be read is a problem, and appearing again tries again`()
    async throws
  {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(1..<2)
    model.onAppear()
    await until { model.isLoaded }
    try sqlite3("\(screen.ledger.directory)/ledger.sqlite", "DROP TABLE progress")
    await screen.ledger.note(progress: [:])
    await until { model.problem != nil }
    #expect(model.problem?.kind == .inputOutput)
    #expect(model.problem?.remedy.text.isEmpty == false)
    #expect(model.rows.count == 1)
    model.dismissProblem()
    model.onAppear()
    await until { model.problem != nil }
    try await screen.end()
  }

  @Test func `an error of a run is shown like one of the screen's own`() async throws {
    let screen = try await ScreenFixture()
    let error = await #expect(throws: LedgerError.self) { try await screen.files.openLedger() }
    screen.model.report(try #require(error))
    #expect(screen.model.problem?.kind == .busy)
    try await screen.end()
  }

  // Ten updates a second at most, each with whatever has happened meanwhile.
  @Test func `a burst of changes is one update`() async throws {
    let clock = ManualClock()
    let screen = try await ScreenFixture(clock: clock)
    let model = screen.model
    try await screen.seed(0..<1, to: .sending)
    model.onAppear()
    await clock.sleepers(1)
    let counts = watch(of: { model.rows.count }) { $0 == 101 }
    let bytes = watch(of: { model.rows.first?.bytesSent }) { $0 == 5000 }
    let flight = try #require(try await screen.ledger.upload(UploadLife(0).id).flights.first)
    for number: UInt64 in 1...100 {
      try await screen.seed(number..<number + 1)
      await screen.ledger.note(progress: [flight: Int64(number) * 50])
    }
    clock.advance(by: UploadsModel.pause - .milliseconds(1))
    #expect(clock.sleeperCount == 1 && model.rows.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(await counts.value == [1, 101])
    #expect(await bytes.value == [0, 5000])
    await clock.sleepers(1)
    try await screen.end()
  }

  @Test func `uploads that leave the ledger leave the list`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(1..<3, to: .committed)
    try await screen.seed(3..<4, to: .exported)
    try await screen.seed(4..<5)
    model.onAppear()
    await until { model.rows.count == 4 }
    #expect(model.progress.count == 2)
    let kept = try #require(model.row(UploadLife(1).id))
    try await screen.record(.hashed(Hashed(hash: Samples.hash)), UploadLife(3).id)
    try await screen.record(
      .deduplicated(Deduplicated(original: .remote(Samples.remote))), UploadLife(3).id)
    await until { model.rows.count == 3 }
    #expect(model.progress.count == 1)
    try await screen.ledger.purge([UploadLife(2).id])
    await until { model.rows.count == 2 }
    #expect(model.rows.map(\.id) == [UploadLife(1).id, UploadLife(4).id])
    #expect(model.rows[0] === kept && model.row(UploadLife(2).id) == nil)
    #expect(model.progress.count == 1)
    try await screen.end()
  }

  @Test func `a change of one row is seen by whoever shows that row alone`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(0..<3)
    model.onAppear()
    await until { model.isLoaded }
    let changed = Changes()
    for (place, row) in model.rows.enumerated() {
      withObservationTracking {
        _ = row.copy
      } onChange: {
        changed.note("row \(place)")
      }
    }
    withObservationTracking {
      _ = model.rows
    } onChange: {
      changed.note("list")
    }
    let row = model.rows[1]
    await model.pause(row.id)
    await until { row.canResume }
    #expect(changed.noted == ["row 1"])
    try await screen.end()
  }

  // Cases E05 and F01.
  @Test func `25,000 uploads are all there at once, and one change reads one row`() async throws {
    let screen = try await ScreenFixture()
    let model = screen.model
    try await screen.seed(0..<25_000, to: .exported)
    let pages = Changes()
    model.onAppear()
    withObservationTracking {
      _ = model.progress
    } onChange: {
      pages.note("progress")
    }
    await until { model.isLoaded }
    var queued: [UploadID] = []
    var place: GlobalPosition?
    repeat {
      let page = try await screen.ledger.reader.queue(after: place)
      queued += page.rows.map(\.id)
      place = page.next
    } while place != nil
    #expect(model.rows.map(\.id) == queued)
    // The total is true from the first moment, not 1,000 while 24,000 are still to be read.
    #expect(pages.noted == ["progress"])
    #expect(model.progress.phrase.text == "0 of 25000 · 0 %")

    // The same stream, as the model reads it.
    var updates = screen.ledger.uploads().makeAsyncIterator()
    var replayed = 0
    repeat {
      let update = try #require(try await updates.next())
      replayed += update.rows.count
      if update.isWhole { break }
    } while true
    #expect(replayed == 25_000)
    let changed = Changes()
    for (place, row) in model.rows.enumerated() {
      withObservationTracking {
        _ = row.state
      } onChange: {
        changed.note("row \(place)")
      }
    }
    let row = model.rows[12_345]
    await model.cancel(row.id)
    await until { row.state == nil }
    #expect(changed.noted == ["row 12345"])
    #expect(try await updates.next()?.rows.map(\.upload.id) == [row.id])
    #expect(model.progress.phrase.text == "0 of 24999 · 0 %")
    try await screen.end()
  }
}

/// What was told to have changed, in the order of telling.
private final class Changes: Sendable {
  private let names = Locked<[String]>([])
  var noted: [String] { names.withLock { $0 } }
  func note(_ name: String) { names.withLock { $0.append(name) } }
}

/// Runs SQL through the `sqlite3` program, as a stranger with the file would.
private func sqlite3(_ database: String, _ sql: String) throws {
  let program = Process()
  program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  program.arguments = ["sqlite3", "-batch", database, sql]
  try program.run()
  program.waitUntilExit()
  try #require(program.terminationStatus == 0)
}
