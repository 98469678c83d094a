#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer
  import WaybillSystem
  import WaybillTesting

  /// N12, invariant 21: no request carries one account's work under another one's credential.
  struct AccountTests {
    private let fixture: EngineFixture
    private static let alice = "alice@waybill.example"

    init() throws { fixture = try EngineFixture() }

    @Test func `with a token of another account nothing is sent, and with its own all of it`()
      async throws
    {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await Ledger.open(
        directory: fixture.folder + "/ledger", options: LedgerOptions(account: Self.alice))
      let signedIn = Locked("bob@waybill.example")
      let provider = CredentialProvider.ofAccounts { refused in
        refused
          ? nil
          : Credential(Secret(EngineFixture.token), account: signedIn.withLock { $0 })
      }
      let engine = fixture.engine(ledger, credentials: provider)
      _ = try await engine.add(
        [try fixture.picture("a.jpg", 1000)], to: try Destination(server.baseURL))
      #expect(try await within { try await engine.run(.drain) } == .credentialsRejected)
      #expect(server.counts.requests(.open) == 0)
      #expect(
        try await ledger.reader.queue().rows.map(\.state) == [.waiting(Waiting(.credentials))])
      signedIn.withLock { $0 = Self.alice }
      try await engine.credentialsChanged()
      #expect(try await within { try await engine.run(.drain) } == .finished)
      #expect(server.photoCount == 1)
      await ledger.close()
    }

    @Test func `a ledger is bound once, refuses others, and does not hold the name`() async throws {
      let path = fixture.folder + "/ledger"
      let first = try await Ledger.open(directory: path)
      try await first.assign(to: Self.alice)
      try await first.assign(to: Self.alice)
      #expect(try await fixture.count(.ledgerAssigned, in: first) == 1)
      await first.close()
      let error = await #expect(throws: LedgerError.self) {
        _ = try await Ledger.open(directory: path, options: LedgerOptions(account: "bob"))
      }
      #expect(error?.code == .otherAccount)
      let second = try await Ledger.open(
        directory: path, options: LedgerOptions(account: Self.alice))
      #expect(try await second.reader.state().account == second.state().account)
      #expect(try await second.reader.verify().isSound)
      await second.close()
      let database = try Data(contentsOf: URL(filePath: path + "/ledger.sqlite"))
      #expect(Canary(Self.alice).forms(in: [UInt8](database)) == [])
    }

    @Test func `the first credential that says whose it is binds the ledger`() async throws {
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let provider = CredentialProvider.ofAccounts { refused in
        refused ? nil : Credential(Secret(EngineFixture.token), account: Self.alice)
      }
      let engine = fixture.engine(ledger, credentials: provider)
      _ = try await engine.add(
        [try fixture.picture("a.jpg", 1000)], to: try Destination(server.baseURL))
      #expect(try await within { try await engine.run(.drain) } == .finished)
      await #expect(throws: LedgerError.self) { try await ledger.assign(to: "bob") }
      await ledger.close()
    }
  }
#endif
