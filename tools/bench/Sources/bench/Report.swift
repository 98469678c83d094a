internal import WaybillModel

/// What a figure has to reach, or may not pass.
enum Limit {
  case least(Double)
  case most(Double)

  func holds(for value: Double) -> Bool {
    switch self {
    case .least(let bound): value >= bound
    case .most(let bound): value <= bound
    }
  }

  var bound: Double {
    switch self {
    case .least(let bound), .most(let bound): bound
    }
  }

  var text: String {
    switch self {
    case .least(let bound): "≥ \(decimal(bound, 2, trimmed: true))"
    case .most(let bound): "≤ \(decimal(bound, 2, trimmed: true))"
    }
  }
}

/// One line of the table: a figure taken on our side and beside it.
struct Figure {
  let name: String
  /// What our side did, in words with its unit; shown, never judged.
  let ours: String
  /// The same of the other side.
  let baseline: String
  /// What is judged: a ratio, a count, or for the two budgets that are times, milliseconds of CPU.
  let value: Double

  func beside(_ baseline: String) -> Figure {
    Figure(name: name, ours: ours, baseline: baseline, value: value)
  }
}

/// A figure and what `thresholds.json` says of it; without a limit it is only shown.
struct Row {
  let figure: Figure
  let limit: Limit?

  var isMet: Bool { limit?.holds(for: figure.value) ?? true }

  var json: String {
    let budget = limit.map { decimal($0.bound, 3, trimmed: true) } ?? "null"
    return "{\"name\":\"\(figure.name)\",\"ratio\":\(decimal(figure.value, 3, trimmed: true)),"
      + "\"budget\":\(budget),\"ok\":\(isMet)}"
  }
}

/// The bounds in `thresholds.json`: for each name of a figure `{"least": N}` or `{"most": N}`.
struct Thresholds {
  private let limits: [String: Limit]

  init(path: String) throws(BenchError) {
    guard let bytes = readFile(path), let value = try? JSONValue.read(bytes),
      case .object(let members) = value
    else { throw BenchError("\(path) holds no JSON object") }
    var limits: [String: Limit] = [:]
    for member in members {
      if let least = Thresholds.number(member.value["least"]) {
        limits[member.key] = .least(least)
      } else if let most = Thresholds.number(member.value["most"]) {
        limits[member.key] = .most(most)
      } else {
        throw BenchError("\(path): \(member.key) has neither least nor most")
      }
    }
    self.limits = limits
  }

  subscript(name: String) -> Limit? { limits[name] }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let whole): Double(whole)
    case .number(let text): Double(text)
    default: nil
    }
  }
}

/// A table in the form of Markdown, so that a README can quote it as it is.
func table(_ rows: [Row]) -> String {
  let head = ["name", "ours", "baseline", "ratio", "budget", "ok"]
  let cells = rows.map { row in
    [
      row.figure.name, row.figure.ours, row.figure.baseline, decimal(row.figure.value, 2),
      row.limit?.text ?? "shown", row.limit == nil ? "" : row.isMet ? "ok" : "MISSED",
    ]
  }
  let widths = head.indices.map { column in
    ([head] + cells).map { $0[column].count }.max() ?? 0
  }
  func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).map { text, width in
      text + String(repeating: " ", count: width - text.count)
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
  let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
  return ([line(head), rule] + cells.map(line)).joined(separator: "\n")
}
