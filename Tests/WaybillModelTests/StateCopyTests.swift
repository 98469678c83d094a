import Testing
import WaybillModel
import WaybillTesting

/// What a screen says of an upload.
struct StateCopyTests {
  private static let moment = Samples.time

  /// One thing a screen can have to say, with the words for the golden file.
  struct Situation: Sendable, CustomTestStringConvertible {
    let words: String
    let state: UploadState?
    var waiting: Waiting?
    var since: Timestamp?

    var copy: StateCopy { StateCopy(state, waiting: waiting, verifyingSince: since) }
    var testDescription: String { words }
  }

  private static let waits: [(words: String, waiting: Waiting?)] =
    [("nothing", nil)]
    + Waiting.Reason.allCases.flatMap { reason in
      [
        (reason.rawValue, Waiting(reason)),
        ("\(reason.rawValue) until", Waiting(reason, until: moment)),
      ]
    }

  /// Every state with every reason of its own, each while nothing and while something holds up all.
  static let situations: [Situation] = {
    let states: [(String, UploadState?)] =
      [
        ("saved_locally", .savedLocally),
        ("sending", .sending(confirmed: 8_388_608, inFlight: 8_388_608, total: 20_000_000)),
        ("sending the most", .sending(confirmed: .max, inFlight: .max, total: .max)),
        ("verifying", .verifying), ("committed", .committed(Samples.remote)), ("cancelled", nil),
      ] + waits.map { ("queued for \($0.words)", .queued($0.waiting)) }
      + AttentionReason.allCases.map {
        ("needs_attention: \($0.rawValue)", .needsAttention($0, $0.nextActions))
      }
    return states.flatMap { words, state in
      waits.flatMap { held -> [Situation] in
        let situation = Situation(
          words: "\(words); all wait for \(held.words)", state: state, waiting: held.waiting)
        guard state == .verifying else { return [situation] }
        return [
          situation,
          Situation(
            words: situation.words + "; since", state: state, waiting: held.waiting, since: moment),
        ]
      }
    }
  }()

  @Test func `every state and reason has its words`() {
    let style = PhraseStyle.english
    var text = ""
    var before: StateCopy?
    for situation in Self.situations {
      let copy = situation.copy
      // What holds up all of them changes nothing about most states: that is said in one line.
      if copy == before {
        text += "\(situation.words): the same\n"
      } else if let waiting = situation.waiting, copy == StateCopy.waiting(waiting) {
        text += "\(situation.words): as if queued for it\n"
      } else {
        let next = copy.actions.map(\.rawValue).joined(separator: ", ")
        let lines = [
          situation.words, "title  \(style.text(copy.title))",
          "detail \(style.text(copy.detail))",
          "timing \(copy.timing.map { style.text($0) } ?? "-")",
          "next   \(next.isEmpty ? "-" : next)", "glyph  \(copy.glyph)", "label  \(copy.label())",
        ]
        text += lines.joined(separator: "\n  ") + "\n"
        before = copy
      }
    }
    Golden.check(text, against: "Tests/Golden/texts/states.txt")
  }

  @Test func `every text has its key and its English, for translators`() {
    let table = UploadTexts.all.map { "\($0.key) = \($0.english)" }.joined(separator: "\n")
    Golden.check(table + "\n", against: "Tests/Golden/texts/english.txt")
  }

  @Test func `each key stands once in the table, and the table has whatever is ever shown`() {
    let keys = UploadTexts.all.map(\.key)
    #expect(Set(keys).count == keys.count)
    let english = Dictionary(uniqueKeysWithValues: UploadTexts.all.map { ($0.key, $0.english) })
    for situation in Self.situations {
      let copy = situation.copy
      let shown =
        [copy.title, copy.detail] + [copy.timing].compactMap { $0 } + copy.actions.map(\.phrase)
      for phrase in shown { #expect(english[phrase.key] == phrase.english, "\(phrase.key)") }
    }
  }

  // Promise 3, cases E03, E08, invariant 29.
  @Test(arguments: situations)
  func `only what the server has committed is said to be safe`(situation: Situation) {
    let claims = [
      "available", "everywhere", "safe", "backed up", "uploaded", "done", "complete", "finish",
      "stored", "delivered", "arrived", "success", "100", "✓",
    ]
    let label = situation.copy.label().lowercased()
    let made = claims.filter { label.contains($0) }
    #expect(made.isEmpty == (situation.state?.word != .committed), "\(label): \(made)")
    // Nor does a shape say so: no other state has a mark that looks like it.
    #expect(
      situation.copy.glyph.contains("checkmark") == (situation.state?.word == .committed))
  }

  @Test(arguments: AttentionReason.allCases)
  func `whatever needs attention says why and what to do next`(reason: AttentionReason) {
    let copy = StateCopy(.needsAttention(reason, []))
    #expect(!copy.actions.isEmpty)
    #expect(copy.actions == reason.nextActions)
    let others = AttentionReason.allCases.filter { $0 != reason }
    #expect(!others.map(\.phrase.english).contains(copy.detail.english))
    for action in copy.actions {
      #expect(copy.label().contains(PhraseStyle.english.text(action.phrase)))
    }
    let own = StateCopy(.needsAttention(reason, [.askSupport]))
    #expect(own.actions == [.askSupport])
  }

  @Test func `states that differ have other words and other shapes`() {
    let kinds: [UploadState?] =
      [
        .savedLocally, .queued(nil), .sending(confirmed: 0, inFlight: 0, total: 0), .verifying,
        .committed(Samples.remote), .needsAttention(.refused, []), nil,
      ] + Waiting.Reason.allCases.map { .queued(Waiting($0)) }
    let copies = kinds.map { StateCopy($0) }
    #expect(Set(copies.map(\.glyph)).count == copies.count)
    #expect(Set(copies.map { $0.label() }).count == copies.count)
  }

  @Test func `each text fits 80 characters and is one line`() {
    let style = PhraseStyle.english
    var texts = UploadTexts.all.map { style.text($0) }
    for situation in Self.situations {
      let copy = situation.copy
      texts += [copy.title, copy.detail].map { style.text($0) }
      texts += [copy.timing].compactMap { $0 }.map { style.text($0) }
      #expect(copy.label().count <= 200, "\(copy.label())")
    }
    for text in texts {
      #expect(!text.isEmpty && text.count <= 80, "\(text.count): \(text)")
      #expect(!text.contains { $0.isNewline || $0 == "%" && !text.contains(" %") }, "\(text)")
    }
  }

  @Test func `what an upload waits for by itself goes before what all wait for`() {
    let paused = StateCopy(.queued(Waiting(.paused)), waiting: Waiting(.offline))
    #expect(paused.detail == Waiting.Reason.paused.phrase)
    let all = StateCopy(.queued(nil), waiting: Waiting(.offline))
    #expect(all == StateCopy.waiting(Waiting(.offline)))
    let sending = StateCopy(
      .sending(confirmed: 1, inFlight: 1, total: 2), waiting: Waiting(.credentials))
    #expect(sending.detail == Waiting.Reason.credentials.phrase)
  }
}
