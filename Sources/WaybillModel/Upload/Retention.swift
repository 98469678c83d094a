/// How long the events of an upload that has ended stay in the log.
///
/// An ended upload moves into an archive once nothing has been recorded of it for `age`, or earlier
/// where the log is over one of the other two bounds: then those that were added first go until it
/// is within. An upload that has not ended never moves.
public struct RetentionPolicy: Equatable, Sendable {
  /// How long after its newest event an ended upload stays, in seconds.
  public var ageSeconds: Int64
  /// How many events the log may hold.
  public var maximumEvents: Int64
  /// How many bytes the log may take in the database.
  public var maximumBytes: Int64

  /// Makes a policy; by default 30 days, a million events and 64 MiB.
  public init(
    ageSeconds: Int64 = 30 * 86_400, maximumEvents: Int64 = 1_000_000,
    maximumBytes: Int64 = 67_108_864
  ) {
    self.ageSeconds = max(ageSeconds, 0)
    self.maximumEvents = max(maximumEvents, 0)
    self.maximumBytes = max(maximumBytes, 0)
  }
}

/// How large a log is.
package struct LogSize: Equatable, Sendable {
  /// How many events it holds.
  package let events: Int64
  /// How many bytes of the database are in use.
  package let bytes: Int64

  /// Makes a size from its counts.
  package init(events: Int64, bytes: Int64) {
    self.events = events
    self.bytes = bytes
  }
}

/// One walk over ended uploads, in the order of adding, that says which of them leave the log.
package struct RetentionPass: Equatable, Sendable {
  private let policy: RetentionPolicy
  private let now: Timestamp
  /// Events still to go for the log to be within its bounds; an estimate where bytes are over.
  private var excess: Int64

  /// Starts a walk over a log of some size.
  package init(_ policy: RetentionPolicy, size: LogSize, now: Timestamp) {
    self.policy = policy
    self.now = now
    let overEvents = size.events - policy.maximumEvents
    let overBytes = size.bytes - policy.maximumBytes
    // Events are much alike in size, so a share of the bytes is the same share of the events.
    let share = overBytes > 0 ? Double(overBytes) / Double(size.bytes) : 0
    let shed = (Double(size.events) * share).rounded(.up)
    excess = max(overEvents, Int64(exactly: shed) ?? Int64.max, 0)
  }

  /// Whether an ended upload leaves the log.
  ///
  /// - Parameters:
  ///   - newest: when its newest event was recorded.
  ///   - removed: how many events leave with it.
  package mutating func takes(newest: Timestamp, removed: Int64) -> Bool {
    let age = min(policy.ageSeconds, Int64.max / 1000) * 1000
    let isOld = newest.microseconds <= now.adding(milliseconds: -age).microseconds
    guard isOld || excess > 0 else { return false }
    excess = max(excess - removed, 0)
    return true
  }
}

/// The file name of a trace segment, made from what `ledger.archived` says of it.
public struct SegmentName: Hashable, Sendable {
  /// How every name of a segment ends.
  public static let suffix = ".waybill.jsonl.lz4"

  /// The name, such as `1-880-3c3c3c3c3c3c3c3c.waybill.jsonl.lz4`; none of it comes from outside.
  public let text: String

  /// Whether a name is made as ours are; another file in the folder is none of ours.
  package static func isOne(_ name: String) -> Bool {
    guard name.hasSuffix(suffix) else { return false }
    let words = name.dropLast(suffix.count).split(separator: "-", omittingEmptySubsequences: false)
    return words.count == 3 && Int64(words[0]) != nil && Int64(words[1]) != nil
      && words[2].utf8.count == 16
  }

  /// The name of the segment that an event records.
  public init(_ archived: Archived) {
    self.init(first: archived.first, last: archived.last, digest: archived.digest)
  }

  /// The name of a segment from the positions it spans and the SHA-256 of the file.
  public init(first: GlobalPosition, last: GlobalPosition, digest: ContentHash) {
    text = "\(first.value)-\(last.value)-\(digest.description.prefix(16))\(SegmentName.suffix)"
  }
}

/// What of an ended stream stays in the log when the stream moves into an archive.
package enum ArchivedStream {
  /// How many events leave the log, from the first on; nil for a stream that has not ended.
  ///
  /// What ended it stays, and all that came after: it says what became of the bytes, and the stream
  /// goes on from there. The end as a duplicate does not name the bytes, so it stays from their
  /// hash on.
  package static func leavingCount(_ kinds: [EventKind?]) -> Int? {
    guard let end = kinds.firstIndex(where: { $0.map { isEnd($0) } ?? false }) else { return nil }
    guard kinds[end] == .uploadDeduplicated else { return end }
    return kinds[..<end].lastIndex(of: .uploadHashed) ?? end
  }

  private static func isEnd(_ kind: EventKind) -> Bool {
    switch kind {
    case .uploadCommitted, .uploadDeduplicated, .uploadCancelled: true
    default: false
    }
  }
}
