/// Which module may see which. A module exists to fence one outside thing, so the list of a module
/// says what it fences.
enum ImportRules {
  /// Every module may use these, except the pure core.
  private static let system: Set = ["Darwin", "Dispatch", "Glibc", "Musl", "Synchronization"]

  private static let modules: Set = [
    "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite", "WaybillLedger",
    "WaybillTrace", "WaybillEngine", "WaybillServer",
  ]

  private static let allowed: [String: Set<String>] = [
    "WaybillModel": [],
    "WaybillSystem": ["CLinux"],
    "WaybillHash": ["WaybillModel", "CCrypto", "CryptoKit"],
    "WaybillSQLite": ["CSchema", "CSQLite", "SQLite3"],
    "WaybillLedger": ["WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite"],
    "WaybillTrace": ["WaybillModel", "WaybillSystem", "WaybillHash", "CLZ4"],
    "WaybillEngine": [
      "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillLedger", "WaybillTrace", "CCurl",
      "Network", "Observation",
    ],
    "WaybillServer": [
      "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite", "CMicroHTTPD",
    ],
    "WaybillTesting": modules.union(["Testing"]),
    // The command line sees all of ours and no library behind them.
    "waybill": modules,
    // A package of its own, so it sees what an app sees, and the C it is measured against.
    "bench": [
      "WaybillModel", "WaybillHash", "WaybillLedger", "WaybillEngine", "WaybillServer", "CBaseline",
      "PackageDescription",
    ],
  ]

  private static var statement: Regex<(Substring, Substring)> {
    #/
      ^\s* (?: @\w+ (?:\([^)]*\))? \s+ )*
      (?: (?:public|package|internal|fileprivate|private) \s+ )?
      import \s+
      (?: (?:struct|class|enum|protocol|func|var|let|typealias|actor) \s+ )?
      (\w+)
    /#
  }

  static func imports(_ file: SourceFile) -> [(line: Int, module: String)] {
    let statement = statement
    return file.code.enumerated().filter { $0.element.contains("import ") }.compactMap {
      line, code in
      code.firstMatch(of: statement).map { (line, String($0.output.1)) }
    }
  }

  static func direction(_ file: SourceFile) -> [Finding] {
    guard let module = file.module else { return [] }
    guard let own = allowed[module] else {
      return [file.finding(0, "\(module) is new: say in ImportRules.swift what it may import")]
    }
    let all = module == "WaybillModel" ? own : own.union(system)
    return imports(file).filter { !all.contains($0.module) && !isFoundation($0.module) }.map {
      file.finding(
        $0.line,
        "\(module) may not import \($0.module); it sees \(own.sorted().joined(separator: ", "))")
    }
  }

  static func foundation(_ file: SourceFile) -> [Finding] {
    guard !isForApple(file) else { return [] }
    return imports(file).filter { isFoundation($0.module) }.map {
      file.finding($0.line, "no \($0.module) in Sources or tools; use Glibc or Darwin")
    }
  }

  private static func isFoundation(_ module: String) -> Bool { module.hasPrefix("Foundation") }

  /// URLSession and Low Power Mode are parts of Foundation. On Linux these files are empty: one
  /// `#if` holds all of each.
  private static func isForApple(_ file: SourceFile) -> Bool {
    let code = file.code.filter { $0.contains { !$0.isWhitespace } }
    return file.path.hasPrefix("Sources/WaybillEngine/")
      && ["URLSessionTransport", "NetworkPathConditions"].contains { file.name.hasPrefix($0) }
      && code.first == "#if canImport(Darwin)" && code.last == "#endif"
      && !code.dropLast().contains { $0 == "#endif" || $0.hasPrefix("#else") }
  }
}
