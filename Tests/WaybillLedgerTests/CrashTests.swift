import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// A process that ends in the middle, and a system that fails it.
struct CrashTests {
  let temporary = TemporaryLedger()

  // D1, T3
  @Test func `what was acknowledged before a kill is there after it`() async throws {
    var random = SplitMix(state: 42)
    var acknowledged: [String: String] = [:]
    for round in 1...30 {
      let child = try ChildProcess.role(.append, ledger: temporary.directory)
      try #require(child.readSaid() == "ready \(round * 2 - 1)")
      for _ in 0..<random.next(below: 40) { remember(child.readSaid(), in: &acknowledged) }
      usleep(UInt32(random.next(below: 3000)))
      child.kill()
      while let line = child.readSaid() { remember(line, in: &acknowledged) }
      #expect(child.wait() == -SIGKILL)

      let ledger = try await temporary.open()
      #expect(ledger.launch == LaunchGeneration(Int64(round * 2)))
      #expect(try await ledger.state().tailLost == nil)
      await ledger.close()
    }
    let log = try rows(
      temporary.database, "SELECT position || ' ' || lower(hex(event_id)) FROM events")
    let recorded = Dictionary(
      uniqueKeysWithValues: log.map { line in
        let fields = line.split(separator: " ").map(String.init)
        return (fields[0], fields[1])
      })
    #expect(acknowledged.count > 300)
    for (position, id) in acknowledged { #expect(recorded[position] == id, "event \(position)") }
    #expect(try await temporary.findings() == [])
    // Each append was one whole life: half of one would be half a transaction.
    #expect(
      try rows(
        temporary.database,
        "SELECT stream FROM events WHERE stream > 0 GROUP BY stream HAVING count(*) <> 9") == [])
  }

  private func remember(_ line: String?, in acknowledged: inout [String: String]) {
    guard let fields = line?.split(separator: " ").map(String.init), fields.count == 2 else {
      return
    }
    acknowledged[fields[0]] = fields[1].replacingOccurrences(of: "-", with: "")
  }

  /// What the child said became of each upload, compared with the log a later launch finds.
  private func expectHonest(_ child: ChildProcess, failures: ClosedRange<Int>) async throws {
    var said: [(id: UploadID, outcome: String, code: String)] = []
    while let line = child.readSaid() {
      let fields = line.split(separator: " ").map(String.init)
      guard fields.count == 3, let id = UploadID(fields[0]) else { continue }
      said.append((id, fields[1], fields[2]))
    }
    _ = child.wait()
    #expect(said.count == 12)
    #expect(failures.contains(said.count { $0.outcome != "written" }), "\(said)")
    let reader = try await temporary.reader()
    for (id, outcome, _) in said {
      let revision = try await reader.upload(id)?.revision
      switch outcome {
      case "written": #expect(revision == StreamRevision(3), "\(id) was said to be written")
      case "not_written": #expect(revision == nil, "\(id) was said not to be written")
      default: #expect(revision == nil || revision == StreamRevision(3))
      }
    }
    await reader.close()
    let ledger = try await temporary.open()
    try await UploadLife(77).append(to: ledger)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }

  private static let hasStrace = (try? run(["strace", "-V"]).status) == 0

  private func faults(_ injection: String) throws -> ChildProcess {
    try ChildProcess.role(
      .faults, ledger: temporary.directory,
      wrapper: [
        "strace", "-f", "-o", "/dev/null", "-P", temporary.database + "-wal",
        "-e", "trace=fdatasync,fsync,pwrite64", "-e", "inject=\(injection)",
      ])
  }

  // D7
  @Test(.enabled(if: hasStrace, "strace is not installed"), arguments: [4, 5, 9])
  func `a failed sync is answered truthfully, also after a crash`(call: Int) async throws {
    try await temporary.seed([])
    let child = try faults("fdatasync:error=EIO:when=\(call)")
    try await expectHonest(child, failures: 1...1)
  }

  @Test(.enabled(if: hasStrace, "strace is not installed"))
  func `syncs that go on failing are answered truthfully`() async throws {
    try await temporary.seed([])
    let child = try faults("fdatasync:error=EIO:when=4+")
    try await expectHonest(child, failures: 1...12)
  }

  // G11, D5
  @Test(.enabled(if: hasStrace, "strace is not installed"), arguments: ["30", "31..34", "40..90"])
  func `a full disk fails an append and leaves nothing behind`(calls: String) async throws {
    try await temporary.seed([])
    let child = try faults("pwrite64:error=ENOSPC:when=\(calls)")
    try await expectHonest(child, failures: 1...12)
  }

  // G10
  @Test(.enabled(if: hasStrace, "strace is not installed"))
  func `intent is on the disk before its append returns, a sent part is not waited for`()
    async throws
  {
    let trace = temporary.folder + "/trace"
    let child = try ChildProcess.role(
      .durability, ledger: temporary.directory,
      wrapper: ["strace", "-f", "-y", "-o", trace, "-e", "trace=fdatasync,fsync,write"])
    _ = child.readToEnd()
    _ = child.wait()
    let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    func syncs(from start: String, to end: String) throws -> Int {
      let first = try #require(lines.firstIndex { $0.contains("said: \(start)") })
      let last = try #require(lines.firstIndex { $0.contains("said: \(end)") })
      return lines[first..<last].count {
        $0.contains("sync(") && $0.contains("ledger.sqlite-wal") && $0.contains("= 0")
          || $0.contains("sync resumed") && $0.contains("= 0")
      }
    }
    #expect(try syncs(from: "begin saved", to: "end saved") >= 1)
    #expect(try syncs(from: "begin sent", to: "end sent") == 0)
    #expect(try syncs(from: "end sent", to: "end confirmed") >= 1)
    #expect(try await temporary.findings() == [])
  }
}
