import Testing
import WaybillModel
import WaybillTesting

/// How far a batch is.
struct BatchProgressTests {
  /// A tally and the uploads it counts, by number.
  private struct Batch {
    private var tally = BatchTally()
    private var shares: [Int: UploadShare] = [:]
    private var counted: [Int: Int] = [:]
    var progress: BatchProgress { tally.progress }

    mutating func take(_ changes: [(Int, UploadShare?)], isReplay: Bool = false) {
      for (number, share) in changes {
        tally.take(
          from: shares[number], to: share, counted: &counted[number], isReplay: isReplay)
        shares[number] = share
      }
      tally.settle()
    }
  }

  private func open(_ sent: Int64, of total: Int64 = 100, confirmed: Int64 = 0) -> UploadShare {
    UploadShare(.open, total: total, confirmed: confirmed, sent: sent)
  }

  private func done(_ total: Int64 = 100) -> UploadShare {
    UploadShare(.done, total: total, confirmed: 0, sent: 0)
  }

  private func line(_ tally: Batch) -> String {
    PhraseStyle.english.text(tally.progress.phrase)
  }

  @Test func `progress is counted in uploads and told in bytes`() {
    var tally = Batch()
    #expect(line(tally) == "Nothing is waiting to be sent")
    #expect(!tally.progress.isDone && tally.progress.fraction == 0)
    tally.take((1...50).map { ($0, open(0)) })
    #expect(line(tally) == "0 of 50 · 0 %")
    tally.take((1...23).map { ($0, done()) } + [(24, open(100, confirmed: 50))])
    #expect(line(tally) == "23 of 50 · 48 %")
    #expect(tally.progress.confirmedBytes == 2350)
    #expect(tally.progress.sentBytes == 2400)
    #expect(tally.progress.totalBytes == 5000)
  }

  // Cases E03, E04, E08: bytes alone never make 100 %.
  @Test func `all bytes sent is 99 percent until the last commit`() {
    var tally = Batch()
    tally.take([(1, open(100, confirmed: 100)), (2, open(100, confirmed: 100))])
    #expect(line(tally) == "0 of 2 · 99 %")
    tally.take([(1, done())])
    #expect(line(tally) == "1 of 2 · 99 %")
    #expect(!tally.progress.isDone && tally.progress.fraction < 1)
    tally.take([(2, done())])
    #expect(line(tally) == "2 of 2 · 100 %")
    #expect(tally.progress.isDone && tally.progress.fraction == 1)
  }

  // Case D01.
  @Test func `a batch of empty files goes from nothing to all`() {
    var tally = Batch()
    tally.take([(1, open(0, of: 0)), (2, open(0, of: 0))])
    #expect(line(tally) == "0 of 2 · 0 %")
    tally.take([(1, done(0))])
    #expect(line(tally) == "1 of 2 · 0 %")
    tally.take([(2, done(0))])
    #expect(line(tally) == "2 of 2 · 100 %")
  }

  // Case E01: a part that fails at 60 % twice.
  @Test func `a part that is sent again does not move it back`() {
    var tally = Batch()
    tally.take([(1, open(0))])
    var seen: [Int] = []
    for sent: Int64 in [30, 60, 0, 20, 60, 0, 50, 90, 100] {
      tally.take([(1, open(sent))])
      seen.append(tally.progress.percent)
    }
    #expect(seen == [30, 60, 60, 60, 60, 60, 60, 90, 99])
    #expect(tally.progress.sentBytes == 100)
  }

  @Test func `it goes back when the server takes back what it had confirmed`() {
    var tally = Batch()
    tally.take([(1, open(80, confirmed: 80))])
    tally.take([(1, open(10, confirmed: 0))])
    #expect(tally.progress.percent == 10)
  }

  @Test func `uploads that join or leave are counted at once`() {
    var tally = Batch()
    tally.take([(1, open(50)), (2, open(50))])
    tally.take([(3, open(0)), (4, open(0))])
    #expect(line(tally) == "0 of 4 · 25 %")
    tally.take([(3, nil), (4, nil), (9, nil)])
    #expect(line(tally) == "0 of 2 · 50 %")
  }

  @Test func `what was done before is no part of the batch, what was added meanwhile is`() {
    var tally = Batch()
    tally.take([(1, done()), (2, open(0)), (3, nil)], isReplay: true)
    #expect(line(tally) == "0 of 1 · 0 %")
    // Small files can be added and committed between two looks.
    tally.take([(4, done()), (5, done())])
    #expect(line(tally) == "2 of 3 · 66 %")
    // Told again, gone for good: both change nothing for what was done before.
    tally.take([(1, done()), (4, done())])
    #expect(line(tally) == "2 of 3 · 66 %")
    tally.take([(1, nil)])
    #expect(line(tally) == "2 of 3 · 66 %")
  }

  @Test func `a new batch begins with the first upload that joins when all is over`() {
    var tally = Batch()
    tally.take([(1, done()), (2, done())])
    #expect(line(tally) == "2 of 2 · 100 %")
    tally.take([(3, open(0))])
    #expect(line(tally) == "0 of 1 · 0 %")
    // What happens to uploads of the batch before is nothing to this one.
    tally.take([(1, done()), (2, nil)])
    #expect(line(tally) == "0 of 1 · 0 %")
    tally.take([(3, done())])
    #expect(line(tally) == "1 of 1 · 100 %")
    tally.take([(3, nil)])
    #expect(line(tally) == "Nothing is waiting to be sent")
  }

  @Test func `what needs a person stays in the next batch and keeps it from 100 percent`() {
    var tally = Batch()
    let stuck = UploadShare(.attention, total: 100, confirmed: 100, sent: 100)
    tally.take([(1, open(0)), (2, open(0))])
    tally.take([(1, done()), (2, stuck)])
    #expect(line(tally) == "1 of 2 · 99 %")
    #expect(
      tally.progress.attentionPhrase.map { PhraseStyle.english.text($0) }
        == "Needs attention: 1")
    tally.take([(3, open(0))])
    #expect(line(tally) == "0 of 2 · 50 %")
    tally.take([(3, done())])
    #expect(!tally.progress.isDone)
    // A person tries again: the same batch goes on.
    tally.take([(2, open(100, confirmed: 100))])
    tally.take([(2, done())])
    #expect(line(tally) == "2 of 2 · 100 %")
    #expect(tally.progress.attentionPhrase == nil)
  }

  @Test func `sizes that no disk has do no harm`() {
    var tally = Batch()
    tally.take([(1, open(.max, of: .max)), (2, open(.max, of: .max))])
    #expect((0..<1).contains(tally.progress.fraction))
    tally.take([(1, nil), (2, open(.min, of: .min))])
    #expect(tally.progress.percent == 0)
    tally.take([(2, open(.max, of: .max))])
    #expect(tally.progress.percent == 99)
  }

  // Cases E01, E05, E07 and invariant 29, over random lives of many uploads.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `whatever happens, it is bounded, told as it is, and full only at the end`(number: UInt64) {
    var seed = Seed(number)
    var tally = Batch()
    var shares: [Int: UploadShare] = [:]
    for _ in 0..<300 {
      let before = tally.progress
      let isMembershipFixed = seed.once(in: 3)
      let upload =
        isMembershipFixed && !shares.isEmpty
        ? shares.keys.sorted()[seed.below(shares.count)] : seed.below(12)
      let old = shares[upload]
      guard old?.standing != .done else { continue }
      let total = old?.totalBytes ?? Int64(seed.below(1000))
      let confirmed = Int64(seed.below(1000))
      var new: UploadShare? = UploadShare(
        seed.once(in: 8) ? .attention : .open, total: total, confirmed: confirmed,
        sent: confirmed + Int64(seed.below(500)))
      if seed.once(in: 6) { new = UploadShare(.done, total: total, confirmed: 0, sent: 0) }
      if seed.once(in: 10) { new = nil }
      tally.take([(upload, new)])
      shares[upload] = new
      let progress = tally.progress
      #expect((0...1).contains(progress.fraction))
      #expect((progress.fraction == 1) == progress.isDone)
      #expect(progress.doneCount <= progress.count)
      #expect(progress.confirmedBytes <= progress.sentBytes)
      #expect(progress.sentBytes <= progress.totalBytes)
      let live = shares.values.filter { $0.standing != .done }
      #expect(progress.count - progress.doneCount == live.count)
      #expect(progress.isDone == (live.isEmpty && progress.count > 0))
      let isTakenBack = (new?.confirmedBytes ?? -1) < (old?.confirmedBytes ?? -1)
      if old != nil, new != nil, !isTakenBack { #expect(progress.fraction >= before.fraction) }
    }
  }
}
