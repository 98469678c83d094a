import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// What the facts about a ledger's surroundings mean.
struct CheckupTests {
  /// A ledger with nothing to remark.
  private var healthy: Checkup {
    var checkup = Checkup()
    checkup.sqliteVersion = "3.51.3"
    checkup.format = (1, 1)
    checkup.folder = Checkup.File(byteCount: 0, mode: 0o700)
    checkup.database = Checkup.File(byteCount: 4096, mode: 0o600)
    checkup.mark = .position(GlobalPosition(5))
    checkup.head = GlobalPosition(5)
    checkup.freeBytes = 1 << 40
    return checkup
  }

  private func levels(_ change: (inout Checkup) -> Void) -> [String: Checkup.Remark.Level] {
    var checkup = healthy
    change(&checkup)
    let pairs = checkup.remarks.filter { $0.level != .fine }.map { ($0.subject, $0.level) }
    return Dictionary(pairs) { first, _ in first }
  }

  @Test func `a healthy ledger has nothing to remark`() {
    #expect(levels { _ in } == [:])
  }

  @Test func `each thing that is wrong is named, with what to do`() {
    #expect(levels { $0.format = (2, 1) } == ["format": .warning])
    #expect(levels { $0.folder?.mode = 0o755 } == ["folder": .warning])
    #expect(levels { $0.database?.mode = 0o644 } == ["database": .warning])
    #expect(levels { $0.database?.isOurs = false } == ["database": .problem])
    #expect(levels { $0.database?.links = 2 } == ["database": .problem])
    #expect(
      levels { $0.log = Checkup.File(byteCount: 1 << 30, mode: 0o600) } == ["log": .warning])
    #expect(levels { $0.mark = .unreadable } == ["head_mark": .warning])
    #expect(levels { $0.mark = .absent } == ["head_mark": .warning])
    #expect(levels { $0.mark = .position(GlobalPosition(9)) } == ["head_mark": .problem])
    #expect(levels { $0.inbox = (0, 1) } == ["inbox": .warning])
    #expect(levels { $0.inbox = (2, 0) } == ["inbox": .warning])
    #expect(levels { $0.freeBytes = 1000 } == ["disk": .warning])
    #expect(levels { $0.hasReserve = false } == ["disk": .warning])
    #expect(levels { $0.archive = (3, 1, 500) } == ["archive": .problem])
    #expect(levels { $0.leftovers = (1, 0) } == [:])
    #expect(levels { $0.leftovers = (0, 2) } == ["set_aside": .warning])
    var broken = healthy
    broken.database?.isOurs = false
    #expect(broken.remarks.filter { $0.level == .problem }.allSatisfy { !$0.remedy.isEmpty })
  }

  @Test(arguments: [
    ("3.40.1", false), ("3.44.5", false), ("3.44.6", true), ("3.45.0", false), ("3.50.6", false),
    ("3.50.7", true), ("3.51.2", false), ("3.51.3", true), ("3.52.0", true), ("4.0.0", true),
    ("nonsense", false), ("3.51", false),
  ])
  func `the WAL-reset fault is told by the version of SQLite`(version: String, isFixed: Bool) {
    var checkup = healthy
    checkup.sqliteVersion = version
    let remark = checkup.remarks.first { $0.subject == "sqlite" }
    #expect(remark?.message.contains("has the fix") == isFixed)
  }

  @Test func `a real ledger is looked at without being written to`() async throws {
    let temporary = TemporaryLedger()
    let ledger = try await temporary.open(app: "tester")
    try await UploadLife(1).append(to: ledger)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: ledger.stagingDirectory + "/copy"))
    let reader = try await temporary.reader()
    let checkup = try await reader.checkup()
    #expect(checkup.owner?.contains("tester") == true)
    #expect(checkup.staged.count == 1 && checkup.staged.byteCount == 3)
    #expect(checkup.database?.mode == 0o600 && checkup.folder?.mode == 0o700)
    #expect(checkup.mark == .position(checkup.head))
    #expect(checkup.remarks.allSatisfy { $0.level != .problem })
    #expect(checkup.hasReserve == true)
    let selection = try await reader.archivable(
      RetentionPolicy(ageSeconds: 0), now: SystemClock.now)
    #expect(selection.isEmpty, "its copy is not released")
    try await ledger.append(
      [ProposedEvent(.copyReleased, cause: .command)], to: UploadLife(1).id, expecting: .any)
    _ = try await ledger.archive(
      try await reader.archivable(RetentionPolicy(ageSeconds: 0), now: SystemClock.now),
      digest: UploadLife(1).hash)
    try Data().write(to: URL(fileURLWithPath: temporary.directory + "/backup-v1.sqlite"))
    try FileManager.default.createDirectory(
      atPath: temporary.directory + "/set-aside", withIntermediateDirectories: false)
    try Data().write(to: URL(fileURLWithPath: temporary.directory + "/set-aside/x"))
    let later = try await reader.checkup()
    #expect(later.archive == (1, 1, 0))
    #expect(later.leftovers == (1, 1))
    await ledger.close()
    #expect(try await reader.checkup().owner == nil)
  }
}
