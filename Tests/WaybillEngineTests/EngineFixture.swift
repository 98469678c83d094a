import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// A real server, a real ledger and real files in one temporary folder.
final class EngineFixture: Sendable {
  let folder: String
  static let token = "correct-horse-battery-staple"

  init() throws {
    folder = NSTemporaryDirectory() + "waybill-engine-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: folder + "/pictures", withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func startServer(
    port: UInt16 = 0, partSize: Int64 = 65_536, faults: String = ""
  ) throws -> WaybillServer {
    var options = ServerOptions(
      dataDirectory: folder + "/server",
      tokens: try AccessTokens("\(Self.token) alice\n"))
    options.port = port
    options.partSizeBytes = partSize
    if !faults.isEmpty { options.faults = try FaultScript(faults) }
    return try WaybillServer.start(options)
  }

  func openLedger() async throws -> Ledger {
    try await Ledger.open(directory: folder + "/ledger")
  }

  /// An engine with the real transport; its clock may run faster than the wall's.
  func engine(
    _ ledger: Ledger, transport: (any Transport)? = nil,
    credentials: CredentialProvider = .accepted, patience: Int64? = nil, haste: Int64 = 1,
    transfers: Int = 4, destination: Destination? = nil,
    wall: @escaping @Sendable () -> Timestamp = { SystemClock.now },
    policy: SendingPolicy = SendingPolicy(), conditions: ConditionsProvider? = nil
  ) -> UploadEngine {
    var options = UploadEngine.Options()
    // A clock that runs fast uses patience up fast as well.
    options.patienceMilliseconds = patience ?? (haste > 1 ? 3_600_000 : 20_000)
    options.destination = destination
    options.limits.transfers = transfers
    options.policy = policy
    options.conditions = conditions
    return UploadEngine(
      ledger: ledger, transport: transport ?? CurlTransport(options: .test),
      credentials: credentials, options: options,
      clock: EngineClock(wall: wall, speed: haste))
  }

  /// A file of `count` bytes that differ with the seed.
  func picture(_ name: String, _ count: Int, seed: UInt8 = 1) throws -> PickedFile {
    let path = folder + "/pictures/" + name
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices {
      bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ Int(seed))
    }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return PickedFile(path: [UInt8](path.utf8))
  }

  func kinds(_ ledger: Ledger, of upload: UploadID) async throws -> [String] {
    var query = EventQuery()
    query.upload = upload
    return try await ledger.reader.events(query).map(\.kindName)
  }

  /// Names of all events of an upload beside the four of its beginning and the copy's release.
  func events(_ ledger: Ledger, of upload: UploadID) async throws -> [RecordedEvent] {
    var query = EventQuery()
    query.upload = upload
    return try await ledger.reader.events(query)
  }

  /// How many events of a kind the ledger holds.
  func count(_ kind: EventKind, in ledger: Ledger) async throws -> Int {
    var query = EventQuery()
    query.kinds = [kind.rawValue]
    return try await ledger.reader.events(query).count
  }

  /// Appends what a command decides to.
  func order(_ command: UploadCommand, _ upload: UploadID, in ledger: Ledger) async throws {
    try await ledger.record(upload) { (try? $0.decide(command)) ?? [] }
  }

  func stagedPath(_ upload: UploadID) -> String {
    "\(folder)/ledger/staged/\(upload.description)"
  }

  var stagedFiles: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder + "/ledger/staged")) ?? []
  }
}

extension CredentialProvider {
  /// The one token the server knows, and no other.
  static let accepted = CredentialProvider { refused in
    refused ? nil : Secret(EngineFixture.token)
  }
}

/// A condition that did not come true in time.
struct NeverCame: Error {}

/// Waits until a condition that nothing announces holds.
func eventually(_ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(120)
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw NeverCame() }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// What `work` gives, or nil when it is not done within a generous time; it is cancelled then.
func within<T: Sendable>(
  _ limit: Duration = .seconds(120), _ work: @escaping @Sendable () async throws -> T
) async throws -> T? {
  try await withThrowingTaskGroup(of: T?.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}

extension Ledger {
  /// Waits until an upload is in a state of the six-state view or past it.
  func wait(for word: StateWord, of upload: UploadID) async throws {
    try await wait(for: upload) { $0.stateWord == word }
  }

  func wait(for upload: UploadID, until holds: (Upload) -> Bool) async throws {
    try await eventually { holds(try self.upload(upload)) }
  }
}
