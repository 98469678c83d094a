internal import WaybillLedger
package import WaybillModel

/// The time an engine goes by: the wall's at the beginning of a run, and from there on what has
/// passed on a clock that nobody can set.
///
/// So a wall clock that is set back holds up nothing that waits inside a run, and one that is set
/// forward lets nothing go too soon.
public struct EngineClock: Sendable {
  /// The wall clock, as a reply's `Date` is measured against it and names are made from it.
  let wall: @Sendable () -> Timestamp
  private let passed: @Sendable () -> Duration
  private let speed: Int64
  private var start: (wall: Timestamp, passed: Duration)

  /// The clocks of the system.
  public init() { self.init(wall: { SystemClock.now }) }

  /// Clocks of a test.
  ///
  /// - Parameters:
  ///   - wall: the wall clock, which may be set.
  ///   - passed: the time since some moment, which only grows.
  ///   - speed: how much faster this clock runs than what passes.
  package init(
    wall: @escaping @Sendable () -> Timestamp,
    passed: @escaping @Sendable () -> Duration = EngineClock.sinceNow(), speed: Int64 = 1
  ) {
    self.wall = wall
    self.passed = passed
    self.speed = speed
    start = (wall(), passed())
  }

  /// Takes the wall's time anew.
  mutating func restart() { start = (wall(), passed()) }

  /// Now.
  var now: Timestamp {
    start.wall.adding(milliseconds: (passed() - start.passed).wholeMilliseconds * speed)
  }

  /// How long it really takes until a moment, in milliseconds, rounded up; 0 once it has come. By a
  /// clock that runs fast nobody is woken more often than 40 times a second.
  func milliseconds(until moment: Timestamp) -> Int64 {
    let left = (max(0, moment.milliseconds(since: now)) + speed - 1) / speed
    return speed > 1 ? max(left, 25) : left
  }

  /// The time since the call, on a clock that goes on while the system sleeps.
  package static func sinceNow() -> @Sendable () -> Duration {
    let origin = ContinuousClock.now
    return { origin.duration(to: .now) }
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
