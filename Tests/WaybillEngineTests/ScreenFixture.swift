import Observation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillTesting

/// A screen's model on a real ledger, with or without a server.
@MainActor
final class ScreenFixture {
  let files: EngineFixture
  let ledger: Ledger
  let engine: UploadEngine
  let model: UploadsModel
  let server: WaybillServer?
  let transport: GatedTransport
  private var run: Task<UploadEngine.Ending, any Error>?

  /// - Parameters:
  ///   - faults: what the server does wrong; without a server when nil.
  ///   - closed: the gates of the transport that are closed at first.
  ///   - haste: how much faster the engine's clock is than the wall's.
  ///   - clock: measures the pause between updates.
  init(
    faults: String? = nil, closed: Set<GatedTransport.Gate> = [], haste: Int64 = 1,
    clock: any Clock<Duration> = HastyClock()
  ) async throws {
    let files = try EngineFixture()
    self.files = files
    server = try faults.map { try files.startServer(faults: $0) }
    ledger = try await files.openLedger()
    transport = GatedTransport(closed: closed)
    engine = files.engine(ledger, transport: transport, haste: haste)
    model = UploadsModel(
      engine: engine, destination: try Destination(server?.baseURL ?? "http://127.0.0.1:9"),
      clock: clock)
  }

  func startRun() {
    run = Task { [engine] in try await engine.run(.follow) }
  }

  /// Ends what runs and the ledger.
  func end() async throws {
    model.onDisappear()
    transport.open(.parts)
    transport.open(.commits)
    await engine.stop()
    _ = try await run?.value
    await ledger.close()
    server?.stop(graceMilliseconds: 0)
  }

  /// Adds uploads to the ledger that no engine has to do with.
  func seed(_ numbers: Range<UInt64>, to stage: UploadLife.Stage = .queued) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [ledger] group in
      for number in numbers {
        group.addTask { try await UploadLife(number, to: stage).append(to: ledger) }
      }
      try await group.waitForAll()
    }
  }

  func record(_ event: UploadEvent, _ id: UploadID) async throws {
    try await ledger.append(
      [ProposedEvent(event, cause: .command)], to: id, expecting: .any)
  }

  func kinds(_ id: UploadID) async throws -> [String] { try await files.kinds(ledger, of: id) }
}

/// What `read` gives, each time what it has looked at changes, up to the first that is the last.
@MainActor
func values<Value>(
  of read: () -> Value, until isLast: (Value) -> Bool
) async -> [Value] {
  var seen: [Value] = []
  while !Task.isCancelled {
    let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let value = withObservationTracking(read) { change.yield() }
    seen.append(value)
    if isLast(value) { break }
    for await _ in changes { break }
  }
  return seen
}

/// The same, beside the test.
@MainActor
func watch<Value: Sendable>(
  of read: @escaping @MainActor @Sendable () -> Value,
  until isLast: @escaping @MainActor @Sendable (Value) -> Bool
) -> Task<[Value], Never> {
  Task { await values(of: read, until: isLast) }
}

/// Waits until something observable is so.
@MainActor
func until(_ holds: () -> Bool) async { _ = await values(of: holds) { $0 } }

extension Phrase {
  var text: String { PhraseStyle.english.text(self) }
}

extension Sequence where Element: Equatable {
  /// The elements without those that equal the one before.
  var withoutRepetitions: [Element] {
    reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
}
