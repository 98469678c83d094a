import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// The log is append-only for every tool that opens it, not only for us.
struct GuardTests {
  let temporary = TemporaryLedger()

  static let columns = """
    (position, event_id, stream, revision, kind, version, recorded_at, cause, launch, observation,
     chain)
    """
  private static func insert(
    _ verb: String, position: String = "900", id: String = "randomblob(16)", stream: Int = 1,
    revision: Int = 900, observation: String = "NULL", end: String = ""
  ) -> String {
    "\(verb) INTO events \(columns) VALUES (\(position), \(id), \(stream), \(revision), 'x', 1, 0,"
      + " 'server', 1, \(observation), zeroblob(32)) \(end)"
  }

  private static let attempts = [
    "UPDATE events SET kind = 'x' WHERE position = 2", "UPDATE events SET position = 77",
    "DELETE FROM events", "DELETE FROM events WHERE position = 3",
    insert("INSERT OR REPLACE", position: "2"), insert("REPLACE", position: "2"),
    insert("INSERT OR REPLACE", id: "(SELECT event_id FROM events WHERE position = 2)"),
    insert("INSERT OR REPLACE", revision: 1),
    insert("INSERT OR REPLACE", observation: "'held/0.1.1'"),
    insert(
      "INSERT", position: "2", end: "ON CONFLICT (position) DO UPDATE SET kind = excluded.kind"),
    insert(
      "INSERT", id: "(SELECT event_id FROM events WHERE position = 2)",
      end: "ON CONFLICT (event_id) DO UPDATE SET kind = 'y'"),
    "UPDATE streams SET upload = 'ffffffff-ffff-7fff-bfff-ffffffffffff'", "DELETE FROM streams",
    "REPLACE INTO streams (stream, upload) VALUES (1, 'ffffffff-ffff-7fff-bfff-ffffffffffff')",
    "REPLACE INTO streams (stream, upload) SELECT 50, upload FROM streams WHERE stream = 1",
  ]

  // G15, M4, M5
  @Test func `no tool can change, delete or replace what was recorded`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1)
    for event in life.events {
      var key: ObservationKey?
      if case .partConfirmed(let confirmed) = event.event {
        key = ObservationKey("held/\(confirmed.part.index).1.1")
      }
      let keyed = ProposedEvent(event.event, cause: .command, observation: key)
      try await ledger.append([keyed], to: life.id, expecting: .any)
    }
    await ledger.close()
    let log = try rows(temporary.database, "SELECT * FROM event_log")
    for attempt in Self.attempts {
      for pragma in ["OFF", "ON"] {
        let result = try sqlite3(
          temporary.database, "PRAGMA recursive_triggers = \(pragma); \(attempt)")
        #expect(result.status != 0, "\(attempt)")
        #expect(result.output.contains("append-only"), "\(attempt): \(result.output)")
      }
    }
    #expect(try rows(temporary.database, "SELECT * FROM event_log") == log)
    #expect(try await temporary.findings() == [])
  }

  @Test func `the log reads well in any tool`() async throws {
    let ledger = try await temporary.open(time: Timestamp(seconds: 1_700_000_000))
    let life = UploadLife(1, to: .queued, name: FileName("été\n.heic"))
    try await life.append(to: ledger)
    await ledger.close()
    let lines = try rows(
      temporary.database,
      "SELECT position, upload, revision, kind, time, cause, launch, hash FROM event_log"
        + " WHERE upload IS NOT NULL")
    #expect(
      lines == [
        "2|\(life.id)|1|upload.exported|2023-11-14T22:13:20.000Z|command|1|",
        "3|\(life.id)|2|upload.hashed|2023-11-14T22:13:20.000Z|command|1|\(life.hash)",
        "4|\(life.id)|3|upload.queued|2023-11-14T22:13:20.000Z|command|1|",
      ])
    #expect(
      try rows(temporary.database, "SELECT hex(name) FROM event_log WHERE name IS NOT NULL")
        == ["C3A974C3A90A2E68656963"])
  }
}
