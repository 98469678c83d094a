import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillTesting

/// Ended uploads move into trace segments, and are forgotten when someone wants it.
struct ArchiveTests {
  let temporary = TemporaryLedger()

  private static let all = RetentionPolicy(ageSeconds: 0)

  private func archive(_ ledger: Ledger) -> Archive { Archive(ledger: ledger, app: "test 1.0") }

  private func seed(_ ledger: Ledger, _ numbers: ClosedRange<UInt64>) async throws {
    for number in numbers {
      try await UploadLife(number).append(to: ledger)
      try await ledger.append(
        [ProposedEvent(.copyReleased, cause: .command)], to: UploadLife(number).id, expecting: .any)
    }
  }

  private var segmentNames: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: temporary.directory + "/archive").sorted()
    }
  }

  private func change(_ name: String, _ edit: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: "\(temporary.directory)/archive/\(name)")
    var data = try Data(contentsOf: url)
    edit(&data)
    try data.write(to: url)
  }

  /// The lines of a segment, unpacked by the `lz4` program.
  private func lines(_ name: String) throws -> [JSONValue] {
    let unpack = Process()
    unpack.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    unpack.arguments = ["lz4", "-dc", "\(temporary.directory)/archive/\(name)"]
    let output = Pipe()
    unpack.standardOutput = output
    try unpack.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    unpack.waitUntilExit()
    try #require(unpack.terminationStatus == 0)
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue.read([UInt8]($0)) }
  }

  @Test func `a segment holds every event of the uploads that moved into it`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    try await UploadLife(4, to: .sending).append(to: ledger)
    let before = try await ledger.reader.events(EventQuery())
    let moved = try await archive(ledger).archive(Self.all)
    #expect(moved.map(\.uploads) == [3])
    let lines = try lines(try #require(moved.first?.name.text))
    #expect(lines.first?["kind"]?.text == "trace.header")
    #expect(lines.last?["kind"]?.text == "trace.footer")
    let wanted = before.filter { event in (1...3).contains { UploadLife($0).id == event.upload } }
    #expect(
      lines.dropFirst().dropLast().map { $0["position"]?.integer } == wanted.map(\.position.value))
    #expect(lines.dropFirst().dropLast().map { $0["kind"]?.text } == wanted.map(\.kindName))
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
    let mode = try FileManager.default.attributesOfItem(
      atPath: "\(temporary.directory)/archive/\(try segmentNames[0])")[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `moving again moves only what ended since`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    #expect(try await archive(ledger).archive(Self.all).isEmpty)
    try await seed(ledger, 3...3)
    #expect(try await archive(ledger).archive(Self.all).map(\.uploads) == [1])
    #expect(try segmentNames.count == 2)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
  }

  @Test func `nothing leaves the log when the segment cannot be written`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    // A file stands where the folder should be.
    try Data().write(to: URL(fileURLWithPath: temporary.directory + "/archive"))
    let error = await #expect(throws: ArchiveError.self) {
      try await archive(ledger).archive(Self.all)
    }
    #expect(error?.code == .file)
    #expect(try await ledger.reader.verify().archived == 0)
    await ledger.close()
  }

  @Test func `what a crash left in the archive is cleared away, and what is recorded stays`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    let recorded = try segmentNames
    for stray in [".waybill-1f.part", "1-9-0011223344556677.waybill.jsonl.lz4", "notes.txt"] {
      try Data("x".utf8).write(
        to: URL(fileURLWithPath: "\(temporary.directory)/archive/\(stray)"))
    }
    try await archive(ledger).archive(Self.all)
    #expect(try segmentNames == (recorded + ["notes.txt"]).sorted())
    await ledger.close()
  }

  @Test func `a log that has lost something keeps every segment`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    let recorded = try segmentNames
    await ledger.close()
    let forget = Process()
    forget.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    forget.arguments = ["sqlite3", temporary.database, "DELETE FROM archived_streams"]
    try forget.run()
    forget.waitUntilExit()
    let again = try await temporary.open()
    _ = try await archive(again).purge([UploadLife(9).id])
    #expect(try segmentNames == recorded)
    await again.close()
  }

  @Test func `a purged upload leaves its segment, and its neighbours stay in the new one`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    let old = try #require(try await archive(ledger).archive(Self.all).first?.name.text)
    let gone = UploadLife(2)
    let purged = try await archive(ledger).purge([gone.id])
    #expect(purged.uploads == 1)
    let name = try #require(try segmentNames.first)
    #expect(try segmentNames.count == 1)
    #expect(name != old)
    let uploads = Set(try lines(name).compactMap { $0["upload_id"]?.text })
    #expect(uploads == [UploadLife(1).id.description, UploadLife(3).id.description])
    #expect(try await ledger.reader.holder(of: gone.hash) == nil)
    // And again, until nothing is left.
    _ = try await archive(ledger).purge([UploadLife(1).id, UploadLife(3).id])
    #expect(try segmentNames.isEmpty)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
  }

  @Test func `a damaged segment stops a purge before anything is lost`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    try await archive(ledger).archive(Self.all)
    let name = try segmentNames[0]
    try change(name) { $0[$0.count / 2] ^= 0x10 }
    let error = await #expect(throws: ArchiveError.self) {
      _ = try await archive(ledger).purge([UploadLife(2).id])
    }
    #expect(error?.code == .damagedSegment)
    #expect(try segmentNames == [name])
    #expect(try await ledger.upload(UploadLife(2).id).stateWord == .committed)
    await ledger.close()
  }

  @Test func `after purging everything nothing is left but that it happened`() async throws {
    let secret = "cracked wall.heic"
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    try await UploadLife(3, to: .sending, name: FileName(secret)).append(to: ledger)
    for file in ["staged/\(UploadLife(3).id)", "backup-v1.sqlite"] {
      try Data(secret.utf8).write(to: URL(fileURLWithPath: "\(temporary.directory)/\(file)"))
    }
    #expect(archive(ledger).copies == ["\(temporary.directory)/backup-v1.sqlite"])
    let purged = try await archive(ledger).purgeAll()
    #expect(purged.uploads == 3)
    #expect(archive(ledger).copies.isEmpty)
    #expect(try segmentNames.isEmpty)
    await ledger.close()
    for name in try FileManager.default.subpathsOfDirectory(atPath: temporary.directory) {
      let file = URL(fileURLWithPath: "\(temporary.directory)/\(name)")
      let data = (try? Data(contentsOf: file)) ?? Data()
      #expect(data.range(of: Data(secret.utf8)) == nil, "\(name)")
    }
    let again = try await temporary.open()
    #expect(try await again.reader.verify().findings == [])
    #expect(try await again.reader.counts() == LedgerCounts())
    await again.close()
  }
}
