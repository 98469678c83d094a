import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// From one format to the next: behind a backup, whole or not at all.
struct MigrationTests {
  let temporary = TemporaryLedger()

  /// A step that takes many writes.
  static let addsMuch = """
    CREATE TABLE added (number INTEGER PRIMARY KEY, noise BLOB) STRICT;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO added SELECT i, randomblob(3000) FROM n;
    """

  static func open(_ directory: String, _ steps: String...) async throws -> Ledger {
    var options = LedgerOptions()
    for step in steps { options.migrator = options.migrator.followed(by: step) }
    return try await Ledger.open(directory: directory, options: options)
  }

  /// The format a ledger has before the steps of these tests.
  private static let format = Migrator.standard.newestVersion

  private func backup(_ version: Int64 = format) -> String {
    "\(temporary.directory)/backup-v\(version).sqlite"
  }

  private func log(_ database: String) throws -> [String] {
    try rows(database, "SELECT position, kind, lower(hex(chain)) FROM events ORDER BY position")
  }

  // D17
  @Test func `an older format is copied whole before it is brought up to date`() async throws {
    try await temporary.seed([UploadLife(1), UploadLife(2, to: .sending)])
    let before = try log(temporary.database)
    let ledger = try await Self.open(temporary.directory, Self.addsMuch)
    try await UploadLife(3).append(to: ledger)
    await ledger.close()
    #expect(try rows(temporary.database, "PRAGMA user_version") == ["\(Self.format + 1)"])
    #expect(try mode(backup()) == 0o600)
    #expect(try log(backup()) == before)
    #expect(
      try rows(backup(), "PRAGMA user_version; PRAGMA application_id")
        == ["\(Self.format)", "1466005826"])
    let reader = try await LedgerReader.open(backup())
    #expect(try await reader.verify().findings == [])
    await reader.close()
    #expect(try await temporary.findings() == [])
    #expect(try Array(log(temporary.database).prefix(before.count)) == before)
  }

  @Test func `a new ledger and one that is up to date are not copied`() async throws {
    try await temporary.seed([UploadLife(1)])
    try await temporary.seed([UploadLife(2)])
    let files = try FileManager.default.contentsOfDirectory(atPath: temporary.directory)
    #expect(!files.contains { $0.hasPrefix("backup") })
  }

  // G08, M1: the newest events are still in the write-ahead log.
  @Test func `a backup has what the database file alone has not`() async throws {
    let child = try ChildProcess.role(.append, ledger: temporary.directory)
    for _ in 0..<20 { _ = child.readSaid() }
    child.kill()
    _ = child.wait()
    #expect(try #require(size(temporary.database + "-wal")) > 0)
    let alone = temporary.folder + "/alone.sqlite"
    try FileManager.default.copyItem(atPath: temporary.database, toPath: alone)
    let whole = try log(temporary.database)
    let ledger = try await Self.open(temporary.directory, Self.addsMuch)
    await ledger.close()
    #expect(try log(backup()) == whole)
    #expect(try log(alone).count < whole.count)
  }

  @Test func `a step that fails leaves the old format, and the next try succeeds`() async throws {
    try await temporary.seed([UploadLife(1)])
    let before = try log(temporary.database)
    let failing = Self.addsMuch + "INSERT INTO nowhere VALUES (1);"
    for _ in 0..<2 {
      await #expect(throws: LedgerError.self) {
        _ = try await Self.open(temporary.directory, failing)
      }
      #expect(try rows(temporary.database, "PRAGMA user_version") == ["\(Self.format)"])
      #expect(try log(temporary.database) == before)
      #expect(
        try rows(temporary.database, "SELECT name FROM sqlite_schema WHERE name = 'added'") == [])
      #expect(try log(backup()) == before)
    }
    try await temporary.seed([UploadLife(2)])
    let ledger = try await Self.open(temporary.directory, Self.addsMuch)
    await ledger.close()
    #expect(try rows(temporary.database, "SELECT count(*) FROM added") == ["500"])
    #expect(try await temporary.findings() == [])
  }

  @Test func `of several steps each that was done stays done`() async throws {
    try await temporary.seed([UploadLife(1)])
    await #expect(throws: LedgerError.self) {
      _ = try await Self.open(temporary.directory, "CREATE TABLE two (a);", "nonsense")
    }
    #expect(try rows(temporary.database, "PRAGMA user_version") == ["\(Self.format + 1)"])
    let ledger = try await Self.open(
      temporary.directory, "CREATE TABLE two (a);", "CREATE TABLE three (a);")
    await ledger.close()
    #expect(try rows(temporary.database, "PRAGMA user_version") == ["\(Self.format + 2)"])
    #expect(try rows(backup(Self.format + 1), "SELECT count(*) FROM two") == ["0"])
  }

  private static let hasStrace = (try? run(["strace", "-V"]).status) == 0

  // D17
  @Test(
    .enabled(if: hasStrace, "strace is not installed"),
    arguments: [
      "pwrite64:signal=KILL:when=2", "pwrite64:signal=KILL:when=9", "pwrite64:signal=KILL:when=17",
      "pwrite64:signal=KILL:when=40", "pwrite64:signal=KILL:when=150",
      "pwrite64:signal=KILL:when=450", "fsync:signal=KILL:when=1", "fdatasync:signal=KILL:when=1",
      "fdatasync:signal=KILL:when=2", "fdatasync:signal=KILL:when=3",
      "rename:signal=KILL:when=1", "unlink:signal=KILL:when=1",
    ])
  func `a kill at any point leaves the old format or the new, and a backup that is whole`(
    kill: String
  ) async throws {
    try await temporary.seed([UploadLife(1), UploadLife(2)])
    let before = try log(temporary.database)
    let child = try ChildProcess.role(
      .migrate, ledger: temporary.directory,
      wrapper: [
        "strace", "-f", "-o", "/dev/null", "-e",
        "trace=pwrite64,fsync,fdatasync,rename,unlink", "-e", "inject=\(kill)",
      ])
    try #require(child.readSaid() == "begin")
    let end = child.readSaid()
    _ = child.wait()
    let copy = temporary.folder + "/copy"
    try run(["cp", "-a", temporary.directory, copy])
    let version = try rows(copy + "/ledger.sqlite", "PRAGMA user_version")
    let (old, new) = (["\(Self.format)"], ["\(Self.format + 1)"])
    #expect(version == old || version == new, "\(kill), then \(String(describing: end))")
    if FileManager.default.fileExists(atPath: backup()) {
      #expect(try log(backup()) == before)
      #expect(try rows(backup(), "PRAGMA integrity_check") == ["ok"])
    } else {
      #expect(version == old, "migrated without a backup")
    }
    let ledger = try await Self.open(temporary.directory, Self.addsMuch)
    await ledger.close()
    #expect(try Array(log(temporary.database).prefix(before.count)) == before)
    #expect(try rows(temporary.database, "SELECT count(*) FROM added") == ["500"])
    #expect(try log(backup()).starts(with: before))
    #expect(try await temporary.findings() == [])
    let files = try FileManager.default.contentsOfDirectory(atPath: temporary.directory)
    #expect(!files.contains { $0.hasSuffix(".unfinished") })
  }

  @Test func `every ledger of an older format opens, folds and grows`() async throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: GoldenLedger.folder.path)
    #expect(files.contains("v001.sqlite"))
    for file in files {
      let golden = try GoldenLedger(file)
      #expect(try await golden.findings() == [], "\(file) as it is")
      try await golden.temporary.seed([UploadLife(100)])
      #expect(try await golden.findings() == [], "\(file) after a launch")
      let later = try await Self.open(golden.temporary.directory, Self.addsMuch)
      await later.close()
      #expect(try await golden.findings() == [], "\(file) after a step")
    }
  }
}
