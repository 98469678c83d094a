/// A moment in microseconds since 1970-01-01T00:00:00Z. An annotation: order is position alone.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Microseconds since the Unix epoch, leap seconds not counted.
  public let microseconds: Int64

  /// Makes a moment from microseconds since the Unix epoch.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Makes a moment from whole seconds since the Unix epoch, held within what can be stored.
  public init(seconds: Int64) {
    let limit = Int64.max / 1_000_000
    microseconds = min(max(seconds, -limit), limit) * 1_000_000
  }

  /// Whole seconds since the Unix epoch, rounded down.
  public var seconds: Int64 {
    microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)
  }

  /// The moment `milliseconds` later, held within what can be stored.
  public func adding(milliseconds: Int64) -> Timestamp {
    let (step, isTooLong) = milliseconds.multipliedReportingOverflow(by: 1000)
    let (sum, isTooFar) = microseconds.addingReportingOverflow(step)
    guard isTooLong || isTooFar else { return Timestamp(microseconds: sum) }
    return Timestamp(microseconds: milliseconds < 0 ? Int64.min : Int64.max)
  }

  /// Milliseconds from an earlier moment to this one; negative if that one is later.
  public func milliseconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
    return overflow ? (microseconds < 0 ? Int64.min : Int64.max) : difference / 1000
  }

  /// RFC 3339 in UTC with six decimals, such as `2026-11-30T01:29:38.000000Z`.
  public var description: String {
    let parts = CalendarTime(secondsSinceEpoch: seconds)
    let rest = microseconds % 1_000_000
    let micros = rest < 0 ? rest + 1_000_000 : rest
    return "\(parts.dateText)T\(parts.timeText).\(padded(micros, to: 6))Z"
  }

  /// Orders by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

extension Timestamp {
  /// Reads a moment as RFC 3339 spells it, such as `2026-11-30T01:29:38.25+01:00`; nil for anything
  /// else. Digits beyond microseconds are dropped, a leap second is the second after it.
  public init?(rfc3339 text: String) {
    var fields = DateFields(text)
    guard let year = fields.number(digits: 4), fields.take("-"),
      let month = fields.number(digits: 2), fields.take("-"),
      let day = fields.number(digits: 2), fields.take("T") || fields.take("t"),
      let time = fields.timeOfDay(), let micros = fields.fraction(),
      let offset = fields.offsetMinutes(), fields.isAtEnd
    else { return nil }
    let parts = CalendarTime(
      year: year, month: month, day: day, hour: time.hour, minute: time.minute,
      second: time.second)
    guard parts.isValid else { return nil }
    let seconds = parts.secondsSinceEpoch - offset * 60
    microseconds = seconds * 1_000_000 + micros
  }
}

/// A UTC date and time of day in the proleptic Gregorian calendar.
///
/// Days are turned into dates by counting from 0000-03-01, so that the leap day ends a year
/// (E. M. Reingold, N. Dershowitz, *Calendrical Calculations*, chapter 2).
package struct CalendarTime: Equatable {
  package var year: Int64
  package var month: Int64
  package var day: Int64
  package var hour: Int64
  package var minute: Int64
  package var second: Int64

  package init(
    year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  package init(secondsSinceEpoch seconds: Int64) {
    let dayCount = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
    let inDay = seconds - dayCount * 86_400
    let shifted = dayCount + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    hour = inDay / 3600
    minute = inDay / 60 % 60
    second = inDay % 60
  }

  package var secondsSinceEpoch: Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let dayCount = era * 146_097 + dayOfEra - 719_468
    return dayCount * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// Whether the date exists and the time is within a day; 60 is allowed for a leap second.
  package var isValid: Bool {
    guard (1...12).contains(month) else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[Int(month) - 1]).contains(day) && (0...23).contains(hour)
      && (0...59).contains(minute) && (0...60).contains(second)
  }

  var dateText: String { "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))" }
  var timeText: String {
    "\(padded(hour, to: 2)):\(padded(minute, to: 2)):\(padded(second, to: 2))"
  }
}

/// A number in decimal with zeros in front up to `width` digits.
func padded(_ value: Int64, to width: Int) -> String {
  let text = String(value)
  return text.utf8.count >= width
    ? text : String(repeating: "0", count: width - text.utf8.count) + text
}
