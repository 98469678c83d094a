#if os(Linux)
  internal import Glibc
  package import WaybillModel
  internal import WaybillSystem

  /// What the kernel says of network and power in its files under `/proc` and `/sys`.
  ///
  /// What a file that is missing or odd would have said is not known. Nothing that names a network
  /// is read.
  package struct DeviceFiles: Sendable {
    /// The folder in front of `/proc`, `/sys` and `/run`; empty on a real machine.
    let root: String

    /// Looks under a folder, which is the machine itself by default.
    package init(root: String = "") { self.root = root }

    /// The conditions, as far as files tell of them.
    package var conditions: DeviceConditions {
      DeviceConditions(link: link, power: power, isBatterySaver: isBatterySaver)
    }

    // MARK: The network

    /// How deep a bridge on a bond on a cable may go.
    private static let maximumDepth = 4

    /// The link that costs most of those that the default routes of IPv4 and IPv6 take: traffic may
    /// take either.
    private var link: DeviceConditions.Link {
      let (routes, routes6) = (text("/proc/net/route"), text("/proc/net/ipv6_route"))
      if routes == nil, routes6 == nil { return .unknown }
      let best = [
        DefaultRoute.list(routes ?? "", DefaultRoute.init(ipv4:)),
        DefaultRoute.list(routes6 ?? "", DefaultRoute.init(ipv6:)),
      ].compactMap { carrier($0) }
      return best.max { $0.cost < $1.cost } ?? .none
    }

    /// The link of the best route; a tunnel is carried by the best one below it that is none.
    private func carrier(_ routes: [DefaultRoute]) -> DeviceConditions.Link? {
      let links = routes.map { link(of: $0.interface, depth: 0) }
      return links.first { $0 != .other } ?? links.first
    }

    private func link(of interface: String, depth: Int) -> DeviceConditions.Link {
      let folder = "/sys/class/net/\(interface)"
      let kind = (text(folder + "/uevent") ?? "").split(separator: "\n")
        .first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
      if kind == "wwan" { return .cellular }
      if kind == "wlan" || exists(folder + "/wireless") || exists(folder + "/phy80211") {
        return .wifi
      }
      // A bridge, a bond or a part of one of them is what lies beneath.
      let below = names(in: folder).filter { $0.hasPrefix("lower_") }.prefix(16)
        .map { String($0.dropFirst("lower_".count)) }
      if depth < DeviceFiles.maximumDepth, !below.isEmpty {
        return below.map { link(of: $0, depth: depth + 1) }.max { $0.cost < $1.cost } ?? .other
      }
      // ARPHRD_ETHER with hardware behind it.
      let isEthernet = text(folder + "/type")?.trimmed == "1"
      return isEthernet && exists(folder + "/device") ? .wired : .other
    }

    // MARK: The power

    /// A machine without any supply that tells of itself is plugged in; batteries of a mouse or a
    /// headset (scope `Device`) do not count.
    private var power: DeviceConditions.Power {
      let folder = "/sys/class/power_supply"
      guard exists(folder) else { return .unknown }
      var isDischarging = false
      for name in names(in: folder) {
        let supply = "\(folder)/\(name)"
        if text(supply + "/scope")?.trimmed == "Device" { continue }
        switch text(supply + "/type")?.trimmed {
        case "Battery", "UPS":
          isDischarging = isDischarging || text(supply + "/status")?.trimmed == "Discharging"
        case nil: continue
        default: if text(supply + "/online")?.trimmed == "1" { return .external }
        }
      }
      return isDischarging ? .battery : .external
    }

    /// nil on machines without a profile to choose.
    private var isBatterySaver: Bool? {
      text("/sys/firmware/acpi/platform_profile").map { $0.trimmed == "low-power" }
    }

    // MARK: Files

    /// How much of one file is read: a machine with more routes has its default one in front.
    private static let maximumBytes = 262_144

    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    private func names(in path: String) -> [String] {
      var names: [String] = []
      try? Folder.forEachName(in: root + path) { names.append(String(decoding: $0, as: UTF8.self)) }
      return names.sorted()
    }

    private func text(_ path: String) -> String? {
      let descriptor = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 16_384)
      while bytes.count < DeviceFiles.maximumBytes {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        bytes += buffer.prefix(count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// A route for everything that has no other, as a line of `/proc/net` has it.
  private struct DefaultRoute {
    let interface: String
    let metric: UInt32

    /// The routes of a file, the best one first.
    static func list(_ text: String, _ read: ([Substring]) -> DefaultRoute?) -> [DefaultRoute] {
      text.split(separator: "\n")
        .compactMap { read($0.split { $0 == " " || $0 == "\t" }) }
        .sorted { $0.metric < $1.metric }
    }

    /// `Iface Destination Gateway Flags RefCnt Use Metric Mask …`, the metric in decimals.
    init?(ipv4 words: [Substring]) {
      guard words.count >= 8, words[1] == "00000000", words[7] == "00000000",
        DefaultRoute.isUp(words[3]), let metric = UInt32(words[6])
      else { return nil }
      (interface, self.metric) = (String(words[0]), metric)
    }

    /// `destination length source length next metric count use flags interface`, in hexadecimals.
    init?(ipv6 words: [Substring]) {
      guard words.count >= 10, words[0].allSatisfy({ $0 == "0" }), words[1] == "00",
        DefaultRoute.isUp(words[8]), let metric = UInt32(words[5], radix: 16)
      else { return nil }
      (interface, self.metric) = (String(words[9]), metric)
    }

    /// RTF_UP without RTF_REJECT, which is how the kernel says that there is no way.
    private static func isUp(_ flags: Substring) -> Bool {
      UInt32(flags, radix: 16).map { $0 & 0x1 != 0 && $0 & 0x200 == 0 } ?? false
    }
  }

  extension DeviceConditions.Link {
    /// What a link costs, as far as its kind tells.
    fileprivate var cost: Int {
      switch self {
      case .unknown, .none: 0
      case .wired: 1
      case .wifi: 2
      case .other: 3
      case .cellular: 4
      }
    }
  }

  extension String {
    fileprivate var trimmed: Substring {
      self[...].drop { $0.isWhitespace }.prefix { !$0.isNewline }
    }
  }
#endif
