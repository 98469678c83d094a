import Foundation
import Testing
import WaybillModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A folder with files, a ledger, a token, and a real server that runs for as long as the rig.
final class Rig {
  let folder: URL
  /// The server's address.
  let url: String
  private let server: RunningBinary
  var environment: [String: String]

  /// Starts a server that rehearses `faults`.
  init(faults: String? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    environment = [
      "HOME": folder.path, "WAYBILL_LEDGER": folder.appending(path: "ledger").path,
      "WAYBILL_TOKEN": "token-of-the-rig", "TZ": "UTC",
    ]
    let tokens = folder.appending(path: "tokens").path
    let isMade = FileManager.default.createFile(
      atPath: tokens, contents: Data("token-of-the-rig alice\n".utf8),
      attributes: [.posixPermissions: 0o600])
    try #require(isMade)
    server = try Binary.start(
      [
        "serve", "--data", folder.appending(path: "server").path, "--token-file", tokens,
        "--listen", "127.0.0.1:0",
      ] + (faults.map { ["--fault", $0] } ?? []))
    let line = try #require(server.outputLine())
    url = try #require(line.wholeMatch(of: /listening on (http:\/\/127\.0\.0\.1:[0-9]+)/)).output.1
      .description
  }

  deinit {
    // Not asked to stop: it would first finish replies it was told to delay.
    server.send(SIGKILL)
    _ = server.wait()
    try? FileManager.default.removeItem(at: folder)
  }

  /// A path in the folder.
  func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Makes a file whose bytes follow from its name and length, and gives its path.
  @discardableResult
  func file(_ name: String, bytes count: Int = 1000) throws -> String {
    try file([UInt8](name.utf8), bytes: count)
    return path(name)
  }

  /// Makes a named pipe that nobody reads or writes, and gives its path.
  func pipe(_ name: String) throws -> String {
    try #require(mkfifo(path(name), 0o600) == 0)
    return path(name)
  }

  /// Makes a file of any name.
  @discardableResult
  func file(_ name: [UInt8], bytes count: Int = 1000) throws -> [UInt8] {
    let path = [UInt8](folder.path.utf8) + [UInt8(ascii: "/")] + name
    let descriptor = open(path.map { CChar(bitPattern: $0) } + [0], O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    var seed = UInt64(count) &+ 1
    for byte in name { seed = (seed ^ UInt64(byte)) &* 0x100_0000_01b3 }
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      words[index] = seed ^ seed >> 29
    }
    try #require(words.withUnsafeBytes { write(descriptor, $0.baseAddress, count) } == count)
    close(descriptor)
    return path
  }

  /// Runs a command on the rig's ledger.
  func run(
    _ arguments: String..., raw: [[UInt8]] = [], environment extra: [String: String] = [:]
  ) async throws -> Binary.Ended {
    try await Binary.run(
      arguments, raw: raw, environment: environment.merging(extra) { $1 })
  }

  /// Starts a command on the rig's ledger.
  func start(_ arguments: String..., through: [String] = []) throws -> RunningBinary {
    try Binary.start(arguments, environment: environment, through: through)
  }

  /// The rows of `queue --jsonl`.
  func queue() async throws -> [JSONValue] {
    try await run("queue", "--jsonl").output.split(separator: "\n")
      .map { try JSONValue.read([UInt8]($0.utf8)) }
  }

  /// The ids of the queue, oldest first.
  func ids() async throws -> [String] {
    try await queue().map { try #require($0["upload"]?.text) }
  }

  /// The document a command prints with `--json`.
  func document(_ arguments: String...) async throws -> JSONValue {
    let ended = try await Binary.run(arguments + ["--json"], environment: environment)
    return try JSONValue.read([UInt8](ended.output.utf8.dropLast()))
  }

  /// How many uploads `status` counts at a word; 0 while there is no ledger.
  func count(_ word: String) async throws -> Int64 {
    let status = try await run("status", "--json")
    guard status.status == 0 else { return 0 }
    let document = try JSONValue.read([UInt8](status.output.utf8.dropLast()))
    return document["counts"]?[word]?.integer ?? 0
  }

  /// Looks until `status` counts some uploads at a word.
  func wait(for number: Int64, _ word: String) async throws {
    var looks = 0
    while try await count(word) != number {
      looks += 1
      try #require(looks < 1000, "\(word) never was \(number)")
    }
  }
}

extension String {
  /// The text with everything that differs from run to run made the same, in its width: ids,
  /// hashes, positions, times, ports and process numbers.
  var settled: String {
    replacing(/[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{12})?)?/) { match in
      String(match.output.0.map { $0 == "-" ? "-" : "x" })
    }
    .replacing(/([pu])-[0-9a-f]{32}/) { "\($0.output.1)-" + String(repeating: "x", count: 32) }
    .replacing(/[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+/) {
      String($0.output.map { $0.isNumber ? "0" : $0 })
    }
    .replacing(/20[0-9]{2}-[0-9]{2}-[0-9]{2}/, with: "2026-11-30")
    .replacing(/127\.0\.0\.1:[0-9]+/, with: "127.0.0.1:PORT")
    .replacing(/process [0-9]+/, with: "process PID")
    .replacing(/SQLite [0-9.]+/, with: "SQLite VERSION")
    // Events of the ledger itself stand between those of an upload as it happens.
    .replacing(/(?m)^ +[0-9]+(?=  00:)/, with: "      #")
  }
}
