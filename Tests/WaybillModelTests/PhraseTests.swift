import Testing
import WaybillModel
import WaybillTesting

/// Phrases become text in the language and the numbers of whoever reads them.
struct PhraseTests {
  private let sending = StateCopy(.sending(confirmed: 1500, inFlight: 20, total: 3_000_000)).detail

  @Test func `the default is English with decimal units, and moments in UTC`() {
    #expect(PhraseStyle.english.text(sending) == "1.5 kB of 3.0 MB confirmed, 20 B on the way")
    let waiting = StateCopy(.queued(Waiting(.retrying, until: Samples.time)))
    let timing = waiting.timing.map { PhraseStyle.english.text($0) }
    #expect(timing == "Next try not before 2026-11-29 01:29 UTC")
  }

  @Test func `an app gives its own words, numbers and moments`() {
    var style = PhraseStyle()
    style.translate = { key, english in
      key == "state.sending.detail" ? "Von %2$@ sind %1$@ bestätigt" : english
    }
    style.bytes = { "\($0) Byte" }
    #expect(style.text(sending) == "Von 3000000 Byte sind 1500 Byte bestätigt")
    style.moment = { _ in "gleich" }
    let waiting = StateCopy(.queued(Waiting(.offline, until: Samples.time)))
    #expect(waiting.label(style).hasSuffix("Next try not before gleich"))
  }

  @Test(arguments: ["%", "%%", "%3$", "%4$@", "%0$@", "100 %", "%1$", "%x$@", "%9$@ %"])
  func `what is no place of the phrase stays as it is written`(text: String) {
    var style = PhraseStyle()
    style.translate = { _, _ in text }
    #expect(style.text(sending) == text)
  }

  @Test func `an argument that looks like a place is not filled in again`() {
    var style = PhraseStyle()
    style.bytes = { _ in "%2$@" }
    #expect(style.text(sending) == "%2$@ of %2$@ confirmed, %2$@ on the way")
  }

  @Test(
    arguments: [
      (Int64.min, "0 B"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_949, "99.9 kB"),
      (99_950, "100 kB"), (4_194_304, "4.2 MB"), (Int64.max, "9.2 EB"),
    ] as [(Int64, String)])
  func `a length is written in decimal units`(length: Int64, text: String) {
    #expect(PhraseStyle.decimalUnits(length) == text)
  }

  @Test func `each notice tells its count, and nothing is told of nothing`() {
    #expect(PickNotice().isEmpty)
    let notice = PickNotice(alreadyUploaded: 3, unreadable: 2) + PickNotice(alreadyUploaded: 1)
    #expect(
      notice.phrases.map { PhraseStyle.english.text($0) } == [
        "4 already uploaded, skipped", "2 could not be read",
      ])
    let all = PickNotice(
      alreadyUploaded: 1, alreadyQueued: 2, unreadable: 3, withoutRoom: 4, notLookedAt: 5)
    #expect(all.phrases.map(\.arguments) == (1...5).map { [.count($0)] })
    #expect(
      all + all
        == PickNotice(
          alreadyUploaded: 2, alreadyQueued: 4, unreadable: 6, withoutRoom: 8, notLookedAt: 10))
  }

  @Test(arguments: ProblemKind.allCases)
  func `each kind of trouble says what is wrong and what to do`(kind: ProblemKind) {
    #expect(!kind.phrase.english.isEmpty && !kind.remedy.english.isEmpty)
    #expect(ProblemKind.allCases.filter { $0.phrase.english == kind.phrase.english } == [kind])
  }
}
