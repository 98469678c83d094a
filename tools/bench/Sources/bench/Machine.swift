internal import CBaseline
internal import Glibc

/// Where and when figures were taken.
enum Machine {
  static func line(isQuick: Bool) -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    let month = parts.tm_mon + 1
    let date =
      "\(parts.tm_year + 1900)-\(month < 10 ? "0" : "")\(month)"
      + "-\(parts.tm_mday < 10 ? "0" : "")\(parts.tm_mday)"
    var load = [0.0, 0.0, 0.0]
    getloadavg(&load, 3)
    return "\(date), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores of \(model), "
      + "SQLite \(String(cString: baseline_sqlite_version())), load \(decimal(load[0], 1))"
      + (isQuick ? ", --quick: no figures to quote" : "")
  }

  private static var model: String {
    let text = String(decoding: readFile("/proc/cpuinfo") ?? [], as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last.map(String.init) ?? " an unknown CPU"
    return String(name.drop { $0 == " " })
  }
}
