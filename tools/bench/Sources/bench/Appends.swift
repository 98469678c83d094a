internal import WaybillLedger
internal import WaybillModel

/// Durable appends beside a C program that inserts into the same table.
enum Appends {
  /// One caller, one event a transaction.
  static func single(_ bench: Bench) async throws -> [Figure] {
    let uploads = bench.isQuick ? 20 : 60
    let ledger = try await Ledger.open(directory: bench.folder("single"))
    let baseline = try await Baseline.made(in: bench.folder("single-baseline"))
    var lives = Lives()
    var pairs = Pairs()
    for round in 0...bench.pairCount {
      let (own, other) = (
        lives.many(uploads) { $0.durable() }, lives.many(uploads) { $0.durable() }
      )
      let columns = BaselineColumns(other)
      let ours = try await Elapsed.of { try await one(own, in: ledger) }
      let theirs = try await Elapsed.of {
        try baseline.append(columns, perTransaction: 1, withState: false)
      }
      // The first round fills caches and files.
      if round > 0 { pairs.add(ours: ours.wall, baseline: theirs.wall) }
    }
    await ledger.close()
    return [pairs.figure("append_single", count: uploads * Lives.eventCount, unit: "events/s")]
  }

  /// All that is at hand in one transaction: 1,000 uploads of ten events.
  static func batch(_ bench: Bench) async throws -> [Figure] {
    let uploads = bench.isQuick ? 200 : 1000
    let ledger = try await Ledger.open(directory: bench.folder("batch"))
    let baseline = try await Baseline.made(in: bench.folder("batch-baseline"))
    var lives = Lives()
    var pairs = Pairs()
    for round in 0...bench.pairCount {
      let (own, other) = (lives.many(uploads) { $0.ended() }, lives.many(uploads) { $0.ended() })
      let columns = BaselineColumns(other)
      let ours = try await Elapsed.of { try await together(own, in: ledger) }
      let theirs = try await Elapsed.of {
        try baseline.append(columns, perTransaction: columns.count, withState: true)
      }
      if round > 0 { pairs.add(ours: ours.wall, baseline: theirs.wall) }
    }
    await ledger.close()
    return [pairs.figure("append_batch", count: uploads * Lives.eventCount, unit: "events/s")]
  }

  static func group64(_ bench: Bench) async throws -> [Figure] {
    try await group(bench, callers: 64, uploads: bench.isQuick ? 1 : 3)
  }

  static func group256(_ bench: Bench) async throws -> [Figure] {
    try await group(bench, callers: 256, uploads: 1)
  }

  /// Many callers, each waiting for its own event before it appends the next; beside a plain insert
  /// of 100 events a transaction, and beside one caller alone.
  private static func group(
    _ bench: Bench, callers: Int, uploads: Int
  ) async throws -> [Figure] {
    let name = "append_group_\(callers)"
    let ledger = try await Ledger.open(directory: bench.folder(name))
    let baseline = try await Baseline.made(in: bench.folder("\(name)-baseline"))
    var lives = Lives()
    var pairs = Pairs()
    var gains: [Double] = []
    var baselineGains: [Double] = []
    let count = callers * uploads * Lives.eventCount
    for round in 0...bench.pairCount {
      let own = (0..<callers).map { _ in lives.many(uploads) { $0.durable() } }
      let columns = BaselineColumns(lives.many(callers * uploads) { $0.durable() })
      let few = lives.many(20) { $0.durable() }
      let ours = try await Elapsed.of { try await Appends.callers(own, in: ledger) }
      let theirs = try await Elapsed.of {
        try baseline.append(columns, perTransaction: 100, withState: false)
      }
      let one = try await Elapsed.of { try await Appends.one(few, in: ledger) }
      let alone = BaselineColumns(lives.many(20) { $0.durable() })
      let theirsAlone = try await Elapsed.of {
        try baseline.append(alone, perTransaction: 1, withState: false)
      }
      guard round > 0 else { continue }
      let grouped = Double(columns.count) / theirs.wall
      baselineGains.append(grouped / (Double(alone.count) / theirsAlone.wall))
      pairs.add(ours: ours.wall, baseline: theirs.wall)
      gains.append(Double(count) / ours.wall / (Double(few.count * Lives.eventCount) / one.wall))
    }
    await ledger.close()
    return [
      pairs.figure(name, count: count, unit: "events/s"),
      Figure(
        name: "\(name)_gain", ours: "\(decimal(median(gains), 1)) × one caller",
        baseline: "\(decimal(median(baselineGains), 1)) × one a transaction",
        value: median(gains)),
    ]
  }

  /// Each event by itself, one after the other.
  static func one(_ lives: [Lives.Life], in ledger: Ledger) async throws {
    for life in lives {
      for (revision, event) in life.events.enumerated() {
        try await ledger.append(
          [event], to: life.upload, expecting: .exactly(StreamRevision(Int64(revision))))
      }
    }
  }

  /// All uploads at once, each with all its events.
  static func together(_ lives: [Lives.Life], in ledger: Ledger) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for life in lives {
        group.addTask {
          try await ledger.append(life.events, to: life.upload, expecting: .none)
        }
      }
      try await group.waitForAll()
    }
  }

  /// Each caller goes through its own uploads event by event.
  static func callers(_ lives: [[Lives.Life]], in ledger: Ledger) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for own in lives {
        group.addTask { try await one(own, in: ledger) }
      }
      try await group.waitForAll()
    }
  }
}

extension Lives {
  mutating func many(_ count: Int, _ next: (inout Lives) -> Life) -> [Life] {
    (0..<count).map { _ in next(&self) }
  }
}
