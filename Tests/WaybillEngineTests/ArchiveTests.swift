import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

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

  private func sqlite3(_ sql: String) throws { _ = try output(of: sql) }

  private func output(of sql: String) throws -> String {
    let tool = Process()
    tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    tool.arguments = ["sqlite3", temporary.database, sql]
    let output = Pipe()
    tool.standardOutput = output
    try tool.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    tool.waitUntilExit()
    try #require(tool.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a segment holds every event of the uploads that moved into it`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    try await UploadLife(4, to: .sending).append(to: ledger)
    let before = try await ledger.reader.events(EventQuery())
    let moved = try await archive(ledger).archive(Self.all)
    #expect(moved.segments.map(\.uploads) == [3])
    let lines = try lines(try #require(moved.segments.first?.name.text))
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
    #expect(try await archive(ledger).archive(Self.all).segments.isEmpty)
    try await seed(ledger, 3...3)
    #expect(try await archive(ledger).archive(Self.all).segments.map(\.uploads) == [1])
    #expect(try segmentNames.count == 2)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
  }

  @Test func `nothing leaves the log when the segment cannot be written`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    // A file stands where the folder should be.
    try FileManager.default.removeItem(atPath: temporary.directory + "/archive")
    try Data().write(to: URL(fileURLWithPath: temporary.directory + "/archive"))
    let error = await #expect(throws: ArchiveError.self) {
      try await archive(ledger).archive(Self.all)
    }
    #expect(error?.code == .file)
    #expect(try await ledger.reader.verify().archived == 0)
    await ledger.close()
  }

  @Test func `an event that was changed in the log is moved nowhere`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    await ledger.close()
    try sqlite3(
      "DROP TRIGGER events_never_update; UPDATE events SET bytes = 7 WHERE position = 3")
    let again = try await temporary.open()
    let error = await #expect(throws: ArchiveError.self) {
      try await archive(again).archive(Self.all)
    }
    #expect(error?.code == .changed)
    #expect(error?.message.contains("event 3 ") == true)
    #expect(try segmentNames.isEmpty)
    #expect(try await again.reader.verify().findings.map(\.kind) == ["chain_mismatch"])
    await again.close()
  }

  @Test func `two that archive at once move everything once`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...20)
    async let one = archive(ledger).archive(Self.all)
    async let other = archive(ledger).archive(Self.all)
    let uploads = try await (one.segments + other.segments).map(\.uploads)
    #expect(uploads == [20])
    #expect(try segmentNames.count == 1)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
  }

  @Test func `an upload that no line can hold stays, and holds no other`() async throws {
    let ledger = try await temporary.open()
    let name = FileName(bytes: [UInt8](repeating: 0xff, count: 4 << 20))
    try await UploadLife(1, name: name).append(to: ledger)
    try await ledger.append(
      [ProposedEvent(.copyReleased, cause: .command)], to: UploadLife(1).id, expecting: .any)
    try await seed(ledger, 2...3)
    let moved = try await archive(ledger).archive(Self.all)
    #expect(moved.segments.map(\.uploads) == [2])
    #expect(moved.skipped == [UploadLife(1).id])
    await ledger.close()
  }

  @Test func `what a crash left in the archive is cleared away, and what is recorded stays`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    let recorded = try segmentNames
    let strays = [
      "1-9-0011223344556677.waybill.jsonl.lz4", "notes.txt", "old-3-9-x.waybill.jsonl.lz4",
    ]
    for stray in strays + [".waybill-1f.part"] {
      try Data("x".utf8).write(
        to: URL(fileURLWithPath: "\(temporary.directory)/archive/\(stray)"))
    }
    #expect(try await !archive(ledger).archive(Self.all).keptFiles)
    // What is no segment may be somebody's.
    #expect(try segmentNames == (recorded + strays).sorted())
    await ledger.close()
  }

  @Test func `a finished segment that was never recorded goes when the log holds all of it`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    await ledger.close()
    let before = temporary.folder + "/before"
    try FileManager.default.copyItem(atPath: temporary.database, toPath: before)
    let mark = try Data(contentsOf: URL(fileURLWithPath: temporary.headMark))
    let again = try await temporary.open()
    try await archive(again).archive(Self.all)
    await again.close()
    let stray = try segmentNames
    // As after a crash between the segment and the commit.
    try FileManager.default.removeItem(atPath: temporary.database)
    try FileManager.default.copyItem(atPath: before, toPath: temporary.database)
    try mark.write(to: URL(fileURLWithPath: temporary.headMark))
    let crashed = try await temporary.open()
    _ = try await archive(crashed).archive(RetentionPolicy())
    #expect(try segmentNames.isEmpty && stray.count == 1)
    await crashed.close()
  }

  /// As after a crash between a segment that was written anew and the commit that records it.
  @Test func `a segment that a purge wrote and never recorded goes when the old one holds it`()
    async throws
  {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    try await archive(ledger).archive(Self.all)
    await ledger.close()
    let recorded = try #require(try segmentNames.first)
    let kept = [
      temporary.database, temporary.headMark, "\(temporary.directory)/archive/\(recorded)",
    ]
    for (number, file) in kept.enumerated() {
      try FileManager.default.copyItem(atPath: file, toPath: "\(temporary.folder)/kept-\(number)")
    }
    let again = try await temporary.open()
    _ = try await archive(again).purge([UploadLife(2).id])
    await again.close()
    for (number, file) in kept.enumerated() {
      try? FileManager.default.removeItem(atPath: file)
      try FileManager.default.copyItem(atPath: "\(temporary.folder)/kept-\(number)", toPath: file)
    }
    #expect(try segmentNames.count == 2)
    let crashed = try await temporary.open()
    _ = try await archive(crashed).archive(RetentionPolicy())
    #expect(try segmentNames == [recorded])
    // The name that is purged now is in no file any more.
    _ = try await archive(crashed).purge([UploadLife(1).id])
    #expect(try segmentNames.count == 1)
    let uploads = Set(try lines(try segmentNames[0]).compactMap { $0["upload_id"]?.text })
    #expect(uploads == [UploadLife(2).id.description, UploadLife(3).id.description])
    #expect(try await crashed.reader.verify().findings == [])
    await crashed.close()
  }

  @Test func `a segment with events of another log stays, whatever positions they have`()
    async throws
  {
    let other = TemporaryLedger()
    let foreign = try await other.open()
    try await seed(foreign, 4...5)
    let name = try #require(
      try await archive(foreign).archive(Self.all).segments.first?.name.text)
    await foreign.close()
    let ledger = try await temporary.open()
    try await seed(ledger, 1...3)
    try await archive(ledger).archive(Self.all)
    try FileManager.default.copyItem(
      atPath: "\(other.directory)/archive/\(name)",
      toPath: "\(temporary.directory)/archive/\(name)")
    #expect(try await !archive(ledger).archive(Self.all).keptFiles)
    #expect(try segmentNames.contains(name) && segmentNames.count == 2)
    await ledger.close()
  }

  @Test func `while a segment is missing no file is removed`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    try await seed(ledger, 3...3)
    try await archive(ledger).archive(Self.all)
    let folder = temporary.directory + "/archive/"
    let name = try segmentNames[0]
    try FileManager.default.moveItem(atPath: folder + name, toPath: temporary.folder + "/away")
    #expect(try await ledger.reader.verify().findings.map(\.kind) == ["segment_missing"])
    #expect(try await archive(ledger).archive(Self.all).keptFiles)
    #expect(try segmentNames.count == 1)
    // What it held can still be purged from the log.
    #expect(try await archive(ledger).purge([UploadLife(1).id]).uploads == 1)
    #expect(try await ledger.reader.verify().findings.map(\.kind) == ["segment_missing"])
    await ledger.close()
  }

  @Test func `a folder, a pipe or a link in the place of a segment harms nothing`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    let path = temporary.directory + "/archive/" + (try segmentNames[0])
    try FileManager.default.moveItem(atPath: path, toPath: temporary.folder + "/away")
    let makers: [(String) throws -> Void] = [
      {
        try FileManager.default.createDirectory(
          atPath: $0, withIntermediateDirectories: false)
      },
      { #expect(mkfifo($0, 0o600) == 0) },
      {
        try FileManager.default.createSymbolicLink(
          atPath: $0, withDestinationPath: temporary.folder + "/away")
      },
    ]
    for make in makers {
      try make(path)
      #expect(try await ledger.reader.verify().findings.map(\.kind) == ["segment_damaged"])
      await #expect(throws: ArchiveError.self) {
        _ = try await archive(ledger).purge([UploadLife(1).id])
      }
      _ = try await archive(ledger).archive(Self.all)
      try FileManager.default.removeItem(atPath: path)
    }
    try FileManager.default.moveItem(atPath: temporary.folder + "/away", toPath: path)
    #expect(try await ledger.reader.verify().findings == [])
    await ledger.close()
  }

  @Test func `an archive that is a link to elsewhere is refused`() async throws {
    try await temporary.open().close()
    let folder = temporary.directory + "/archive"
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createSymbolicLink(
      atPath: folder, withDestinationPath: temporary.folder)
    await #expect(throws: LedgerError.self) { _ = try await temporary.open() }
  }

  @Test func `a log that has lost something keeps every segment`() async throws {
    let ledger = try await temporary.open()
    try await seed(ledger, 1...2)
    try await archive(ledger).archive(Self.all)
    let recorded = try segmentNames
    await ledger.close()
    try sqlite3("DELETE FROM archived_streams")
    let again = try await temporary.open()
    _ = try await archive(again).purge([UploadLife(9).id])
    #expect(try segmentNames == recorded)
    await again.close()
  }

  @Test func `a purged upload leaves its segment, and its neighbours stay in the new one`()
    async throws
  {
    let ledger = try await temporary.open()
    // Their events stand between each other's.
    let lives = (1...3).map { UploadLife($0) }
    for index in lives[0].events.indices {
      for life in lives {
        try await ledger.append([life.events[index]], to: life.id, expecting: .any)
      }
    }
    for life in lives {
      try await ledger.append(
        [ProposedEvent(.copyReleased, cause: .command)], to: life.id, expecting: .any)
    }
    var chainsBefore: [Int64: String] = [:]
    for line in try output(
      of: "SELECT (position + 1) || ' ' || lower(hex(chain)) FROM events"
    ).split(separator: "\n") {
      let words = line.split(separator: " ")
      chainsBefore[try #require(Int64(words[0]))] = String(words[1])
    }
    let old = try #require(try await archive(ledger).archive(Self.all).segments.first?.name.text)
    let gone = UploadLife(2)
    let purged = try await archive(ledger).purge([gone.id])
    #expect(purged.uploads == 1)
    let name = try #require(try segmentNames.first)
    #expect(try segmentNames.count == 1)
    #expect(name != old)
    let uploads = Set(try lines(name).compactMap { $0["upload_id"]?.text })
    #expect(uploads == [UploadLife(1).id.description, UploadLife(3).id.description])
    #expect(try await ledger.reader.holder(of: gone.hash) == nil)
    // And again, one by one, until nothing is left; the chain goes on over each that went.
    _ = try await archive(ledger).purge([UploadLife(1).id])
    let kept = try #require(try segmentNames.first)
    let runs = try lines(kept).compactMap { line in
      line["chain_before"]?.text.map { (line["position"]?.integer ?? 0, $0) }
    }
    for (position, chain) in runs {
      #expect(chainsBefore[position] == chain)
    }
    #expect(!runs.isEmpty)
    _ = try await archive(ledger).purge([UploadLife(3).id])
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

  @Test func `a purged upload leaves no copy of its bytes behind`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .sending)
    try await life.append(to: ledger)
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: life.id,
      expecting: .any)
    let staged = ledger.stagingDirectory
    for name in ["\(life.id)", "\(life.id)~3", "\(UploadLife(2).id)"] {
      try Data("bytes".utf8).write(to: URL(fileURLWithPath: "\(staged)/\(name)"))
    }
    let removal = try await archive(ledger).purge([life.id])
    #expect(removal.uploads == 1 && removal.isErased)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: staged) == ["\(UploadLife(2).id)"])
    // Again, as after a crash.
    #expect(try await archive(ledger).purge([life.id]).uploads == 0)
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
    let backup = "\(temporary.directory)/backup-v1.sqlite"
    #expect(try Archive.copies(in: temporary.directory) == [backup])
    let purged = try await archive(ledger).purgeAll()
    #expect(purged.uploads == 3)
    #expect(try Archive.copies(in: temporary.directory).isEmpty)
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
