import Foundation
import Testing
import WaybillModel

/// What a push does under the rules of its command line.
@Suite struct PushRulesTests {
  /// A window that began two hours from now, by a clock that shows UTC, as the rig's does.
  private static func window(inHours hours: Int) -> String {
    let minute = Int(Date().timeIntervalSince1970 / 60) % 1440
    func text(_ minute: Int) -> String {
      let day = ((minute % 1440) + 1440) % 1440
      return String(format: "%02d:%02d", day / 60, day % 60)
    }
    return text(minute + hours * 60) + "-" + text(minute + hours * 60 + 60)
  }

  @Test func `outside its time of day a push sends nothing, ends at once and says why`()
    async throws
  {
    let rig = try Rig()
    let file = try rig.file("a.jpg")
    let window = Self.window(inHours: 2)
    let push = try await rig.run(
      "push", file, "--to", rig.url, "--window", window, "--patience", "1h", "--urgent")
    #expect(push.status == 1)
    #expect(
      push.output == "1 file queued\n1 upload not committed yet, 0 B of 1.0 kB on the server\n")
    #expect(
      push.errors.hasSuffix(
        """
        waybill: nothing may be sent now: the push was to send at another time of day
          What is queued stays. Run the same push again when that has changed, or give it more \
        time with --patience.

        """))
    let status = try await rig.run("status")
    #expect(
      status.output.contains(
        "everything waits: the push was to send at another time of day, not before 20"))
    let document = try await rig.document("status")
    #expect(document["waiting"]?["reason"]?.text == "window")
    #expect(document["waiting"]?["until"]?.text?.hasSuffix(":00.000000Z") == true)
    let row = try #require(try await rig.queue().first)
    #expect(row["state"]?.text == "waiting")
    #expect(row["reason"]?.text == "window")
    #expect(try await rig.run("log").output.contains("held up for its time of day"))
    #expect(!(try await rig.run("log").output.contains("session.opened")))
    // Without the rule, and within the time of day, it goes on.
    let again = try await rig.run(
      "push", "--window", Self.window(inHours: -1), "--window", Self.window(inHours: 0))
    #expect(again.status == 0, "\(again.errors)")
    #expect(try await rig.document("status")["waiting"] == .null)
  }

  @Test(arguments: ["22:00", "22:00-22:00", "25:00-06:00", "", "night"])
  func `a window that is none is a usage error`(text: String) async throws {
    let rig = try Rig()
    let push = try await rig.run(
      "push", try rig.file("a.jpg"), "--to", rig.url, "--window", text)
    #expect(push.status == 2)
    #expect(push.errors.contains("--window"))
    #expect(push.errors.contains("22:00-06:00"))
    #expect(!FileManager.default.fileExists(atPath: rig.path("ledger")))
  }

  @Test func `doctor says what the rules go by`() async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    let remarks = try #require(try await rig.document("doctor")["remarks"]?.array)
    let device = try #require(remarks.first { $0["subject"]?.text == "device" })
    #expect(device["level"]?.text == "fine")
    #expect(device["message"]?.text?.hasPrefix("this device: ") == true)
  }

  #if os(Linux)
    /// What runs a command in a network of its own, with a `/sys` that shows it, after a setup.
    private static func inOwnNetwork(after setup: String) -> [String] {
      [
        "/usr/bin/unshare", "-rnm", "sh", "-c",
        "mount -t sysfs none /sys && \(setup) exec \"$@\"", "sh",
      ]
    }

    /// Whether this machine lets us make one, with a link in it.
    private static let hasNamespaces = {
      let setup = "ip link add a0 type veth peer name b0 && test -e /sys/class/net/a0 &&"
      return (try? Binary.start(["--version"], through: inOwnNetwork(after: setup)).end().status)
        == 0
    }()

    @Test(
      .enabled(
        if: PushRulesTests.hasNamespaces, "needs unshare, ip, veth links and the right to use them")
    )
    func `in a network of its own doctor sees the routes there are`() async throws {
      let rig = try Rig()
      _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
      func message(_ setup: String) async throws -> String {
        let ended = try rig.start("doctor", "--json", through: Self.inOwnNetwork(after: setup))
          .end()
        let document = try JSONValue.read([UInt8](ended.output.utf8.dropLast()))
        let device = document["remarks"]?.array?.first { $0["subject"]?.text == "device" }
        return try #require(device?["message"]?.text)
      }
      #expect(try await message("").hasPrefix("this device: no network"))
      let link = """
        ip link add a0 type veth peer name b0 && ip link set a0 up && ip link set b0 up &&
        ip addr add 10.83.3.1/24 dev a0 && ip route add default via 10.83.3.2 &&
        """
      #expect(try await message(link).hasPrefix("this device: network of another kind"))
    }
  #endif
}
