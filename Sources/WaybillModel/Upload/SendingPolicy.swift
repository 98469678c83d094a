/// A person's rules about when anything may be sent.
///
/// A rule is only what somebody has set: without any, nothing is held up. What a device cannot tell
/// holds nothing up either, but for a mobile network, which costs unless the system says that it
/// does not. No upload goes against a rule, however urgent it is: it is the person's money and
/// battery, and an urgent upload is only first in line.
public struct SendingPolicy: Hashable, Sendable {
  /// Nothing goes over a link that is paid for by volume.
  public var avoidsMetered = false
  /// Nothing goes over a mobile network, whatever it costs.
  public var avoidsCellular = false
  /// Nothing goes while the system saves data.
  public var respectsLowData = false
  /// Nothing goes on battery.
  public var needsCharger = false
  /// Nothing goes while the system saves power.
  public var respectsBatterySaver = false
  /// The times of day in which something goes; none means at any time.
  public var windows: [DailyWindow] = []

  /// Makes rules that hold nothing up.
  public init() {}

  /// Whether the device has to be asked before anything is sent.
  public var looksAtDevice: Bool {
    avoidsMetered || avoidsCellular || respectsLowData || needsCharger || respectsBatterySaver
  }

  /// What everything waits for; nil when everything may be sent.
  ///
  /// Where several rules forbid it, the answer is what a person can change first: the network, the
  /// system's data saver, the charger, the power saver, and last the time of day, which comes by
  /// itself.
  ///
  /// - Parameters:
  ///   - device: what the device says.
  ///   - now: the time on the wall.
  ///   - utcOffsetMinutes: how far the wall's clock is ahead of UTC, in minutes.
  public func hold(
    under device: DeviceConditions, at now: Timestamp, utcOffsetMinutes: Int
  ) -> Waiting? {
    let isCellular = device.link == .cellular
    if avoidsCellular, isCellular { return Waiting(.wifi) }
    if avoidsMetered, device.isMetered ?? isCellular { return Waiting(.wifi) }
    if respectsLowData, device.isLowData == true { return Waiting(.lowData) }
    if needsCharger, device.power == .battery { return Waiting(.charger) }
    if respectsBatterySaver, device.isBatterySaver == true { return Waiting(.batterySaver) }
    let sinceMidnight = now.sinceMidnight(utcOffsetMinutes: utcOffsetMinutes)
    let minute = Int(sinceMidnight / 60_000_000)
    guard !windows.isEmpty, !windows.contains(where: { $0.contains(minute: minute) }) else {
      return nil
    }
    let start = windows.map { now.next(minute: $0.start, utcOffsetMinutes: utcOffsetMinutes) }.min()
    return Waiting(.window, until: start)
  }

  /// The next moment at which a window begins or ends; nil without windows.
  public func nextChange(after now: Timestamp, utcOffsetMinutes: Int) -> Timestamp? {
    windows.flatMap { [$0.start, $0.end] }
      .map { now.next(minute: $0, utcOffsetMinutes: utcOffsetMinutes) }.min()
  }
}

/// What a policy holds up, steadied: a network that comes and goes starts nothing anew each time,
/// and writes no event each time.
///
/// A hold is taken at once, because what is sent against a rule cannot be taken back. It is lifted
/// at once too, or becomes another one, but at most `maximumChanges` times within
/// `periodMilliseconds`: then it stays until the oldest of those changes is that long ago. So no
/// change is lost, and the last one always counts.
public struct PolicyHold: Equatable, Sendable {
  /// How often a hold may end or change within a period.
  public static let maximumChanges = 6
  /// The length of that period in milliseconds.
  public static let periodMilliseconds: Int64 = 60_000

  /// What everything waits for now; nil when everything may be sent.
  public private(set) var current: Waiting?
  /// Since when something has been held up, without a break.
  public private(set) var since: Timestamp?
  /// When the newest changes were, oldest first.
  private var changes: [Timestamp] = []

  /// Nothing is held up.
  public init() {}

  /// A hold that an earlier run left behind.
  public init(_ known: Waiting?, since now: Timestamp) {
    current = known
    since = known == nil ? nil : now
  }

  /// Takes what the policy says now.
  ///
  /// - Parameters:
  ///   - wanted: what the policy holds everything up for.
  ///   - now: the current time, on a clock that only grows.
  /// - Returns: when to ask again, where the answer has to wait.
  public mutating func take(_ wanted: Waiting?, at now: Timestamp) -> Timestamp? {
    guard wanted != current else { return nil }
    if current != nil {
      changes.removeAll { now.milliseconds(since: $0) >= PolicyHold.periodMilliseconds }
      if changes.count >= PolicyHold.maximumChanges {
        return changes[0].adding(milliseconds: PolicyHold.periodMilliseconds)
      }
      changes.append(now)
    }
    since = wanted == nil ? nil : since ?? now
    current = wanted
    return nil
  }
}
