import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `waybill log -f`, the built program beside a ledger that grows.
struct FollowTests {
  let temporary = TemporaryLedger()

  /// The program with its output on a pipe, until it is interrupted.
  private final class Follower {
    private let process = Process()
    private let output = Pipe()
    private var rest: [UInt8] = []

    init(_ arguments: [String]) throws {
      process.executableURL = URL(fileURLWithPath: try Binary.path())
      process.arguments = arguments
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    /// The next line; nil at the end.
    func line() -> String? {
      while true {
        if let end = rest.firstIndex(of: 0x0a) {
          defer { rest.removeSubrange(...end) }
          return String(decoding: rest[..<end], as: UTF8.self)
        }
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { return nil }
        rest += more
      }
    }

    func interrupt() { process.interrupt() }

    func status() -> Int32 {
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `log -f prints the past and then each new event once, and ends quietly on Ctrl-C`()
    async throws
  {
    let ledger = try await temporary.open()
    try await UploadLife(1, to: .queued).append(to: ledger)
    let follower = try Follower([
      "log", "-f", "-n", "2", "--jsonl", "--ledger", temporary.directory,
    ])
    func position() throws -> Int64? {
      try follower.line().flatMap { try JSONValue.read([UInt8]($0.utf8))["position"]?.integer }
    }
    #expect(try position() == 3)
    #expect(try position() == 4)
    for number: UInt64 in 2..<52 { try await UploadLife(number, to: .queued).append(to: ledger) }
    for expected: Int64 in 5..<155 { #expect(try position() == expected) }
    follower.interrupt()
    #expect(follower.line() == nil)
    #expect(follower.status() == 130)
    await ledger.close()
  }

  @Test(arguments: [["-f", "-r"], ["-f", "--json"]])
  func `what cannot go on for ever is refused before it begins`(options: [String]) async throws {
    let ledger = try await temporary.open()
    await ledger.close()
    let ended = try await Binary.run(["log", "--ledger", temporary.directory] + options)
    #expect(ended.status == 2)
    #expect(ended.output.isEmpty)
  }
}
