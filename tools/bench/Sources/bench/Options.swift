internal import Glibc

/// What a run measures and how it says so.
struct Options {
  var only: String?
  var isJSON = false
  var isQuick = false
  var withPeers = false
  /// Where `thresholds.json` and `peers.py` are.
  var home = "."
  /// The folder all databases and files are made in.
  var work = ""

  static let usage = """
    usage: tools/bench/run [--only NAME] [--quick] [--peers] [--json]

      --only NAME  one measurement: \(Bench.measurements.map(\.name).joined(separator: ", "))
      --quick      smaller counts: a look in passing, not a figure to quote
      --peers      the same work by packages of PyPI, installed for this run only
      --json       rows {"name","ratio","budget","ok"} instead of the table

    Exit code 1 when a budget is missed, 2 for a wrong argument.
    """

  init(_ arguments: [String]) throws(BenchError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--quick": isQuick = true
      case "--peers": withPeers = true
      case "--only": only = try Options.value(of: argument, &rest)
      case "--home": home = try Options.value(of: argument, &rest)
      case "--work": work = try Options.value(of: argument, &rest)
      default: throw BenchError("\(argument) is no argument\n\(Options.usage)")
      }
    }
    if work.isEmpty { throw BenchError("--work names no folder; tools/bench/run makes one") }
    if let only, !Bench.measurements.contains(where: { $0.name == only }) {
      throw BenchError("\(only) is no measurement\n\(Options.usage)")
    }
  }

  private static func value(
    of argument: String, _ rest: inout ArraySlice<String>
  ) throws(BenchError) -> String {
    guard let value = rest.popFirst() else { throw BenchError("\(argument) needs a value") }
    return value
  }
}
