/// A date in a header, in the three forms a recipient has to read (RFC 9110 section 5.6.7).
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let shortDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// The moment the text names; nil for anything else. The name of the day is not held against
  /// the date.
  ///
  /// - Parameter now: what a year of two digits is measured against.
  package static func read(_ text: String, now: Timestamp) -> Timestamp? {
    fixedForm(text) ?? hyphenatedForm(text, now: now) ?? asctimeForm(text)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  private static func fixedForm(_ text: String) -> Timestamp? {
    var fields = DateFields(text)
    guard fields.index(in: shortDays) != nil, fields.take(", "),
      let day = fields.number(digits: 2), fields.take(" "),
      let month = fields.index(in: months), fields.take(" "),
      let year = fields.number(digits: 4), fields.take(" "),
      let time = fields.timeOfDay(), fields.take(" GMT"), fields.isAtEnd
    else { return nil }
    return moment(year, month, day, time)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`: the latest year with these digits that does not lie more
  /// than 50 years ahead.
  private static func hyphenatedForm(_ text: String, now: Timestamp) -> Timestamp? {
    var fields = DateFields(text)
    guard fields.index(in: longDays) != nil, fields.take(", "),
      let day = fields.number(digits: 2), fields.take("-"),
      let month = fields.index(in: months), fields.take("-"),
      let twoDigits = fields.number(digits: 2), fields.take(" "),
      let time = fields.timeOfDay(), fields.take(" GMT"), fields.isAtEnd
    else { return nil }
    var horizon = CalendarTime(secondsSinceEpoch: now.seconds)
    horizon.year += 50
    let horizonSeconds = horizon.secondsSinceEpoch
    let century = horizon.year / 100 * 100
    let thisCentury = moment(century + twoDigits, month, day, time)
    guard let thisCentury, thisCentury.seconds <= horizonSeconds else {
      return moment(century - 100 + twoDigits, month, day, time)
    }
    return thisCentury
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func asctimeForm(_ text: String) -> Timestamp? {
    var fields = DateFields(text)
    guard fields.index(in: shortDays) != nil, fields.take(" "),
      let month = fields.index(in: months), fields.take(" "),
      let day = fields.take(" ") ? fields.number(digits: 1) : fields.number(digits: 2),
      fields.take(" "), let time = fields.timeOfDay(), fields.take(" "),
      let year = fields.number(digits: 4), fields.isAtEnd
    else { return nil }
    return moment(year, month, day, time)
  }

  private static func moment(
    _ year: Int64, _ monthIndex: Int, _ day: Int64,
    _ time: (hour: Int64, minute: Int64, second: Int64)
  ) -> Timestamp? {
    let parts = CalendarTime(
      year: year, month: Int64(monthIndex) + 1, day: day, hour: time.hour, minute: time.minute,
      second: time.second)
    return parts.isValid ? Timestamp(seconds: parts.secondsSinceEpoch) : nil
  }
}
