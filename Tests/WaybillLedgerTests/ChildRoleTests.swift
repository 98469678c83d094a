import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// What this test program does when it is started as a child of another test.
enum ChildRole: String, CaseIterable {
  /// Opens the ledger, says `ready`, and holds it until it is killed.
  case hold
  /// Appends without end and says each synced position it was given back.
  case append
  /// Appends one event of each durability, and says what came next to it.
  case durability
  /// Appends a few uploads while the system fails it, and says what came of each.
  case faults
  /// Appends two thousand notes, each by itself, and ends.
  case many
  /// Says `begin`, brings the ledger to a format with one more step, says `end`.
  case migrate
  /// Appends a thousand notes in turns with whoever else wants the ledger.
  case turns

  static let variable = "WAYBILL_CHILD_ROLE"
  static let ledgerVariable = "WAYBILL_CHILD_LEDGER"
  static let mark = "said: "

  static var current: ChildRole? {
    ProcessInfo.processInfo.environment[variable].flatMap { ChildRole(rawValue: $0) }
  }
}

/// Writes a line past every buffer, so that what was said before a kill was said.
private func say(_ line: String) {
  let bytes = Array("\(ChildRole.mark)\(line)\n".utf8)
  _ = write(1, bytes, bytes.count)
}

/// Played by child processes only.
@Suite(.enabled(if: ChildRole.current != nil))
struct ChildRoleTests {
  @Test func `a child plays its role`() async throws {
    let directory = ProcessInfo.processInfo.environment[ChildRole.ledgerVariable] ?? ""
    switch ChildRole.current {
    case .hold: try await hold(directory)
    case .append: try await append(directory)
    case .durability: try await durability(directory)
    case .faults: try await faults(directory)
    case .many: try await many(directory)
    case .migrate: try await migrate(directory)
    case .turns: try await turns(directory)
    case nil: break
    }
  }

  private func hold(_ directory: String) async throws {
    let ledger = try await Ledger.open(
      directory: directory, options: LedgerOptions(app: "holder 7"))
    say("ready")
    while true { pause() }
    await ledger.close()
  }

  /// Several tasks append, so that a kill also lands inside shared transactions.
  private func append(_ directory: String) async throws {
    let ledger = try await Ledger.open(directory: directory)
    say("ready \(ledger.launch.value)")
    await withTaskGroup { group in
      for lane in 0..<3 {
        group.addTask {
          for count in 0... {
            let number = UInt64(ledger.launch.value) << 32 | UInt64(lane) << 24 | UInt64(count)
            let life = UploadLife(number, partCount: 1)
            guard let events = try? await life.append(to: ledger), let last = events.last else {
              return
            }
            say("\(last.position.value) \(last.id)")
          }
        }
      }
    }
  }

  private func durability(_ directory: String) async throws {
    let ledger = try await Ledger.open(directory: directory)
    let life = UploadLife(1, partCount: 1)
    say("begin saved")
    try await ledger.append(Array(life.events[..<3]), to: life.id, expecting: .none)
    say("end saved")
    try await ledger.append([life.events[3]], to: life.id, expecting: .any)
    say("begin sent")
    try await ledger.append([life.events[4]], to: life.id, expecting: .any)
    say("end sent")
    try await ledger.append([life.events[5]], to: life.id, expecting: .any)
    say("end confirmed")
    _ = Glibc.kill(getpid(), SIGKILL)
  }

  private func faults(_ directory: String) async throws {
    let ledger = try await Ledger.open(directory: directory)
    say("ready")
    for number in 1...12 {
      let life = UploadLife(UInt64(number), to: .queued)
      do {
        let events = try await life.append(to: ledger)
        say("\(life.id) written \(events[0].position.value)")
      } catch {
        say("\(life.id) \(error.outcome.rawValue) \(error.code.word)")
      }
    }
    _ = Glibc.kill(getpid(), SIGKILL)
  }

  private static let note = ProposedEvent(
    .noted(Noted(claim: .lateSession, remote: RemoteID("late"))), cause: .server)

  private func many(_ directory: String) async throws {
    let ledger = try await Ledger.open(directory: directory)
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    for _ in 0..<2000 { try await ledger.append([Self.note], to: life.id, expecting: .any) }
    await ledger.close()
  }

  private func migrate(_ directory: String) async throws {
    say("begin")
    let ledger = try await MigrationTests.open(directory, MigrationTests.addsMuch)
    say("end")
    await ledger.close()
  }

  private func turns(_ directory: String) async throws {
    var left = 1000
    while left > 0 {
      let ledger: Ledger
      do {
        ledger = try await Ledger.open(directory: directory)
      } catch {
        guard error.code == .busy else { throw error }
        continue
      }
      for _ in 0..<min(left, 50) {
        try await ledger.append([Self.note], to: UploadLife(1).id, expecting: .any)
        left -= 1
      }
      await ledger.close()
    }
    say("done")
  }
}
