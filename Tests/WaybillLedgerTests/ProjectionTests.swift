import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// The tables beside the log: what live appends write is what a rebuild writes.
struct ProjectionTests {
  let temporary = TemporaryLedger()

  static let tables = ["queue", "upload_states", "content_index", "work", "sessions"]

  /// All rows of all projections, in order.
  private func dump() throws -> [String] {
    try Self.tables.flatMap { table in
      try rows(temporary.database, "SELECT '\(table)', quote(t.stream), * FROM \(table) AS t")
        .sorted()
    }
  }

  // H19
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `what was written live is what a rebuild writes`(seed: UInt64) async throws {
    var history = RandomHistory(seed: seed)
    for _ in 0..<3 {
      let ledger = try await temporary.open(time: Timestamp(seconds: 1_700_000_000))
      try await history.play(200, on: ledger)
      await ledger.close()
    }
    #expect(try await temporary.findings() == [], "seed \(seed)")
    let live = try dump()
    try rows(temporary.database, "UPDATE projections SET version = 0")
    let ledger = try await temporary.open()
    await ledger.close()
    #expect(try dump() == live, "seed \(seed)")
  }

  private static let damage = [
    "DROP TABLE queue", "DROP TABLE work; DROP TABLE sessions; DROP TABLE upload_states",
    "DROP TABLE content_index", "UPDATE projections SET version = 7 WHERE name = 'queue'",
    "UPDATE projections SET position = 3, launch = NULL",
    "UPDATE projections SET position = 100000",
    "DELETE FROM projections", "ALTER TABLE queue DROP COLUMN reason",
    "DROP TABLE work; CREATE TABLE work (nonsense)",
    "UPDATE projections SET position = 4, launch = 0; DELETE FROM queue; DELETE FROM content_index",
    "UPDATE projections SET version = -1; INSERT INTO sessions VALUES (99, 'x', 1, 1, NULL, 1)",
  ]

  @Test func `a program that does not know a table leaves it behind, and it catches up`()
    async throws
  {
    try await temporary.seed([UploadLife(1)])
    try rows(temporary.database, "UPDATE projections SET launch = launch - 1 WHERE name = 'queue'")
    try rows(temporary.database, "DELETE FROM queue")
    let reader = try await temporary.reader()
    #expect(try await reader.verify(.fast).findings.map(\.kind) == ["projection_behind"])
    await reader.close()
    try await temporary.seed([])
    #expect(try await temporary.findings() == [])
  }

  // H09, H14
  @Test(arguments: damage)
  func `a damaged projection is folded anew at the next launch`(damage: String) async throws {
    try await temporary.seed([
      UploadLife(1), UploadLife(2, to: .sending), UploadLife(3, to: .queued),
    ])
    let before = try dump()
    try rows(temporary.database, damage)
    let ledger = try await temporary.open()
    try await UploadLife(4, to: .exported).append(to: ledger)
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)],
      to: UploadLife(4).id, expecting: .any)
    await ledger.close()
    #expect(try await temporary.findings() == [])
    #expect(try dump().filter { !$0.contains("|4|") } == before)
  }

  private static let lies = [
    "UPDATE queue SET confirmed = confirmed + 1", "DELETE FROM queue WHERE stream = 1",
    "UPDATE upload_states SET state = 'committed'", "DELETE FROM work",
    "INSERT INTO content_index VALUES (zeroblob(32), 77)", "UPDATE sessions SET reference = 'x'",
    "UPDATE queue SET reason = 'x' WHERE reason IS NULL",
  ]

  @Test(arguments: lies)
  func `a row that lies is named by verify`(lie: String) async throws {
    try await temporary.seed([UploadLife(1), UploadLife(2, to: .sending)])
    try rows(temporary.database, lie)
    #expect(try await temporary.findings() == ["projection_differs"])
  }

  @Test func `a projection that is behind catches up when a hash has changed hands`() async throws {
    let ledger = try await temporary.open()
    let early = UploadLife(1, to: .exported)
    try await early.append(to: ledger)
    let late = UploadLife(2, to: .queued)
    try await late.append(to: ledger)
    await ledger.close()
    try rows(
      temporary.database, "CREATE TABLE kept AS SELECT * FROM content_index")
    let position = try rows(temporary.database, "SELECT max(position) FROM events")[0]
    let again = try await temporary.open()
    try await again.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: late.id,
      expecting: .any)
    try await again.append(
      Array(late.events[1...]), to: early.id, expecting: .any)
    await again.close()
    let live = try dump()
    try rows(
      temporary.database,
      "DELETE FROM content_index; INSERT INTO content_index SELECT * FROM kept; DROP TABLE kept;"
        + " UPDATE projections SET position = \(position), launch = NULL"
        + " WHERE name = 'content_index'")
    let healed = try await temporary.open()
    await healed.close()
    #expect(try dump() == live)
    #expect(try await temporary.findings() == [])
  }

  @Test func `a log that gives the same bytes to two uploads still opens`() async throws {
    let ledger = try await temporary.open()
    let first = UploadLife(1, to: .queued)
    try await first.append(to: ledger)
    try await ledger.append(
      [ProposedEvent(.cancelled(Cancelled(reason: .user)), cause: .command)], to: first.id,
      expecting: .any)
    let twin = UploadLife(2).id
    try await ledger.append(first.events, to: twin, expecting: .none)
    await ledger.close()
    try rows(
      temporary.database,
      withoutGuards + "UPDATE events SET code = 'nonsense' WHERE kind = 'upload.cancelled';"
        + "UPDATE projections SET version = 0")
    let damaged = try await temporary.open()
    try await UploadLife(3).append(to: damaged)
    #expect(try await damaged.reader.counts()[.needsAttention] == 1)
    await damaged.close()
    let findings = try await temporary.findings()
    #expect(findings == ["chain_mismatch", "event_unreadable", "projection_differs"])
  }

  @Test func `an empty ledger can be rebuilt`() async throws {
    try await temporary.seed([])
    try rows(temporary.database, "DELETE FROM projections")
    try await temporary.seed([])
    #expect(try await temporary.findings() == [])
  }

  // D18
  @Test func `an unknown kind of event changes nothing but where the stream is`() async throws {
    try await temporary.seed([UploadLife(1, to: .queued)])
    try rows(
      temporary.database,
      "INSERT INTO events (event_id, stream, revision, kind, version, recorded_at, cause, launch,"
        + " payload, chain) SELECT randomblob(16), 1, 4, 'upload.starred', 3, 0, 'server', 1,"
        + " '{\"x\":1}', zeroblob(32)")
    let ledger = try await temporary.open()
    let upload = try await ledger.upload(UploadLife(1).id)
    #expect(upload.revision == StreamRevision(4))
    #expect(upload.stateWord == .queued)
    let unknown = try await ledger.reader.events(EventQuery()).first { $0.kind == nil }
    #expect(unknown?.body == .unrecognized)
    #expect(unknown?.fields.payload == #"{"x":1}"#)
    await ledger.close()
  }
}

/// A seeded history over commands, claims and reconciliation, decided by the model itself.
struct RandomHistory {
  private var random: SplitMix
  private var count: UInt64 = 0

  init(seed: UInt64) { random = SplitMix(state: seed) }

  mutating func play(_ steps: Int, on ledger: Ledger) async throws {
    for _ in 0..<steps {
      let isNew = count == 0 || random.next(below: 6) == 0
      if isNew { count += 1 }
      let number = isNew ? count : 1 + UInt64(random.next(below: Int(count)))
      let life = UploadLife(number, partCount: 1 + Int(number % 4))
      let step = isNew ? Step.life : nextStep()
      let events = try await decide(step, life, ledger)
      do {
        try await ledger.append(events, to: life.id, expecting: .any)
      } catch {
        guard error.code == .duplicateContent else { throw error }
      }
    }
  }

  private enum Step {
    case life, command(UploadCommand), claim(UploadObservation), account(ServerStatus)
    case noTasks, held(Int, PartSet), failed(Int, FailureKind)
  }

  private mutating func nextStep() -> Step {
    let part = random.next(below: 4)
    let parts = PartSet((0..<4).filter { _ in random.next(below: 2) == 0 })
    let hash = UploadLife(1 + UInt64(random.next(below: Int(count)))).hash
    let object = StoredObject(
      remote: RemoteID("r\(random.next(below: 50))"), version: nil,
      hash: random.next(below: 4) == 0 ? nil : hash, status: 200)
    switch random.next(below: 18) {
    case 0: return .command(.cancel(.user))
    case 1: return .command(.retry)
    case 2: return .command(.pause)
    case 3: return .command(.resume)
    case 4: return .command(.releaseCopy)
    case 5: return .command(.deduplicate(.remote(RemoteID("d"))))
    case 6, 7: return .command(.send(PartNumber(part)))
    case 8: return .claim(.committed(object))
    case 9: return .claim(.alreadyStored(object))
    case 10: return .claim(.blocked(AttentionReason.allCases[part], status: 403))
    case 11: return .account(.gone)
    case 12: return .account(.open(received: parts))
    case 13: return .account(random.next(below: 2) == 0 ? .received : .committed(object))
    case 14: return .noTasks
    case 15: return .held(part, parts)
    case 16: return .failed(part, FailureKind.allCases[random.next(below: 12)])
    default: return .life
    }
  }

  private mutating func decide(
    _ step: Step, _ life: UploadLife, _ ledger: Ledger
  ) async throws -> [ProposedEvent] {
    let upload = try await ledger.upload(life.id)
    switch step {
    case .life:
      // The next event of an ordinary life, or the first few of them.
      let next = min(Int(upload.revision.value), life.events.count - 1)
      return Array(life.events[next...].prefix(1 + random.next(below: 4)))
    case .command(let command): return (try? upload.decide(command)) ?? []
    case .claim(let claim): return upload.decide(claim)
    case .account(let status): return Reconciliation.compare(upload, with: status)
    case .noTasks: return Reconciliation.compare(upload, with: Set<TransferDescription>())
    case .held(let part, let parts):
      guard let flight = upload.flights.first(where: { $0.part.index == part }) else { return [] }
      return upload.decide(.partHeld(flight, received: parts))
    case .failed(let part, let failure):
      guard let flight = upload.flights.first(where: { $0.part.index == part }) else { return [] }
      let later = Timestamp(seconds: 1_700_000_000 + Int64(random.next(below: 100)))
      return upload.decide(.partFailed(flight, failure, status: 500, notBefore: later))
    }
  }
}

/// A small seeded generator (S. Vigna's SplitMix64).
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
