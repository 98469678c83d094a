/// What a device says of its network and its power, as far as it can tell. It names no network.
public struct DeviceConditions: Hashable, Sendable {
  /// What kind of link the traffic takes.
  public enum Link: String, Sendable, CaseIterable {
    /// Nobody can tell.
    case unknown
    /// There is no way to the outside. Servers nearby may be in reach all the same.
    case none
    /// A cable.
    case wired
    /// A wireless local network.
    case wifi
    /// A mobile network.
    case cellular
    /// Something else, such as a tunnel whose carrier cannot be seen.
    case other
  }

  /// Where the power comes from.
  public enum Power: String, Sendable, CaseIterable {
    /// Nobody can tell.
    case unknown
    /// The mains, or a charger.
    case external
    /// A battery that is being used up.
    case battery
  }

  /// What kind of link the traffic takes.
  public var link: Link
  /// Whether what is sent is paid for by volume; nil where nobody can tell.
  public var isMetered: Bool?
  /// Whether a person asked the system to save data; nil where nobody can tell.
  public var isLowData: Bool?
  /// Where the power comes from.
  public var power: Power
  /// Whether a person asked the system to save power; nil where nobody can tell.
  public var isBatterySaver: Bool?

  /// Makes conditions from their values; nothing is known by default.
  public init(
    link: Link = .unknown, isMetered: Bool? = nil, isLowData: Bool? = nil, power: Power = .unknown,
    isBatterySaver: Bool? = nil
  ) {
    self.link = link
    self.isMetered = isMetered
    self.isLowData = isLowData
    self.power = power
    self.isBatterySaver = isBatterySaver
  }
}
