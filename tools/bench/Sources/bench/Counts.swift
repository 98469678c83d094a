internal import CBaseline
internal import WaybillLedger
internal import WaybillModel

/// What does not depend on the machine: syncs, transactions, prepared statements, allocations.
enum Counts {
  static func all(_ bench: Bench) async throws -> [Figure] {
    guard counters_are_exact() else {
      throw BenchError("counts need glibc: no other C library lets a program count its calls")
    }
    var lives = Lives()
    let path = bench.folder("counts")
    let ledger = try await Ledger.open(directory: path)
    try await Appends.one(lives.many(5) { $0.durable() }, in: ledger)
    var figures: [Figure] = []

    let few = lives.many(20) { $0.durable() }
    let single = try await count { try await Appends.one(few, in: ledger) }
    let appends = few.count * Lives.eventCount
    figures.append(figure("syncs_per_append", single.syncs, appends, "appends"))
    figures.append(figure("prepares_per_append", single.prepares, appends, "appends"))
    figures.append(figure("allocations_per_append", single.allocations, appends, "appends"))

    let callers = (0..<64).map { _ in lives.many(2) { $0.durable() } }
    let group = try await count { try await Appends.callers(callers, in: ledger) }
    figures.append(
      figure("commits_per_group_64", group.commits, 2 * Lives.eventCount, "groups of 64"))

    let many = lives.many(1000) { $0.ended() }
    let batch = try await count { try await Appends.together(many, in: ledger) }
    let events = many.count * Lives.eventCount
    figures.append(figure("commits_per_10k_batch", batch.commits, 1, "batch"))
    await ledger.close()

    let baseline = try await Baseline.made(in: bench.folder("counts-baseline"))
    let columns = BaselineColumns(lives.many(1000) { $0.ended() })
    let other = try await count {
      try baseline.append(columns, perTransaction: columns.count, withState: true)
    }
    figures.append(
      figure("allocations_per_event_batch", batch.allocations, events, "events")
        .beside("\(grouped(other.allocations)) in C"))

    let states = StateCount()
    try await Folds.fold(path, into: states)
    let fold = try await count { try await Folds.fold(path, into: states) }
    let uploads = states.words.values.reduce(0, +) / 2
    figures.append(
      figure("allocations_per_event_fold", fold.allocations, uploads * Lives.eventCount, "events"))
    return figures
  }

  private static func count(_ work: () async throws -> Void) async throws -> counters {
    counters_start()
    try await work()
    return counters_stop()
  }

  private static func figure(_ name: String, _ count: Int64, _ per: Int, _ unit: String) -> Figure {
    Figure(
      name: name, ours: "\(grouped(count)) in \(grouped(Int64(per))) \(unit)", baseline: "",
      value: Double(count) / Double(per))
  }
}
