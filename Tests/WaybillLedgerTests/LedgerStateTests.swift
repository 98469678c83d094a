import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

/// The ledger's own stream is known by one row: what a launch costs does not grow with launches.
struct LedgerStateTests {
  let temporary = TemporaryLedger()

  /// The old events are gone, so whoever still knows what they said has not read them.
  @Test func `a launch and a page of the queue know the ledger's state without reading its past`()
    async throws
  {
    let ledger = try await temporary.open()
    try await ledger.append(.conditionsChanged(Conditions(network: .offline)), cause: .transport)
    try await UploadLife(1, to: .queued).append(to: ledger)
    try await ledger.append(.sealed(Sealed(copies: .discard)), cause: .command)
    await ledger.close()
    try await temporary.seed([])
    try rows(
      temporary.database,
      withoutGuards + "DELETE FROM events WHERE kind IN ('conditions.changed', 'ledger.sealed')")
    let again = try await temporary.open()
    #expect(again.launch == LaunchGeneration(3))
    #expect(try await again.state().seal == .discard)
    #expect(try await again.reader.state().conditions.network == .offline)
    #expect(try await again.reader.queue().rows.map(\.state) == [.waiting(Waiting(.sealed))])
    await again.close()
  }

  @Test(arguments: [
    Conditions(
      network: .online, credentials: .accepted,
      held: Waiting(.window, until: Timestamp(seconds: 1_796_076_000)),
      device: DeviceConditions(
        link: .cellular, isMetered: true, isLowData: false, power: .battery, isBatterySaver: true)),
    Conditions(held: Waiting(.lowData), device: DeviceConditions(link: .none, isLowData: true)),
    Conditions(network: .offline),
  ])
  func `a relaunch knows what was held up and why, as whoever folds the log does`(
    conditions: Conditions
  ) async throws {
    let ledger = try await temporary.open()
    try await ledger.append(.conditionsChanged(conditions), cause: .transport)
    try await UploadLife(1, to: .queued).append(to: ledger)
    await ledger.close()
    let again = try await temporary.open()
    #expect(try await again.state().conditions == conditions)
    let waiting = try #require(conditions.waiting)
    #expect(try await again.reader.queue().rows.map(\.state) == [.waiting(waiting)])
    #expect(try await again.reader.verify().isSound)
    await again.close()
  }

  private static let damage = [
    "DROP TABLE ledger_state", "DELETE FROM ledger_state",
    "DROP TABLE ledger_state; CREATE TABLE ledger_state (nonsense)",
    "UPDATE ledger_state SET network = 'pigeon'", "UPDATE ledger_state SET revision = 1",
    "UPDATE ledger_state SET held = 'pigeon'", "UPDATE ledger_state SET link = ''",
    "UPDATE projections SET version = 0 WHERE name = 'ledger_state'",
    "DELETE FROM projections WHERE name = 'ledger_state'; DROP TABLE ledger_state",
  ]

  @Test(arguments: damage)
  func `a damaged row is folded anew at the next launch, and readers fold until then`(
    damage: String
  ) async throws {
    let ledger = try await temporary.open()
    try await ledger.append(.conditionsChanged(Conditions(network: .online)), cause: .transport)
    try await ledger.append(.sealed(Sealed(copies: .keep)), cause: .command)
    await ledger.close()
    try rows(temporary.database, damage)
    let reader = try await temporary.reader()
    #expect(try await reader.state().isSealed)
    #expect(try await reader.state().launch == LaunchGeneration(1))
    await reader.close()
    let again = try await temporary.open()
    #expect(try await again.state().isSealed)
    #expect(try await again.state().conditions.network == .online)
    #expect(again.launch == LaunchGeneration(2))
    await again.close()
    #expect(try await temporary.findings() == [])
  }

  @Test func `a row that lies is named by verify and mended by a rebuild`() async throws {
    try await temporary.seed([])
    try rows(temporary.database, "UPDATE ledger_state SET sealed = 1")
    #expect(try await temporary.findings() == ["projection_differs"])
    let ledger = try await temporary.open()
    #expect(try await ledger.rebuild().contains("ledger_state"))
    await ledger.close()
    #expect(try await temporary.findings() == [])
    try await temporary.seed([])
    #expect(try await temporary.findings() == [])
  }

  @Test func `a failed append leaves the row as it was`() async throws {
    let ledger = try await temporary.open()
    try await UploadLife(1).append(to: ledger)
    let row = try rows(temporary.database, "SELECT * FROM ledger_state")
    #expect(await code { try await UploadLife(1).append(to: ledger) } == .conflict)
    #expect(try rows(temporary.database, "SELECT * FROM ledger_state") == row)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }
}
