internal import Glibc

/// Seconds of the wall clock, and of CPU over all threads of this process.
struct Elapsed {
  let wall: Double
  let cpu: Double

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  static func of(_ work: () async throws -> Void) async throws -> Elapsed {
    let wall = now(CLOCK_MONOTONIC)
    let cpu = now(CLOCK_PROCESS_CPUTIME_ID)
    try await work()
    return Elapsed(wall: now(CLOCK_MONOTONIC) - wall, cpu: now(CLOCK_PROCESS_CPUTIME_ID) - cpu)
  }
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Times of two sides that took turns, A B A B, so that what slows the machine slows both.
struct Pairs {
  private(set) var ours: [Double] = []
  private(set) var baseline: [Double] = []

  mutating func add(ours: Double, baseline: Double) {
    self.ours.append(ours)
    self.baseline.append(baseline)
  }

  /// How fast we are, 1 being as fast as the other side: the median over the pairs.
  var speed: Double { median(zip(ours, baseline).map { $1 / $0 }) }

  /// A row of two rates; each pair did `count` pieces of work on each side.
  func figure(_ name: String, count: Int, unit: String) -> Figure {
    Figure(
      name: name, ours: rate(count, median(ours)) + " \(unit)",
      baseline: rate(count, median(baseline)) + " \(unit)", value: speed)
  }

  private func rate(_ count: Int, _ seconds: Double) -> String {
    grouped(Int64((Double(count) / seconds).rounded()))
  }
}

/// A number with a fixed count of decimals; `trimmed` drops zeros at the end.
func decimal(_ value: Double, _ places: Int, trimmed: Bool = false) -> String {
  guard value.isFinite else { return "0" }
  var scale = 1.0
  for _ in 0..<places { scale *= 10 }
  let whole = Int64((abs(value) * scale).rounded())
  var fraction = places == 0 ? "" : String(whole % Int64(scale))
  fraction = String(repeating: "0", count: places - fraction.count) + fraction
  if trimmed { while fraction.hasSuffix("0") { fraction.removeLast() } }
  let sign = value < 0 && whole > 0 ? "-" : ""
  return sign + String(whole / Int64(scale)) + (fraction.isEmpty ? "" : ".\(fraction)")
}

/// A whole number with a comma before each three digits.
func grouped(_ value: Int64) -> String {
  var out = ""
  for (index, digit) in String(value).reversed().enumerated() {
    if index > 0, index % 3 == 0 { out.append(",") }
    out.append(digit)
  }
  return String(out.reversed())
}

func megabytes(_ bytes: Double) -> String { decimal(bytes / 1_048_576, 1) + " MiB" }
