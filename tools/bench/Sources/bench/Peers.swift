internal import WaybillLedger
internal import WaybillModel

/// The same work by packages of PyPI, which `run --peers` has installed beside the databases.
enum Peers {
  static func all(_ bench: Bench) async throws -> [Figure] {
    let uploads = bench.isQuick ? 20 : 100
    let ledger = try await Ledger.open(directory: bench.folder("peers"))
    var lives = Lives()
    let few = lives.many(uploads) { $0.durable() }
    let (first, many) = (
      lives.many(uploads * 10) { $0.ended() }, lives.many(uploads * 10) { $0.ended() }
    )
    try await Appends.together(first, in: ledger)
    let single = try await Elapsed.of { try await Appends.one(few, in: ledger) }
    let batch = try await Elapsed.of { try await Appends.together(many, in: ledger) }
    await ledger.close()
    let fold = try await Elapsed.of {
      try await Folds.fold(bench.folder("peers"), into: StateCount())
    }
    let events = Double(uploads * Lives.eventCount)
    let rates = [
      "single": events / single.wall, "batch": 10 * events / batch.wall,
      "fold": 21 * events / fold.cpu,
    ]
    let printed = try output(
      of: bench.folder("venv/bin/python3"),
      [bench.home + "/peers.py", bench.folder("peers-python"), String(uploads)])
    return printed.split(separator: "\n").compactMap { line in
      figure(line.split(separator: " ").map(String.init), rates)
    }
  }

  /// A line is: peer, work, events a second; or: peer, `missing`.
  private static func figure(_ words: [String], _ rates: [String: Double]) -> Figure? {
    if words.count == 2 {
      return Figure(
        name: "peer_\(words[0])", ours: "", baseline: "not installed", value: .nan)
    }
    guard words.count == 3, let rate = Double(words[2]), let ours = rates[words[1]] else {
      return nil
    }
    return Figure(
      name: "peer_\(words[0])_\(words[1])", ours: "\(grouped(Int64(ours))) events/s",
      baseline: "\(grouped(Int64(rate))) events/s", value: ours / rate)
  }
}
