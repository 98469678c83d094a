/// One item of a live board.
struct BoardRow: Sendable, Equatable {
  /// Tells the row from others; it stays the same from update to update.
  let id: Int
  /// The name, already escaped.
  let name: String
  var state: ItemState
  /// Bytes that count as there, of all bytes.
  var done: Int64
  var total: Int64
}

/// The state of an item in the words of the six-state view, for people.
enum ItemState: Sendable, Equatable {
  case savedLocally
  case queued
  /// What it waits for, such as `Wi-Fi`.
  case waiting(String)
  case sending
  case verifying
  case committed
  /// The reason, if a few words say it.
  case needsAttention(String?)
  case deduplicated
  case cancelled

  /// The word, never left to colour or glyph alone.
  var word: String {
    switch self {
    case .savedLocally: "saved locally"
    case .queued: "queued"
    case .waiting(let reason): "waiting: \(reason)"
    case .sending: "sending"
    case .verifying: "verifying"
    case .committed: "committed"
    case .needsAttention(let reason): reason.map { "attention: \($0)" } ?? "needs attention"
    case .deduplicated: "already there"
    case .cancelled: "cancelled"
    }
  }

  /// One cell that says the same.
  func glyph(_ glyphs: Glyphs) -> String {
    let (unicode, ascii) =
      switch self {
      case .savedLocally: ("○", "o")
      case .queued: ("·", ".")
      case .waiting: ("‖", "=")
      case .sending: ("↑", "^")
      case .verifying: ("≈", "~")
      case .committed: ("✓", "+")
      case .needsAttention: ("!", "!")
      case .deduplicated: ("✓", "+")
      case .cancelled: ("×", "x")
      }
    return glyphs.isUnicode ? unicode : ascii
  }

  /// How the word and the bar look.
  var style: Style {
    switch self {
    case .savedLocally, .queued, .cancelled: .quiet
    case .waiting: .caution
    case .sending, .verifying: .active
    case .committed, .deduplicated: .good
    case .needsAttention: .bad
    }
  }

  /// Whether nothing of it is on its way yet.
  var isBeforeSending: Bool {
    switch self {
    case .savedLocally, .queued, .waiting: true
    case .sending, .verifying, .committed, .needsAttention, .deduplicated, .cancelled: false
    }
  }

  /// Which rows stay when not all fit: lower ones do.
  var rank: Int {
    switch self {
    case .sending, .verifying: 0
    case .needsAttention: 1
    case .waiting: 2
    case .savedLocally, .queued: 3
    case .committed, .deduplicated, .cancelled: 4
    }
  }
}

/// What the line under the rows counts.
struct BoardTotals: Sendable, Equatable {
  /// Items that have come to a good end.
  var doneCount = 0
  var count = 0
  var bytesDone: Int64 = 0
  var bytesTotal: Int64 = 0
  /// Nil until it can be told.
  var bytesPerSecond: Int64?
  var attentionCount = 0

  /// `23 of 50 · 61 % · 12.4 MB/s · 2 need attention` in at most `width` cells: what matters
  /// least is left off first.
  func line(_ glyphs: Glyphs, width: Int = .max) -> String {
    let counts = "\(doneCount) of \(count)"
    let share = HumanText.percentage(bytesDone, of: bytesTotal, glyphs: glyphs)
    let rate = bytesPerSecond.map(HumanText.rate)
    let attention =
      attentionCount > 0
      ? "\(attentionCount) \(attentionCount == 1 ? "needs" : "need") attention" : nil
    let choices = [
      [counts, share, rate, attention], [counts, share, attention], [counts, share, rate],
      [counts, share], [share],
    ].map { $0.compactMap(\.self).joined(separator: glyphs.separator) }
    return choices.first { TextWidth.cells($0) <= width }
      ?? TextWidth.fit(share, width, ellipsis: glyphs.ellipsis)
  }
}

/// Bytes a second over the last few seconds.
struct RateMeter: Sendable {
  private static let window = Duration.seconds(5)
  private static let mostSamples = 64
  private var samples: [(at: Duration, bytes: Int64)] = []

  /// Takes a running total at a moment of a clock that never goes back.
  mutating func add(_ bytes: Int64, at moment: Duration) {
    samples.append((moment, bytes))
    while samples.count > 2, moment - samples[1].at >= RateMeter.window { samples.removeFirst() }
    if samples.count > RateMeter.mostSamples { samples.removeFirst() }
  }

  /// The rate; nil before there is half a second to tell it from.
  var bytesPerSecond: Int64? {
    guard let first = samples.first, let last = samples.last else { return nil }
    let elapsed = last.at - first.at
    guard elapsed >= .milliseconds(500) else { return nil }
    let (seconds, attoseconds) = elapsed.components
    let length = Double(seconds) + Double(attoseconds) / 1e18
    return Int64(Double(max(0, last.bytes - first.bytes)) / length)
  }
}
