#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillModel

  /// A made-up machine: a folder with a `/proc`, a `/sys` and a `/run` of its own.
  final class MadeUpMachine: Sendable {
    let root = NSTemporaryDirectory() + "waybill-machine-" + UUID().uuidString

    init() throws {
      try write("/proc/net/route", Self.header)
      try write("/proc/net/ipv6_route", "")
      try folder("/sys/class/power_supply")
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private static let header =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    var files: DeviceFiles { DeviceFiles(root: root) }

    func folder(_ path: String) throws {
      try FileManager.default.createDirectory(
        atPath: root + path, withIntermediateDirectories: true)
    }

    func write(_ path: String, _ text: String) throws {
      try folder(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
      try Data(text.utf8).write(to: URL(fileURLWithPath: root + path))
    }

    /// Default routes of IPv4, each with its metric, and one route that is none.
    func routes(_ list: [(interface: String, metric: Int)]) throws {
      let lines = list.map {
        "\($0.interface)\t00000000\t010200C0\t0003\t0\t0\t\($0.metric)\t00000000\t0\t0\t0\n"
      }
      try write(
        "/proc/net/route",
        Self.header + "lan0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
          + lines.joined())
    }

    func interface(_ name: String, type: Int = 1, kind: String? = nil, below: [String] = []) throws
    {
      let folder = "/sys/class/net/\(name)"
      try write(folder + "/type", "\(type)\n")
      try write(
        folder + "/uevent",
        (kind.map { "DEVTYPE=\($0)\n" } ?? "") + "INTERFACE=\(name)\nIFINDEX=4\n")
      for lower in below { try self.folder(folder + "/lower_" + lower) }
    }

    func cable(_ name: String) throws {
      try interface(name)
      try folder("/sys/class/net/\(name)/device")
    }

    func supply(_ name: String, _ values: [String: String]) throws {
      for (file, value) in values {
        try write("/sys/class/power_supply/\(name)/\(file)", value + "\n")
      }
    }
  }

  @Suite struct DeviceFilesTests {
    @Test func `the default route with the lowest metric says what the link is`() throws {
      let machine = try MadeUpMachine()
      try machine.cable("eth0")
      try machine.interface("wlan0", kind: "wlan")
      try machine.interface("wwan0", type: 519, kind: "wwan")
      try machine.routes([("wlan0", 600), ("eth0", 100), ("wwan0", 700)])
      #expect(machine.files.conditions.link == .wired)
      try machine.routes([("wlan0", 600), ("wwan0", 700)])
      #expect(machine.files.conditions.link == .wifi)
      try machine.routes([("wwan0", 700)])
      #expect(machine.files.conditions.link == .cellular)
      try machine.routes([])
      #expect(machine.files.conditions.link == .none)
    }

    @Test func `old drivers are Wi-Fi by the folders they have`() throws {
      for folder in ["wireless", "phy80211"] {
        let machine = try MadeUpMachine()
        try machine.cable("wlp3s0")
        try machine.folder("/sys/class/net/wlp3s0/\(folder)")
        try machine.routes([("wlp3s0", 600)])
        #expect(machine.files.conditions.link == .wifi)
      }
    }

    @Test func `a tunnel is what carries it, and a bridge what lies beneath`() throws {
      let machine = try MadeUpMachine()
      try machine.interface("tun0", type: 65_534)
      try machine.interface("wwan0", kind: "wwan")
      try machine.routes([("tun0", 50), ("wwan0", 700)])
      #expect(machine.files.conditions.link == .cellular)
      try machine.routes([("tun0", 50)])
      #expect(machine.files.conditions.link == .other)
      try machine.cable("eth0")
      try machine.interface("bond0", kind: "bond", below: ["eth0"])
      try machine.interface("br0", kind: "bridge", below: ["bond0", "tap0"])
      try machine.routes([("br0", 0)])
      #expect(machine.files.conditions.link == .other)
      try machine.interface("br0", kind: "bridge", below: ["wwan0"])
      #expect(machine.files.conditions.link == .cellular)
      try machine.interface("br1", below: ["br2"])
      try machine.interface("br2", below: ["br1"])
      try machine.routes([("br1", 0)])
      #expect(machine.files.conditions.link == .other)
    }

    @Test func `of IPv4 and IPv6 the link that costs more counts`() throws {
      let machine = try MadeUpMachine()
      try machine.cable("eth0")
      try machine.interface("wwan0", kind: "wwan")
      try machine.routes([("eth0", 100)])
      let zeros = String(repeating: "0", count: 32)
      let next = "fd000000000000000000000000000001"
      let refused =
        "\(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo\n"
      try machine.write("/proc/net/ipv6_route", refused)
      #expect(machine.files.conditions.link == .wired)
      try machine.write(
        "/proc/net/ipv6_route",
        "\(zeros) 00 \(zeros) 00 \(next) 00000400 00000003 00000000 00000003    wwan0\n" + refused)
      #expect(machine.files.conditions.link == .cellular)
      try machine.routes([])
      try machine.write("/proc/net/ipv6_route", refused)
      #expect(machine.files.conditions.link == .none)
    }

    @Test func `what no file tells is not known, and odd files are none`() throws {
      #expect(DeviceFiles(root: "/nonexistent").conditions == DeviceConditions())
      let machine = try MadeUpMachine()
      try machine.write("/proc/net/route", "\u{0}\u{1}\n\t\t\neth0\t00000000\n00000000\n")
      try machine.write("/proc/net/ipv6_route", String(repeating: "0 ", count: 200_000))
      #expect(machine.files.conditions.link == .none)
      try machine.routes([("gone0", 1)])
      #expect(machine.files.conditions.link == .other)
    }

    @Test func `a battery that is being used up is the power unless something is plugged in`()
      throws
    {
      let machine = try MadeUpMachine()
      #expect(machine.files.conditions.power == .external)
      try machine.supply("BAT0", ["type": "Battery", "status": "Discharging", "capacity": "71"])
      #expect(machine.files.conditions.power == .battery)
      try machine.supply("AC", ["type": "Mains", "online": "0"])
      #expect(machine.files.conditions.power == .battery)
      try machine.supply("AC", ["type": "Mains", "online": "1"])
      #expect(machine.files.conditions.power == .external)
      try machine.supply("AC", ["type": "Mains", "online": "0"])
      try machine.supply("BAT0", ["type": "Battery", "status": "Full"])
      #expect(machine.files.conditions.power == .external)
      try machine.supply("ucsi0", ["type": "USB", "online": "1"])
      try machine.supply("BAT0", ["type": "Battery", "status": "Discharging"])
      #expect(machine.files.conditions.power == .external)
    }

    @Test func `the battery of a mouse says nothing of the machine`() throws {
      let machine = try MadeUpMachine()
      try machine.supply(
        "hidpp0", ["type": "Battery", "status": "Discharging", "scope": "Device"])
      #expect(machine.files.conditions.power == .external)
    }

    @Test func `the power saver is the profile of that name`() throws {
      let machine = try MadeUpMachine()
      #expect(machine.files.conditions.isBatterySaver == nil)
      try machine.write("/sys/firmware/acpi/platform_profile", "balanced\n")
      #expect(machine.files.conditions.isBatterySaver == false)
      try machine.write("/sys/firmware/acpi/platform_profile", "low-power\n")
      #expect(machine.files.conditions.isBatterySaver == true)
    }
  }
#endif
