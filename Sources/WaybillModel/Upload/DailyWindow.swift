/// A time of every day in which sending is allowed, on the clock on the wall: from 22:00 to 06:00,
/// say. It may go over midnight.
public struct DailyWindow: Hashable, Sendable {
  /// The minutes of a day.
  public static let minutesOfDay = 1440

  /// The first minute in it, counted from midnight.
  public let start: Int
  /// The first minute behind it, counted from midnight; smaller than `start` where midnight lies
  /// between the two.
  public let end: Int

  /// Makes a window from minutes counted from midnight, each from 0 to 1439.
  ///
  /// - Returns: nil for minutes that no day has, and for a window that ends where it begins: it
  ///   could mean never or always.
  public init?(start: Int, end: Int) {
    let day = 0..<DailyWindow.minutesOfDay
    guard day.contains(start), day.contains(end), start != end else { return nil }
    self.start = start
    self.end = end
  }

  /// Reads a window as people write it, such as `22:00-06:00`; `24:00` is the end of a day.
  public init?(_ text: String) {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let start = DailyWindow.minute(ends[0], isEnd: false),
      let end = DailyWindow.minute(ends[1], isEnd: true)
    else { return nil }
    self.init(start: start, end: end % DailyWindow.minutesOfDay)
  }

  private static func minute(_ text: Substring, isEnd: Bool) -> Int? {
    let digits = text.utf8
    guard digits.count == 5, digits.allSatisfy({ (0x30...0x3a).contains($0) }) else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 2, let hour = Int(parts[0]),
      let minute = Int(parts[1]), minute < 60
    else { return nil }
    let last = isEnd ? minutesOfDay : minutesOfDay - 1
    return hour * 60 + minute <= last ? hour * 60 + minute : nil
  }

  /// Whether a minute of the day lies in it.
  public func contains(minute: Int) -> Bool {
    start < end ? (start..<end).contains(minute) : minute >= start || minute < end
  }
}

extension Timestamp {
  /// Microseconds since midnight where the wall clock is so many minutes ahead of UTC.
  func sinceMidnight(utcOffsetMinutes: Int) -> Int64 {
    let day: Int64 = 86_400_000_000
    // The rest first: a moment at the edge of what can be stored has no room for the offset.
    let rest = microseconds % day + Int64(utcOffsetMinutes % DailyWindow.minutesOfDay) * 60_000_000
    return (rest % day + day) % day
  }

  /// The next moment, after this one, at which that wall clock shows a minute of the day.
  func next(minute: Int, utcOffsetMinutes: Int) -> Timestamp {
    let day: Int64 = 86_400_000_000
    let left = Int64(minute) * 60_000_000 - sinceMidnight(utcOffsetMinutes: utcOffsetMinutes)
    let (moment, isTooFar) = microseconds.addingReportingOverflow(left > 0 ? left : left + day)
    return Timestamp(microseconds: isTooFar ? .max : moment)
  }
}
