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

  func engine(_ ledger: Ledger, token: String = EngineFixture.token) -> UploadEngine {
    var options = UploadEngine.Options()
    options.patienceMilliseconds = 3000
    return UploadEngine(
      ledger: ledger, transport: CurlTransport(),
      credentials: CredentialProvider { refused in refused ? nil : Secret(token) },
      options: options)
  }

  /// A file of `count` bytes that differ with the seed.
  func picture(_ name: String, _ count: Int, seed: UInt8 = 1) throws -> PickedFile {
    let path = folder + "/pictures/" + name
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ Int(seed)) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return PickedFile(path: [UInt8](path.utf8))
  }

  func kinds(_ ledger: Ledger, of upload: UploadID) async throws -> [String] {
    var query = EventQuery()
    query.upload = upload
    return try await ledger.reader.events(query).map(\.kindName)
  }

  var stagedFiles: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder + "/ledger/staged")) ?? []
  }
}
