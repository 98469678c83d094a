internal import CBaseline
internal import WaybillLedger
internal import WaybillModel

/// What a process that has just started pays for. Each figure is taken in a child process of its
/// own, so that caches and memory are those of a launch.
enum Launches {
  /// Opening for writing and folding the 1,000 uploads that are unfinished.
  static func open(_ bench: Bench) async throws -> [Figure] {
    let sides = try await sides(bench, role: .open, times: bench.isQuick ? 3 : 7)
    let (short, long) = (sides.short.map(\.cpu), sides.long.map(\.cpu))
    let growth = median(zip(long, short).map { $0 / $1 })
    let (ours, other) = (milliseconds(median(long)), milliseconds(median(short)))
    return [
      Figure(name: "open_launch", ours: ours, baseline: "\(other), short log", value: growth),
      Figure(name: "open_launch_cpu_ms", ours: ours, baseline: "", value: median(long) * 1000),
      peak("open_memory_growth_mib", sides),
    ]
  }

  /// Opening for reading and counting the uploads of each state.
  static func status(_ bench: Bench) async throws -> [Figure] {
    let path = try await bench.histories.longPath()
    var runs: [Run] = []
    for _ in 0..<bench.pairCount { runs.append(try run(.status, path)) }
    let cpu = median(runs.map(\.cpu))
    return [
      Figure(
        name: "status_1m_cpu_ms",
        ours: "\(milliseconds(cpu)), wall \(milliseconds(median(runs.map(\.wall))))",
        baseline: "", value: cpu * 1000)
    ]
  }

  /// The memory of dropping every table and folding the whole log into it anew.
  static func rebuild(_ bench: Bench) async throws -> [Figure] {
    [peak("rebuild_memory_growth_mib", try await sides(bench, role: .rebuild, times: 1))]
  }

  private static func peak(_ name: String, _ sides: Sides) -> Figure {
    let short = median(sides.short.map(\.peakBytes))
    let long = median(sides.long.map(\.peakBytes))
    return Figure(
      name: name, ours: megabytes(long), baseline: "\(megabytes(short)), short log",
      value: (long - short) / 1_048_576)
  }

  private static func milliseconds(_ seconds: Double) -> String {
    decimal(seconds * 1000, 1) + " ms"
  }

  // MARK: Children

  enum Role: String {
    case open
    case status
    case rebuild
    case drain
  }

  struct Run {
    let cpu: Double
    let wall: Double
    let peakBytes: Double
  }

  private struct Sides {
    var short: [Run] = []
    var long: [Run] = []
  }

  private static func sides(_ bench: Bench, role: Role, times: Int) async throws -> Sides {
    let short = try await bench.histories.shortPath()
    let long = try await bench.histories.longPath()
    var sides = Sides()
    for _ in 0..<times {
      sides.short.append(try run(role, short))
      sides.long.append(try run(role, long))
    }
    return sides
  }

  static func run(_ role: Role, _ path: String) throws(BenchError) -> Run {
    let program = CommandLine.arguments[0]
    let printed = try output(of: program, ["--child", role.rawValue, path])
    let numbers = printed.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard numbers.count == 3 else { throw BenchError("a child printed: \(printed)") }
    return Run(cpu: numbers[0], wall: numbers[1], peakBytes: numbers[2])
  }

  /// What a child does: its work once, then seconds of CPU, of wall and its peak of memory.
  static func child(_ role: Role, _ path: String) async throws {
    let elapsed: Elapsed
    switch role {
    case .open:
      var ledger: Ledger?
      elapsed = try await Elapsed.of {
        let opened = try await Ledger.open(directory: path)
        ledger = opened
        let work = try await opened.work(now: SystemClock.now, limit: Histories.unfinished)
        guard work.count == Histories.unfinished else {
          throw BenchError("\(work.count) uploads are unfinished")
        }
      }
      await ledger?.close()
    case .status:
      elapsed = try await Elapsed.of {
        let reader = try await LedgerReader.open(path)
        guard try await reader.counts()[.sending] == Int64(Histories.unfinished) else {
          throw BenchError("the counts are wrong")
        }
      }
    case .rebuild:
      let ledger = try await Ledger.open(directory: path)
      elapsed = try await Elapsed.of { try await ledger.rebuild() }
      await ledger.close()
    case .drain: elapsed = try await Elapsed.of { try await Drains.child(path) }
    }
    print(elapsed.cpu, elapsed.wall, peak_memory_bytes())
  }
}
