internal import CBaseline
internal import Glibc

/// One run: where it works, how much it does, and what it measures.
struct Bench: Sendable {
  let home: String
  let work: String
  let isQuick: Bool
  let histories: Histories

  /// How often each of the two sides has its turn.
  var pairCount: Int { isQuick ? 3 : 7 }

  init(_ options: Options) {
    home = options.home
    work = options.work
    isQuick = options.isQuick
    histories = Histories(work: options.work, isQuick: options.isQuick)
  }

  func folder(_ name: String) -> String { "\(work)/\(name)" }

  /// A measurement gives one figure, or several that one piece of work shows.
  typealias Measurement = @Sendable (Bench) async throws -> [Figure]

  static let measurements: [(name: String, measure: Measurement)] = [
    ("append_single", Appends.single),
    ("append_batch", Appends.batch),
    ("append_group_64", Appends.group64),
    ("append_group_256", Appends.group256),
    ("fold", Folds.fold),
    ("open_launch", Launches.open),
    ("status_1m", Launches.status),
    ("rebuild_memory", Launches.rebuild),
    ("hash_1gib", Hashing.gibibyte),
    ("upload", Uploads.whole),
    ("transport", Uploads.transport),
    ("drain_memory", Drains.memory),
    ("counts", Counts.all),
    ("peers", Peers.all),
  ]
}

@main
struct Main {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.count == 3, arguments[0] == "--child",
        let role = Launches.Role(rawValue: arguments[1])
      {
        return try await Launches.child(role, arguments[2])
      }
      if arguments.count == 2, arguments[0] == "--serve" {
        return try ServerChild.serve(arguments[1])
      }
      let options = try readOptions(arguments)
      exit(try await measure(options) ? 0 : 1)
    } catch {
      say("bench: \(error)")
      exit(1)
    }
  }

  private static func readOptions(_ arguments: [String]) throws -> Options {
    if arguments.contains("--help") {
      print(Options.usage)
      exit(0)
    }
    do {
      return try Options(arguments)
    } catch {
      say("bench: \(error)")
      exit(2)
    }
  }

  /// Takes every figure that is wanted and prints it; gives whether all budgets were met.
  private static func measure(_ options: Options) async throws -> Bool {
    let thresholds = try Thresholds(path: options.home + "/thresholds.json")
    counters_watch_connections()
    let bench = Bench(options)
    var rows: [Row] = []
    for (name, measure) in Bench.measurements
    where options.only.map({ $0 == name }) ?? (name != "peers" || options.withPeers) {
      say("\(name) …")
      for figure in try await measure(bench) {
        rows.append(Row(figure: figure, limit: thresholds[figure.name]))
      }
    }
    if options.isJSON {
      print("[\n" + rows.map { "  " + $0.json }.joined(separator: ",\n") + "\n]")
    } else {
      print(Machine.line(isQuick: options.isQuick) + "\n")
      print(table(rows))
    }
    let missed = rows.filter { !$0.isMet }.map(\.figure.name)
    if !missed.isEmpty { say("missed: \(missed.joined(separator: ", "))") }
    return missed.isEmpty
  }
}
