internal import WaybillModel

/// Quantities as people read them.
enum HumanText {
  /// A byte count in decimal units, rounded to the nearest: `999 B`, `4.2 MB`, `123 MB`.
  static func byteCount(_ count: Int64) -> String { PhraseStyle.decimalUnits(count) }

  /// A rate such as `12.4 MB/s`.
  static func rate(_ bytesPerSecond: Int64) -> String { "\(byteCount(bytesPerSecond))/s" }

  /// A share such as `61 %`, rounded down: `100 %` only when nothing is missing, and never more.
  /// Of nothing there is no share: `–`, or `-` in ASCII.
  static func percentage(_ done: Int64, of total: Int64, glyphs: Glyphs = .unicode) -> String {
    guard total > 0 else { return glyphs.isUnicode ? "–" : "-" }
    guard done < total else { return "100 %" }
    let share = max(0, done).multipliedFullWidth(by: 100)
    return "\(total.dividingFullWidth(share).quotient) %"
  }

  /// A length of time in at most two units: `0.4 s`, `12 s`, `5 min 2 s`, `2 h 5 min`, `3 d 4 h`.
  static func duration(_ duration: Duration) -> String {
    let (whole, attoseconds) = duration.components
    if whole < 0 || attoseconds < 0 { return "-\(HumanText.duration(.zero - duration))" }
    let tenths = attoseconds / 100_000_000_000_000_000
    switch whole {
    case 0 where attoseconds > 0 && tenths == 0:
      return "\(max(1, attoseconds / 1_000_000_000_000_000)) ms"
    case 0..<10: return tenths == 0 ? "\(whole) s" : "\(whole).\(tenths) s"
    case 10..<60: return "\(whole) s"
    case 60..<3600: return two(whole / 60, "min", whole % 60, "s")
    case 3600..<86_400: return two(whole / 3600, "h", whole / 60 % 60, "min")
    default: return two(whole / 86_400, "d", whole / 3600 % 24, "h")
    }
  }

  private static func two(_ first: Int64, _ unit: String, _ second: Int64, _ small: String)
    -> String
  {
    second == 0 ? "\(first) \(unit)" : "\(first) \(unit) \(second) \(small)"
  }

  /// A count with its noun: `1 event`, `3 events`.
  static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }
}
