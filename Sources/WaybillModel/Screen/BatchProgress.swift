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

/// What one upload adds to the progress of its batch.
public struct UploadShare: Equatable, Sendable {
  /// Whether an upload still has a way to go.
  public enum Standing: Equatable, Sendable {
    /// It goes on, or waits to.
    case open
    /// A person has to decide.
    case attention
    /// The server has committed it.
    case done
  }

  /// How it stands.
  public let standing: Standing
  /// Its length in bytes.
  public let totalBytes: Int64
  /// Bytes the server acknowledged, at most `totalBytes`.
  public let confirmedBytes: Int64
  /// Acknowledged bytes and those on the way, at least `confirmedBytes`, at most `totalBytes`.
  public let sentBytes: Int64

  /// Makes a share; byte counts are held within each other.
  public init(_ standing: Standing, total: Int64, confirmed: Int64, sent: Int64) {
    self.standing = standing
    totalBytes = max(0, total)
    let isDone = standing == .done
    confirmedBytes = isDone ? totalBytes : min(max(0, confirmed), totalBytes)
    sentBytes = isDone ? totalBytes : min(max(sent, confirmedBytes), totalBytes)
  }

  /// The share of an upload in some state; nil once it was given up.
  public init?(_ state: UploadState?, total: Int64, confirmed: Int64, sent: Int64) {
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
public struct BatchTally: Sendable {
  /// How far the batch is.
  public private(set) var progress = BatchProgress()
  private var members: [UploadID: UploadShare] = [:]
  private var openCount = 0

  /// Nothing is known of any upload.
  public init() {}

  /// Takes changes that belong together.
  ///
  /// Complexity: of the order of the changes; with the first upload of a new batch, of the order of
  /// the batch that is over.
  ///
  /// - Parameters:
  ///   - changes: uploads, each with its share now; nil for one that was given up or has left the
  ///     ledger.
  ///   - isReplay: whether they tell how things stand rather than what is new. What is done then,
  ///     and was not seen before, was done before the batch began.
  public mutating func take(
    _ changes: [(upload: UploadID, share: UploadShare?)], isReplay: Bool = false
  ) {
    var holds = true
    var mayBegin = openCount == 0
    for (upload, share) in changes {
      guard let member = members[upload] else {
        guard let share, !(isReplay && share.standing == .done) else { continue }
        if mayBegin, share.standing != .attention {
          begin()
          mayBegin = false
        }
        holds = false
        members[upload] = share
        count(share, 1)
        continue
      }
      guard share != member else { continue }
      if (share?.confirmedBytes ?? -1) < member.confirmedBytes { holds = false }
      count(member, -1)
      members[upload] = share
      if let share { count(share, 1) }
    }
    progress.settle(holds: holds)
  }

  /// Drops what is done: a new batch has none of it.
  private mutating func begin() {
    for (upload, share) in members where share.standing == .done {
      count(share, -1)
      members[upload] = nil
    }
  }

  private mutating func count(_ share: UploadShare, _ sign: Int) {
    if share.standing == .open { openCount += sign }
    progress.add(share, sign)
  }
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
