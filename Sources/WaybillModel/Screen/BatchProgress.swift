/// How far the current batch of uploads is, by bytes: `23 of 50 · 61 %`.
///
/// A batch begins with the first upload that joins while no other can go on by itself, and takes in
/// everything that is added while it lasts. What needs a person stays in it from one batch to the
/// next; what was given up leaves it. Only the server's commits are counted as done, so 100 % is
/// reached with the last of them and never by bytes alone.
public struct BatchProgress: Equatable, Sendable {
  /// Uploads the server has committed.
  public private(set) var doneCount = 0
  /// All uploads of the batch.
  public private(set) var count = 0
  /// Uploads that cannot go on without a person.
  public private(set) var attentionCount = 0
  /// Bytes of all uploads of the batch.
  public private(set) var totalBytes: Int64 = 0
  /// Bytes the server acknowledged.
  public private(set) var confirmedBytes: Int64 = 0
  /// Bytes the server acknowledged, and bytes of parts in flight that were handed to the network.
  public private(set) var sentBytes: Int64 = 0
  /// Ten-thousandths of the way, from 0 to 10,000.
  private var share: Int64 = 0

  /// No upload.
  public init() {}

  /// Whether there is a batch and the server has committed all of it.
  public var isDone: Bool { count > 0 && doneCount == count }

  /// How far the bytes are, from 0 to 1; 1 only when `isDone`.
  ///
  /// It does not go back while a failed part is sent again. It does when the server takes back what
  /// it had confirmed, and when uploads join or leave the batch.
  public var fraction: Double { Double(share) / Double(BatchProgress.whole) }

  /// `fraction` in hundredths, rounded down.
  public var percent: Int { Int(share / 100) }

  /// The line above a list: `23 of 50 · 61 %`.
  public var phrase: Phrase {
    guard count > 0 else { return Phrase("progress.none", "Nothing is waiting to be sent") }
    return Phrase(
      "progress.batch", "%1$@ of %2$@ · %3$@", .count(Int64(doneCount)), .count(Int64(count)),
      .percent(percent))
  }

  /// How many need a person; nil when none does.
  public var attentionPhrase: Phrase? {
    guard attentionCount > 0 else { return nil }
    return Phrase("progress.attention", "Needs attention: %1$@", .count(Int64(attentionCount)))
  }

  static let phrases: [Phrase] = {
    var some = BatchProgress()
    some.count = 1
    some.attentionCount = 1
    return [BatchProgress().phrase, some.phrase] + [some.attentionPhrase].compactMap { $0 }
  }()

  private static let whole: Int64 = 10_000
  /// As far as bytes alone lead.
  private static let most: Int64 = 9900
}

extension BatchProgress {
  fileprivate mutating func add(_ share: UploadShare, _ sign: Int) {
    count += sign
    doneCount += share.standing == .done ? sign : 0
    attentionCount += share.standing == .attention ? sign : 0
    totalBytes &+= share.totalBytes * Int64(sign)
    confirmedBytes &+= share.confirmedBytes * Int64(sign)
    sentBytes &+= share.sentBytes * Int64(sign)
  }

  /// What is done is no part of a new batch.
  fileprivate mutating func dropDone(_ bytes: Int64) {
    count -= doneCount
    doneCount = 0
    totalBytes &-= bytes
    confirmedBytes &-= bytes
    sentBytes &-= bytes
  }

  /// Works out how far the bytes are.
  ///
  /// - Parameter holds: whether it stays where it was when it would go back.
  fileprivate mutating func settle(holds: Bool) {
    guard !isDone else { return share = BatchProgress.whole }
    var now: Int64 = 0
    if totalBytes > 0 {
      let sent = min(max(0, sentBytes), totalBytes)
      let parts = sent.multipliedFullWidth(by: BatchProgress.whole)
      now = min(totalBytes.dividingFullWidth(parts).quotient, BatchProgress.most)
    }
    share = holds ? max(now, min(share, BatchProgress.most)) : now
  }
}

/// What one upload adds to the progress of its batch.
package struct UploadShare: Equatable, Sendable {
  /// Whether an upload still has a way to go.
  package enum Standing: Equatable, Sendable {
    /// It goes on, or waits to.
    case open
    /// A person has to decide.
    case attention
    /// The server has committed it.
    case done
  }

  package let standing: Standing
  package let totalBytes: Int64
  /// At most `totalBytes`.
  package let confirmedBytes: Int64
  /// At least `confirmedBytes`, at most `totalBytes`.
  package let sentBytes: Int64

  /// Makes a share; byte counts are held within each other.
  package init(_ standing: Standing, total: Int64, confirmed: Int64, sent: Int64) {
    self.standing = standing
    totalBytes = max(0, total)
    let isDone = standing == .done
    confirmedBytes = isDone ? totalBytes : min(max(0, confirmed), totalBytes)
    sentBytes = isDone ? totalBytes : min(max(sent, confirmedBytes), totalBytes)
  }

  /// The share of an upload in some state; nil once it was given up.
  package init?(_ state: UploadState?, total: Int64, confirmed: Int64, sent: Int64) {
    switch state {
    case nil: return nil
    case .committed: self.init(.done, total: total, confirmed: total, sent: total)
    case .needsAttention:
      self.init(.attention, total: total, confirmed: confirmed, sent: sent)
    case .savedLocally, .queued, .sending, .verifying:
      self.init(.open, total: total, confirmed: confirmed, sent: sent)
    }
  }
}

/// Keeps the progress of the current batch while its uploads change, one by one.
///
/// It knows sums only: whoever keeps the uploads keeps the share each of them had, and in which
/// batch it was counted.
package struct BatchTally: Sendable {
  /// How far the batch is, as of the last `settle`.
  package private(set) var progress = BatchProgress()
  private var sums = BatchProgress()
  private var doneBytes: Int64 = 0
  private var batch = 0
  private var holds = true

  package init() {}

  private var openCount: Int { sums.count - sums.doneCount - sums.attentionCount }
  /// Whether the next upload that joins begins a batch.
  private var mayBegin = true

  /// Takes the change of one upload.
  ///
  /// - Parameters:
  ///   - before: the share it had; nil for one that was not known.
  ///   - after: the share it has; nil for one that was given up or has left the ledger.
  ///   - counted: the batch it was last counted in; nil for one that never was.
  ///   - isReplay: whether this tells how things stand rather than what is new. What is done then,
  ///     and was not known, was done before the batch began.
  package mutating func take(
    from before: UploadShare?, to after: UploadShare?, counted: inout Int?, isReplay: Bool = false
  ) {
    // What is not done is in every batch until it is.
    let isMember = counted != nil && (before?.standing != .done || counted == batch)
    guard isMember, let before else {
      guard before == nil, let after, !(isReplay && after.standing == .done) else { return }
      if mayBegin, after.standing != .attention { begin() }
      holds = false
      counted = batch
      return add(after, 1)
    }
    guard before != after else { return }
    if (after?.confirmedBytes ?? -1) < before.confirmedBytes { holds = false }
    add(before, -1)
    if let after {
      counted = batch
      add(after, 1)
    } else {
      counted = nil
    }
  }

  /// Ends a run of changes that belong together: `progress` tells of them.
  package mutating func settle() {
    sums.settle(holds: holds)
    progress = sums
    holds = true
    mayBegin = openCount == 0
  }

  private mutating func begin() {
    batch += 1
    mayBegin = false
    sums.dropDone(doneBytes)
    doneBytes = 0
  }

  private mutating func add(_ share: UploadShare, _ sign: Int) {
    if share.standing == .done { doneBytes &+= share.totalBytes * Int64(sign) }
    sums.add(share, sign)
  }
}
