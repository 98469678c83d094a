internal import WaybillModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// How moments are shown to people. Machines always get `Timestamp.description`.
struct TimeText: Sendable {
  /// Seconds east of UTC at a moment; nil shows UTC as machines read it.
  private let offset: (@Sendable (Timestamp) -> Int64)?

  /// RFC 3339 in UTC with microseconds.
  static let utc = TimeText(offset: nil)

  /// The zone of this machine, or of `$TZ`.
  static let local = TimeText { moment in
    var seconds = time_t(moment.seconds)
    var parts = tm()
    return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
  }

  /// A zone given by its offset.
  init(offset: (@Sendable (Timestamp) -> Int64)?) { self.offset = offset }

  /// Date, time and zone: `2026-11-30 02:29:38 +01:00`, or RFC 3339 with `--utc`.
  func full(_ moment: Timestamp) -> String {
    guard let offset else { return moment.description }
    let east = offset(moment)
    let (date, time) = shifted(moment, by: east)
    return "\(date) \(time) \(TimeText.zone(east))"
  }

  /// The time of day to the millisecond, `02:29:38.104`, for lines under a heading with the date
  /// and zone; RFC 3339 with `--utc`.
  func ofDay(_ moment: Timestamp) -> String {
    guard let offset else { return moment.description }
    let fraction = moment.description.split(separator: ".").last?.prefix(3) ?? "000"
    return "\(shifted(moment, by: offset(moment)).time).\(fraction)"
  }

  /// The day, `2026-11-30 +01:00`, or `2026-11-30 UTC` with `--utc`.
  func day(_ moment: Timestamp) -> String {
    guard let offset else { return "\(shifted(moment, by: 0).date) UTC" }
    let east = offset(moment)
    return "\(shifted(moment, by: east).date) \(TimeText.zone(east))"
  }

  private func shifted(_ moment: Timestamp, by east: Int64) -> (date: Substring, time: Substring) {
    let text = moment.adding(milliseconds: east * 1000).description
    let halves = text.split(separator: "T")
    return (halves[0], halves[1].prefix(8))
  }

  private static func zone(_ east: Int64) -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(east) / 60
    return "\(east < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
  }
}
