#if os(Linux)
  import Glibc
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillSystem

  @Suite(.timeLimit(.minutes(2)))
  struct DeviceWatchTests {
    private func question(_ script: String) -> [String] { ["/bin/sh", "-c", script] }

    @Test(
      arguments: [
        ("echo u 0", nil), ("echo u 1", true), ("echo u 2", false), ("echo u 3", true),
        ("echo u 4", false), ("echo u 12", nil), ("echo s hello", nil), ("echo u 1; exit 1", nil),
        ("exit 1", nil), ("head -c 100000 /dev/zero", nil), ("kill -9 $$", nil),
      ] as [(String, Bool?)])
    func `NetworkManager's answer is a yes, a no or nothing`(
      script: String, isMetered: Bool?
    ) async throws {
      let machine = try MadeUpMachine()
      try machine.folder("/run/NetworkManager")
      let provider = ConditionsProvider.watching(machine.files, asking: question(script))
      let conditions = try #require(await provider.current())
      #expect(conditions.isMetered == isMetered)
    }

    @Test func `without NetworkManager nobody is asked, and without busctl nothing is known`()
      async throws
    {
      let machine = try MadeUpMachine()
      let asked = machine.root + "/asked"
      let without = ConditionsProvider.watching(
        machine.files, asking: question("touch \(asked); echo u 1"))
      #expect(try #require(await without.current()).isMetered == nil)
      #expect(access(asked, F_OK) != 0)
      try machine.folder("/run/NetworkManager")
      let missing = ConditionsProvider.watching(machine.files, asking: ["/nonexistent/busctl"])
      #expect(try #require(await missing.current()).isMetered == nil)
    }

    @Test func `an answer that does not come is not waited for`() {
      let start = ContinuousClock.now
      #expect(ProgramAnswer.read(["/bin/sleep", "60"], milliseconds: 200) == nil)
      #expect(start.duration(to: .now) < .seconds(30))
      #expect(
        ProgramAnswer.read(["/bin/echo", "u", "1"], milliseconds: 30_000) == Array("u 1\n".utf8))
    }

    @Test func `this machine is looked at as it is`() async throws {
      let conditions = try #require(await ConditionsProvider.system.current())
      #expect(conditions.link != .unknown)
      #expect(conditions.isLowData == nil)
      let offset = ConditionsProvider.localOffset(at: Timestamp(seconds: 0))
      #expect((-24 * 60...24 * 60).contains(offset))
    }

    /// Runs `ip` and says whether it could.
    private static func ip(_ words: String...) -> Bool {
      ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].contains {
        ProgramAnswer.read([$0] + words, milliseconds: 10_000) != nil
      }
    }

    /// An address of the loopback that nobody uses: put on and taken off again.
    private static let canChangeAddresses = {
      ip("addr", "add", "127.83.3.1/8", "dev", "lo")
        && ip("addr", "del", "127.83.3.1/8", "dev", "lo")
    }()

    @Test(
      .enabled(
        if: DeviceWatchTests.canChangeAddresses, "needs the right to change an address of loopback")
    )
    func `the kernel rings when an address of this machine changes`() async throws {
      let changes = DeviceChanges()
      let rings = Locked(0)
      let listening = Task {
        for await _ in changes.signals { rings.withLock { $0 += 1 } }
      }
      defer { listening.cancel() }
      #expect(Self.ip("addr", "add", "127.83.3.2/8", "dev", "lo"))
      try await eventually { rings.withLock { $0 } >= 1 }
      let before = rings.withLock { $0 }
      #expect(Self.ip("addr", "del", "127.83.3.2/8", "dev", "lo"))
      try await eventually { rings.withLock { $0 } > before }
    }

    @Test(
      .enabled(
        if: DeviceWatchTests.canChangeAddresses, "needs the right to change an address of loopback")
    )
    func `an engine hears of another network when the kernel rings`() async throws {
      let machine = try MadeUpMachine()
      try machine.interface("wlan0", kind: "wlan")
      try machine.interface("wwan0", kind: "wwan")
      try machine.routes([("wlan0", 600)])
      let provider = ConditionsProvider.watching(machine.files)
      let fixture = try EngineFixture()
      let ledger = try await fixture.openLedger()
      var rules = SendingPolicy()
      rules.avoidsCellular = true
      let engine = fixture.engine(ledger, policy: rules, conditions: provider)
      let run = Task { try await engine.run(.follow) }
      try await eventually { try await fixture.count(.ledgerReconciled, in: ledger) == 1 }
      try machine.routes([("wwan0", 700)])
      #expect(Self.ip("addr", "add", "127.83.3.3/8", "dev", "lo"))
      defer { _ = Self.ip("addr", "del", "127.83.3.3/8", "dev", "lo") }
      // The regular look is half a minute away.
      let start = ContinuousClock.now
      try await eventually { try await ledger.state().waiting == Waiting(.wifi) }
      #expect(start.duration(to: .now) < .seconds(20))
      #expect(try await ledger.state().conditions.device.link == .cellular)
      await engine.stop()
      _ = try await within { try await run.value }
      await ledger.close()
    }
  }
#endif
