import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillSQLite
import WaybillTesting

/// The files that freeze the format: the whole schema, and a ledger of each format.
struct SchemaTests {
  let temporary = TemporaryLedger()

  private static let isRecording = ProcessInfo.processInfo.environment["WAYBILL_RECORD"] == "1"
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `schema/ledger.sql is what the migrations and projections make`() async throws {
    try await temporary.seed([])
    let made = try rows(
      temporary.database,
      "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        + " ORDER BY rowid")
    let version = try rows(temporary.database, "PRAGMA user_version")[0]
    let text =
      "-- The whole schema of ledger format \(version), for reading. Recorded by SchemaTests.\n\n"
      + made.joined(separator: "\n") + "\n"
    let file = Self.root.appendingPathComponent("schema/ledger.sql")
    if Self.isRecording { try Data(text.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == text, "record with WAYBILL_RECORD=1")
  }

  private static let moment = Timestamp(seconds: 1_767_225_600)

  /// One event of each kind, over a few uploads.
  private func recordEveryKind(on ledger: Ledger) async throws {
    func add(_ number: UInt64, _ events: [UploadEvent]) async throws {
      try await ledger.append(
        events.map { ProposedEvent($0, cause: .reconciliation) }, to: UploadLife(number).id,
        expecting: .any)
    }
    try await UploadLife(1, name: FileName("ünïcödé 📷.heic")).append(to: ledger)
    try await add(1, [.copyReleased, .noted(Noted(claim: .latePart, part: PartNumber(1)))])
    try await UploadLife(2, to: .received).append(to: ledger)
    try await add(
      2,
      [
        .verified(Verified(hash: UploadLife(2).hash)), .verificationRevoked,
        .partRevoked(PartRevoked(part: PartNumber(0), byteCount: 0, regression: 1)),
        .conflicted(Conflicted(currentVersion: 7)),
        .attentionNeeded(AttentionNeeded(reason: .conflict, status: 409)),
        .retried(Retried(round: 1)),
      ])
    try await UploadLife(3, to: .sending).append(to: ledger)
    try await add(
      3,
      [
        .transferLost(TransferLost(part: PartNumber(0), attempt: 1)),
        .partSent(PartSent(part: PartNumber(0), attempt: 2, byteCount: UploadLife.partSize)),
        .partFailed(
          PartFailed(
            part: PartNumber(0), attempt: 2, failure: .serverUnavailable,
            notBefore: Self.moment.adding(milliseconds: 5000), status: 503)),
        .sessionExpired(SessionExpired(session: SessionReference("session-3"))), .paused, .resumed,
        .cancelled(Cancelled(reason: .user)),
      ])
    try await UploadLife(4, to: .exported).append(to: ledger)
    try await add(
      4,
      [
        .hashed(Hashed(hash: UploadLife(1).hash)),
        .deduplicated(Deduplicated(original: .upload(UploadLife(1).id))),
      ])
    let own: [LedgerEvent] = [
      .reconciled(Reconciled(uploads: 3, events: 4)),
      .assigned(Assigned(salt: Array(0..<16), digest: UploadLife(5).hash)),
      .conditionsChanged(Conditions(network: .online, credentials: .accepted)),
      .sealed(Sealed(copies: .keep)), .unsealed,
      .tailLost(TailLost(markedPosition: GlobalPosition(9), lastPosition: GlobalPosition(8))),
      .archived(
        Archived(
          first: GlobalPosition(1), last: GlobalPosition(8), count: 8, digest: UploadLife(5).hash)),
    ]
    for event in own { try await ledger.append(event, cause: .launch) }
  }

  @Test func `a ledger of format 1 opens, folds and grows`() async throws {
    let file = GoldenLedger.folder.appendingPathComponent("v001.sqlite").path
    if Self.isRecording, !FileManager.default.fileExists(atPath: file) {
      let ledger = try await temporary.open(time: Self.moment)
      try await recordEveryKind(on: ledger)
      await ledger.close()
      try FileManager.default.copyItem(atPath: temporary.database, toPath: file)
    }
    let golden = try GoldenLedger("v001.sqlite")
    let reader = try await golden.temporary.reader()
    let events = try await reader.events(EventQuery())
    // Every kind of its day; the file is frozen, so a later kind is not in it.
    #expect(Set(events.compactMap(\.kind)).count == 30)
    for event in events {
      switch event.body {
      case .upload, .ledger: break
      case .unrecognized, .unreadable: Issue.record("\(event.kindName) cannot be read")
      }
    }
    let words = try await ([1, 2, 3, 4] as [UInt64]).asyncMap { number in
      try await reader.upload(UploadLife(number).id)?.stateWord
    }
    #expect(words == [.committed, .sending, .cancelled, .deduplicated])
    #expect(try await reader.upload(UploadLife(2).id)?.confirmedBytes == UploadLife.partSize)
    #expect(try await reader.queue().rows.first?.fileName.text == "ünïcödé 📷.heic")
    #expect(try await reader.verify().findings == [])
    await reader.close()
    try await golden.temporary.seed([UploadLife(10)])
    #expect(try await golden.findings() == [])
  }

  @Test func `a ledger of format 2 opens without the beginnings that were archived`() async throws {
    let file = GoldenLedger.folder.appendingPathComponent("v002.sqlite").path
    if Self.isRecording, !FileManager.default.fileExists(atPath: file) {
      let ledger = try await temporary.open(time: Self.moment)
      try await recordEveryKind(on: ledger)
      let selection = try await ledger.reader.archivable(
        RetentionPolicy(ageSeconds: 0), now: Self.moment)
      _ = try await ledger.archive(selection, digest: UploadLife(6).hash)
      try await UploadLife(7).append(to: ledger)
      try await ledger.purge([UploadLife(7).id])
      await ledger.close()
      try FileManager.default.copyItem(atPath: temporary.database, toPath: file)
    }
    let golden = try GoldenLedger("v002.sqlite")
    let reader = try await golden.temporary.reader()
    #expect(try await reader.verify().findings.map(\.kind) == ["segment_missing"])
    #expect(try await reader.verify().archived == 21)
    #expect(try await reader.segments().map(\.archived.digest) == [UploadLife(6).hash])
    let words = try await ([1, 2, 3, 4, 7] as [UInt64]).asyncMap { number in
      try await reader.upload(UploadLife(number).id)?.stateWord
    }
    #expect(words == [.committed, .sending, .cancelled, .deduplicated, nil])
    #expect(try await reader.holder(of: UploadLife(1).hash) == UploadLife(1).id)
    await reader.close()
    try await golden.temporary.seed([UploadLife(10)])
    #expect(try await golden.findings() == [])
  }

  @Test func `a value that cannot be bound fails the run instead of storing nothing`() throws {
    let path = temporary.folder + "/plain.sqlite"
    try rows(path, "CREATE TABLE t (a, b)")
    let connection = try Connection(path: path, access: .writer)
    let insert = try connection.prepare("INSERT INTO t VALUES (?, ?)")
    insert.bind(1, Int64(1))
    insert.bind(3, "beyond the last place")
    #expect(throws: SQLiteError.self) { try insert.run() }
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    insert.bind(1, Int64(1))
    insert.bind(2, "")
    try insert.run()
    #expect(try connection.integer("SELECT count(*) FROM t WHERE b = ''") == 1)
  }
}

extension Array {
  fileprivate func asyncMap<T>(_ change: (Element) async throws -> T) async rethrows -> [T] {
    var changed: [T] = []
    for element in self { changed.append(try await change(element)) }
    return changed
  }
}
