import Testing
import WaybillModel

struct SendingPolicyTests {
  /// Monday, 2026-11-30, 12:00 UTC.
  private static let noon = Timestamp(seconds: 1_796_040_000)

  private static let rules: [(word: String, policy: SendingPolicy)] = (0..<64).map { bits in
    var policy = SendingPolicy()
    policy.avoidsMetered = bits & 1 != 0
    policy.avoidsCellular = bits & 2 != 0
    policy.respectsLowData = bits & 4 != 0
    policy.needsCharger = bits & 8 != 0
    policy.respectsBatterySaver = bits & 16 != 0
    if bits & 32 != 0, let night = DailyWindow(start: 22 * 60, end: 6 * 60) {
      policy.windows = [night]
    }
    return ("rules \(bits)", policy)
  }

  private static let devices: [DeviceConditions] = {
    let maybe: [Bool?] = [nil, false, true]
    var all: [DeviceConditions] = []
    for link in DeviceConditions.Link.allCases {
      for power in DeviceConditions.Power.allCases {
        for (isMetered, isLowData, isSaver) in maybe.flatMap({ metered in
          maybe.flatMap { lowData in maybe.map { (metered, lowData, $0) } }
        }) {
          all.append(
            DeviceConditions(
              link: link, isMetered: isMetered, isLowData: isLowData, power: power,
              isBatterySaver: isSaver))
        }
      }
    }
    return all
  }()

  /// What forbids sending, by the words of the rules alone, in the order in which it is shown.
  private static func forbidding(
    _ policy: SendingPolicy, _ device: DeviceConditions, isNight: Bool
  ) -> [Waiting.Reason] {
    var reasons: [Waiting.Reason] = []
    let costs = device.isMetered == true || (device.isMetered == nil && device.link == .cellular)
    if (policy.avoidsMetered && costs) || (policy.avoidsCellular && device.link == .cellular) {
      reasons.append(.wifi)
    }
    if policy.respectsLowData, device.isLowData == true { reasons.append(.lowData) }
    if policy.needsCharger, device.power == .battery { reasons.append(.charger) }
    if policy.respectsBatterySaver, device.isBatterySaver == true { reasons.append(.batterySaver) }
    if !policy.windows.isEmpty, !isNight { reasons.append(.window) }
    return reasons
  }

  @Test func `every rule under all conditions gives the first reason that applies`() {
    var looked = 0
    let night = Self.noon.adding(milliseconds: 11 * 3_600_000)
    for (word, policy) in Self.rules {
      for device in Self.devices {
        for (now, isNight) in [(Self.noon, false), (night, true)] {
          let hold = policy.hold(under: device, at: now, utcOffsetMinutes: 0)
          let expected = Self.forbidding(policy, device, isNight: isNight).first
          #expect(hold?.reason == expected, "\(word), \(device), night \(isNight)")
          #expect((hold?.until != nil) == (expected == .window))
          if let hold { #expect(hold.reason.isRule) }
          looked += 1
        }
      }
    }
    #expect(looked == 64 * 6 * 3 * 27 * 2)
  }

  @Test func `without rules nothing is held up`() {
    for device in Self.devices {
      #expect(SendingPolicy().hold(under: device, at: Self.noon, utcOffsetMinutes: 0) == nil)
    }
    #expect(!SendingPolicy().looksAtDevice)
    #expect(SendingPolicy().nextChange(after: Self.noon, utcOffsetMinutes: 0) == nil)
  }

  @Test func `what a device cannot tell holds nothing up`() {
    var strict = SendingPolicy()
    strict.avoidsMetered = true
    strict.avoidsCellular = true
    strict.respectsLowData = true
    strict.needsCharger = true
    strict.respectsBatterySaver = true
    #expect(
      strict.hold(under: DeviceConditions(), at: Self.noon, utcOffsetMinutes: 0) == nil)
    #expect(strict.looksAtDevice)
  }

  @Test func `a mobile network costs unless the system says it does not`() {
    var policy = SendingPolicy()
    policy.avoidsMetered = true
    func hold(_ isMetered: Bool?) -> Waiting? {
      policy.hold(
        under: DeviceConditions(link: .cellular, isMetered: isMetered), at: Self.noon,
        utcOffsetMinutes: 0)
    }
    #expect(hold(nil) == Waiting(.wifi))
    #expect(hold(true) == Waiting(.wifi))
    #expect(hold(false) == nil)
  }

  @Test(arguments: [
    ("22:00-06:00", 0, true), ("22:00-06:00", 5 * 60 + 59, true), ("22:00-06:00", 6 * 60, false),
    ("22:00-06:00", 21 * 60 + 59, false), ("22:00-06:00", 22 * 60, true),
    ("09:30-17:00", 9 * 60 + 29, false), ("09:30-17:00", 9 * 60 + 30, true),
    ("09:30-17:00", 17 * 60, false), ("18:00-24:00", 1439, true), ("18:00-24:00", 0, false),
    ("00:00-00:01", 0, true), ("00:00-00:01", 1, false),
  ])
  func `a window begins at its start and ends before its end`(
    text: String, minute: Int, isIn: Bool
  ) throws {
    #expect(try #require(DailyWindow(text)).contains(minute: minute) == isIn)
  }

  @Test(arguments: [
    "", "-", "22:00", "22:00-", "-06:00", "22:00-22:00", "00:00-24:00", "24:00-06:00",
    "25:00-26:00",
    "22:60-23:00", "9:00-17:00", "22.00-06.00", "22:00-06:00-07:00", "22:00 - 06:00",
    "::::::-06:00",
    "+1:00-06:00", "22:00-06:0\u{660}",
  ])
  func `what is no window is refused`(text: String) {
    #expect(DailyWindow(text) == nil)
  }

  @Test func `an empty window and minutes of no day are refused`() {
    #expect(DailyWindow(start: 600, end: 600) == nil)
    #expect(DailyWindow(start: -1, end: 600) == nil)
    #expect(DailyWindow(start: 0, end: 1440) == nil)
  }

  @Test func `a hold for the time of day says when it ends, on the clock of the place`() throws {
    var policy = SendingPolicy()
    policy.windows = [try #require(DailyWindow("22:00-06:00"))]
    func until(_ offset: Int) -> Timestamp? {
      policy.hold(under: DeviceConditions(), at: Self.noon, utcOffsetMinutes: offset)?.until
    }
    let hour: Int64 = 3_600_000
    #expect(until(0) == Self.noon.adding(milliseconds: 10 * hour))
    #expect(until(60) == Self.noon.adding(milliseconds: 9 * hour))
    #expect(until(-330) == Self.noon.adding(milliseconds: 15 * hour + hour / 2))
    // 12:00 UTC is 23:00 or 01:00 there: inside.
    #expect(until(11 * 60) == nil)
    #expect(until(13 * 60) == nil)
    policy.windows.append(try #require(DailyWindow("13:00-14:00")))
    #expect(until(0) == Self.noon.adding(milliseconds: hour))
  }

  @Test func `a window begins and ends at the minute, also before 1970`() throws {
    var policy = SendingPolicy()
    policy.windows = [try #require(DailyWindow("22:00-06:00"))]
    let ten = Timestamp(seconds: -86_400 * 3 + 22 * 3600)
    let before = Timestamp(microseconds: ten.microseconds - 1)
    #expect(
      policy.hold(under: DeviceConditions(), at: before, utcOffsetMinutes: 0)
        == Waiting(.window, until: ten))
    #expect(policy.nextChange(after: before, utcOffsetMinutes: 0) == ten)
    #expect(policy.hold(under: DeviceConditions(), at: ten, utcOffsetMinutes: 0) == nil)
    #expect(
      policy.nextChange(after: ten, utcOffsetMinutes: 0)
        == ten.adding(milliseconds: 8 * 3_600_000))
    for edge in [Timestamp(microseconds: .max), Timestamp(microseconds: .min)] {
      for offset in [-1440, 0, 1439, .max, .min] {
        let next = policy.nextChange(after: edge, utcOffsetMinutes: offset)
        #expect(try #require(next) >= edge)
      }
    }
  }
}

struct PolicyHoldTests {
  private let start = Timestamp(seconds: 1_000_000)
  private func at(_ milliseconds: Int64) -> Timestamp { start.adding(milliseconds: milliseconds) }

  @Test func `a hold comes at once and goes at once`() {
    var hold = PolicyHold()
    #expect(hold.take(Waiting(.wifi), at: at(0)) == nil)
    #expect(hold.current == Waiting(.wifi))
    #expect(hold.since == at(0))
    #expect(hold.take(nil, at: at(1)) == nil)
    #expect(hold.current == nil)
    #expect(hold.since == nil)
  }

  @Test func `a network that comes and goes changes little, and the last change counts`() {
    var hold = PolicyHold()
    var changes = 0
    var known: Waiting?
    for tick in 0..<1200 {
      _ = hold.take(tick.isMultiple(of: 2) ? Waiting(.wifi) : nil, at: at(Int64(tick) * 100))
      if hold.current != known { changes += 1 }
      known = hold.current
    }
    // Two minutes of it: six ends a minute, each with the hold before it.
    #expect(changes <= 2 * 2 * PolicyHold.maximumChanges + 1)
    #expect(changes >= 2 * PolicyHold.maximumChanges)
    let later = hold.take(nil, at: at(120_000))
    if let later {
      #expect(hold.current == Waiting(.wifi))
      #expect(later.milliseconds(since: at(120_000)) <= PolicyHold.periodMilliseconds)
      #expect(hold.take(nil, at: later) == nil)
    }
    #expect(hold.current == nil)
  }

  @Test func `while ends have to wait a new hold does not`() {
    var hold = PolicyHold()
    for tick in 0..<PolicyHold.maximumChanges {
      _ = hold.take(Waiting(.wifi), at: at(Int64(tick) * 2))
      _ = hold.take(nil, at: at(Int64(tick) * 2 + 1))
    }
    #expect(hold.current == nil)
    #expect(hold.take(Waiting(.charger), at: at(100)) == nil)
    #expect(hold.current == Waiting(.charger))
    #expect(hold.take(nil, at: at(101)) == at(1 + PolicyHold.periodMilliseconds))
    #expect(hold.take(Waiting(.wifi), at: at(102)) != nil)
    #expect(hold.current == Waiting(.charger))
  }

  @Test func `what an earlier run held up stays until the policy has spoken`() {
    var hold = PolicyHold(Waiting(.charger), since: at(0))
    #expect(hold.current == Waiting(.charger))
    #expect(hold.since == at(0))
    #expect(hold.take(Waiting(.wifi), at: at(50)) == nil)
    #expect(hold.since == at(0))
    #expect(hold.take(nil, at: at(60)) == nil)
    #expect(hold.since == nil)
  }
}
