internal import CBaseline
internal import WaybillLedger
internal import WaybillModel

/// The two ledgers that what reads is measured on, each with 1,000 unfinished uploads: one with a
/// short history and one with a long one. Made once a run, when the first measurement asks.
actor Histories {
  static let unfinished = 1000
  private let short: (path: String, count: Int)
  private let long: (path: String, count: Int)
  private var made: Set<String> = []
  private var lives = Lives()

  init(work: String, isQuick: Bool) {
    short = (work + "/short", 10_000)
    long = (work + "/long", isQuick ? 100_000 : 1_000_000)
  }

  func shortPath() async throws -> String { try await path(short) }
  func longPath() async throws -> String { try await path(long) }

  private func path(_ history: (path: String, count: Int)) async throws -> String {
    guard made.insert(history.path).inserted else { return history.path }
    let ledger = try await Ledger.open(directory: history.path)
    var left = history.count - Histories.unfinished * Lives.unfinishedCount
    while left > 0 {
      let uploads = min(left / Lives.eventCount, 1000)
      left -= uploads * Lives.eventCount
      try await Appends.together(lives.many(uploads) { $0.ended() }, in: ledger)
    }
    let open = lives.many(Histories.unfinished) { $0.unfinished() }
    try await Appends.together(open, in: ledger)
    await ledger.close()
    return history.path
  }
}

/// Reading a whole log and saying where each upload stands.
enum Folds {
  static func fold(_ bench: Bench) async throws -> [Figure] {
    let path = try await bench.histories.longPath()
    var pairs = Pairs()
    var count = 0
    for _ in 0..<(bench.isQuick ? 3 : 5) {
      let states = StateCount()
      let ours = try await Elapsed.of { try await fold(path, into: states) }
      var other = baseline_states()
      let theirs = try await Elapsed.of {
        guard baseline_fold(path + "/ledger.sqlite", &other) else {
          throw BenchError("the baseline cannot fold \(path)")
        }
      }
      guard states.words[.committed] == Int(other.committed),
        states.words[.sending] == Int(other.sending)
      else { throw BenchError("the two folds differ: \(states.words) and \(other)") }
      count = Int(other.events)
      pairs.add(ours: ours.cpu, baseline: theirs.cpu)
    }
    return [pairs.figure("fold", count: count, unit: "events/s of CPU")]
  }

  static func fold(_ path: String, into states: StateCount) async throws {
    let reader = try await LedgerReader.open(path)
    try await reader.forEachUpload(at: try await reader.head()) { upload in
      if let word = upload.stateWord { states.words[word, default: 0] += 1 }
    }
    await reader.close()
  }
}

/// Uploads at each word; written by one fold, and read when that has ended.
final class StateCount: @unchecked Sendable {
  var words: [StateWord: Int] = [:]
}
