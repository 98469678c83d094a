internal import WaybillModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Timestamp {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The moment as a header gives it (RFC 9110 section 5.6.7), such as
  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  var httpDate: String {
    var seconds = time_t(seconds)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(Timestamp.days[Int(fields.tm_wday)]), \(two(fields.tm_mday))"
    let date = "\(day) \(Timestamp.months[Int(fields.tm_mon)]) \(fields.tm_year + 1900)"
    return "\(date) \(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec)) GMT"
  }
}
