/// What a screen says of one upload: honest words for its state, without colour.
///
/// It never says more than the evidence: only a committed upload is called available everywhere,
/// and what waits or needs a person says why.
public struct StateCopy: Equatable, Sendable {
  /// The state in one or two words.
  public let title: Phrase
  /// What is known, or why it waits, in a sentence.
  public let detail: Phrase
  /// Since when, or until when, where that is known.
  public let timing: Phrase?
  /// What a person can do, best first; empty where nothing needs to be done.
  public let actions: [NextAction]
  /// The name of an SF Symbol whose shape alone tells the state from the others.
  public let glyph: String

  init(
    _ title: Phrase, _ detail: Phrase, timing: Phrase? = nil, actions: [NextAction] = [],
    glyph: String
  ) {
    self.title = title
    self.detail = detail
    self.timing = timing
    self.actions = actions
    self.glyph = glyph
  }

  /// What is said of a state.
  ///
  /// - Parameters:
  ///   - state: the six-state view of the upload; nil once it was given up.
  ///   - waiting: what holds it up beside its own state: what holds up all of them, such as
  ///     `LedgerState.waiting`. It is said only of what is still to be sent or checked.
  ///   - verifyingSince: when the server last said something of its bytes, where it is verifying.
  public init(_ state: UploadState?, waiting: Waiting? = nil, verifyingSince: Timestamp? = nil) {
    switch state {
    case nil: self = .cancelled
    case .savedLocally: self = .savedLocally
    case .queued(let own): self = StateCopy.queued(own ?? waiting)
    case .sending(let confirmed, let inFlight, let total):
      self =
        waiting.map { StateCopy.waiting($0) }
        ?? .sending(confirmed: confirmed, inFlight: inFlight, total: total)
    case .verifying: self = .verifying(waiting, since: verifyingSince)
    case .committed: self = .committed
    case .needsAttention(let reason, let actions):
      self = .needsAttention(reason, actions.isEmpty ? reason.nextActions : actions)
    }
  }

  /// The whole of it for a screen reader: title, detail, timing, and what to do next.
  public func label(_ style: PhraseStyle = .english) -> String {
    let sentences = [title, detail, timing].compactMap { $0 }.map { style.text($0) }
    let next = actions.map { style.text($0.phrase) }.joined(separator: "; ")
    return (sentences + (next.isEmpty ? [] : [next])).joined(separator: ". ")
  }
}

extension StateCopy {
  static let savedLocally = StateCopy(
    Phrase("state.saved_locally.title", "Saved locally"),
    Phrase("state.saved_locally.detail", "A copy is on this device; nothing is sent yet"),
    glyph: "internaldrive")

  static let committed = StateCopy(
    Phrase("state.committed.title", "Available everywhere"),
    Phrase("state.committed.detail", "The server has stored it, and its checksum matches"),
    glyph: "checkmark.circle.fill")

  static let cancelled = StateCopy(
    Phrase("state.cancelled.title", "Cancelled"),
    Phrase("state.cancelled.detail", "Nothing more of it is sent"), glyph: "xmark.circle")

  static func queued(_ waiting: Waiting?) -> StateCopy {
    waiting.map { StateCopy.waiting($0) }
      ?? StateCopy(
        Phrase("state.queued.title", "Queued"),
        Phrase("state.queued.detail", "It is sent when its turn comes"), glyph: "clock")
  }

  /// What is said of an upload that waits, or of all of them where they wait for the same.
  public static func waiting(_ waiting: Waiting) -> StateCopy {
    guard waiting.reason != .paused else {
      return StateCopy(
        Phrase("state.paused.title", "Paused"), waiting.reason.phrase, glyph: waiting.reason.glyph)
    }
    return StateCopy(
      Phrase("state.waiting.title", "Waiting"), waiting.reason.phrase,
      timing: waiting.until.map {
        Phrase("state.waiting.timing", "Next try not before %1$@", .moment($0))
      }, glyph: waiting.reason.glyph)
  }

  static func sending(confirmed: Int64, inFlight: Int64, total: Int64) -> StateCopy {
    StateCopy(
      Phrase("state.sending.title", "Sending"),
      Phrase(
        "state.sending.detail", "%1$@ of %2$@ confirmed, %3$@ on the way", .bytes(confirmed),
        .bytes(total), .bytes(inFlight)), glyph: "arrow.up.circle")
  }

  static func verifying(_ waiting: Waiting?, since: Timestamp?) -> StateCopy {
    StateCopy(
      Phrase("state.verifying.title", "Verifying"),
      waiting?.reason.verifyingPhrase
        ?? Phrase("state.verifying.detail", "The server has everything and is checking it"),
      timing: since.map { Phrase("state.verifying.timing", "Since %1$@", .moment($0)) },
      glyph: "hourglass")
  }

  static func needsAttention(_ reason: AttentionReason, _ actions: [NextAction]) -> StateCopy {
    StateCopy(
      Phrase("state.needs_attention.title", "Needs attention"), reason.phrase, actions: actions,
      glyph: "exclamationmark.triangle.fill")
  }
}
