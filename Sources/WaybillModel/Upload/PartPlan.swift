/// How an upload is cut into parts: every part has `partSize` bytes, the last one has the rest.
public struct PartPlan: Equatable, Sendable {
  /// The most parts one upload may have.
  public static let maximumPartCount = 10_000
  /// The sizes a server may ask for: 64 KiB to 64 MiB. A single part may be any size below that.
  public static let partSizeRange: ClosedRange<Int64> = 65_536...67_108_864

  /// The length of the whole in bytes.
  public let byteCount: Int64
  /// The length of each part but the last in bytes.
  public let partSize: Int64
  /// How many parts there are; 0 for an empty file.
  public let partCount: Int

  /// Makes the plan for a length and a part size; nil when the two cannot be met within bounds.
  public init?(byteCount: Int64, partSize: Int64) {
    guard byteCount >= 0, PartPlan.partSizeRange.contains(partSize) else { return nil }
    let count = byteCount / partSize + (byteCount % partSize == 0 ? 0 : 1)
    guard count <= PartPlan.maximumPartCount else { return nil }
    self.byteCount = byteCount
    self.partSize = partSize
    partCount = Int(count)
  }

  /// The first byte of a part.
  public func offset(of part: PartNumber) -> Int64 { Int64(part.index) * partSize }

  /// The length of a part in bytes; 0 for a part that is not in the plan.
  public func byteCount(of part: PartNumber) -> Int64 {
    guard (0..<partCount).contains(part.index) else { return 0 }
    return min(partSize, byteCount - offset(of: part))
  }
}

/// A set of part numbers, kept as runs: a full upload of 10,000 parts is one run.
public struct PartSet: Equatable, Sendable {
  private var runs: [ClosedRange<Int>]

  /// Makes an empty set.
  public init() { runs = [] }

  /// Makes the set of the numbers in any order; repeated ones count once, and those that no part of
  /// any upload can have are left out.
  public init(_ numbers: [Int]) {
    runs = []
    for number in numbers.sorted() where (0..<PartPlan.maximumPartCount).contains(number) {
      if let last = runs.last, number <= last.upperBound + 1 {
        runs[runs.count - 1] = last.lowerBound...max(last.upperBound, number)
      } else {
        runs.append(number...number)
      }
    }
  }

  /// Makes the set of all parts of an upload with `count` parts.
  public init(all count: Int) { runs = count > 0 ? [0...(count - 1)] : [] }

  /// Reads the text form, such as `0-12,14`; nil for anything else. Runs are in order and apart.
  public init?(text: String) {
    runs = []
    guard !text.isEmpty else { return }
    for field in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = field.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
        first >= (runs.last.map { $0.upperBound + 2 } ?? 0), first <= last,
        last < PartPlan.maximumPartCount
      else { return nil }
      runs.append(first...last)
    }
  }

  /// The text form, such as `0-12,14`; empty for the empty set.
  public var text: String {
    runs.map { run in
      run.count == 1 ? "\(run.lowerBound)" : "\(run.lowerBound)-\(run.upperBound)"
    }.joined(separator: ",")
  }

  /// How many numbers are in the set.
  public var count: Int { runs.reduce(0) { $0 + $1.count } }

  /// Whether nothing is in the set.
  public var isEmpty: Bool { runs.isEmpty }

  /// Whether a part is in the set.
  public func contains(_ part: PartNumber) -> Bool {
    runs.contains { $0.contains(part.index) }
  }

  /// Whether every part of an upload with `count` parts is in the set.
  public func coversAll(_ count: Int) -> Bool { self == PartSet(all: count) }

  /// Whether nothing but parts of an upload with `count` parts is in the set.
  public func isWithin(_ count: Int) -> Bool { runs.allSatisfy { $0.upperBound < count } }
}
