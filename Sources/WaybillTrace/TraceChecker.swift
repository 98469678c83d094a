internal import WaybillHash
internal import WaybillModel

/// What the lines of one trace must say together: order, revisions, chain, count and digest.
///
/// It holds the chain, a few numbers and `StreamRevisions`, however long the trace is.
final class TraceChecker {
  let header: TraceHeader
  private(set) var eventCount: Int64 = 0
  private(set) var first: GlobalPosition?
  private(set) var last: GlobalPosition?
  private var chain = EventChain(value: .zero)
  /// The chain value before the event that was taken last.
  private(set) var chainBefore = ContentHash.zero
  /// The chain value that stood with the last event, once it has been found right.
  private var statedChain: ContentHash?
  private var revisions = StreamRevisions()

  init(header: TraceHeader) { self.header = header }

  /// Checks the next event, and remembers it when it is right.
  func take(_ line: borrowing EventLine) throws(LineProblem) {
    let position = line.event.position
    if let last, position <= last {
      throw LineProblem(
        .wrongPosition, "position \(position.value) does not come behind \(last.value)")
    }
    guard let from = header.first, let to = header.last, from <= position, position <= to else {
      throw LineProblem(
        .wrongPosition, "position \(position.value) lies outside the range the header names")
    }
    if header.isChained { try takeChain(line) }
    let revision = line.event.revision.value
    if let known = revisions.last(of: line.event.upload), revision != known &+ 1 {
      throw LineProblem(
        .revisionGap, "revision \(revision) of a stream comes behind \(known)")
    }
    revisions.set(revision, of: line.event.upload)
    if first == nil { first = position }
    last = position
    eventCount += 1
  }

  /// Checks the footer; `digest` is what the lines really give.
  func take(_ footer: FooterLine, digest: ContentHash) throws(LineProblem) {
    if header.isChained, eventCount > 0 { try endRun() }
    guard footer.count == eventCount, footer.last == last else {
      throw LineProblem(
        .wrongCount, "the footer counts \(footer.count) events, and there are \(eventCount)")
    }
    guard footer.digest == digest else {
      throw LineProblem(.wrongDigest, "the lines have another SHA-256 than the footer says")
    }
  }

  private func takeChain(_ line: borrowing EventLine) throws(LineProblem) {
    let goesOn = last.map { $0.value &+ 1 == line.event.position.value } ?? false
    if goesOn {
      guard statedChain == nil, line.chainBefore == nil else {
        throw LineProblem(.chainMismatch, "a chain value stands within a run of positions")
      }
    } else {
      if last != nil { try endRun() }
      guard let before = line.chainBefore else { throw .missing(.chainBefore) }
      guard line.event.position.value != 1 || before == .zero else {
        throw LineProblem(.chainMismatch, "the chain before the first position is not zero")
      }
      chain.reset(to: before)
    }
    chainBefore = chain.value
    let value = chain.advance(over: line.event)
    if let stated = line.chain, stated != value {
      throw LineProblem(.chainMismatch, "the events of this run give another chain value")
    }
    statedChain = line.chain
  }

  private func endRun() throws(LineProblem) {
    if statedChain == nil {
      throw LineProblem(.chainMismatch, "the run of positions before this line has no chain value")
    }
  }
}

/// The last revision of each stream that was met lately.
///
/// A trace may hold more streams than memory, so only the newest are remembered, at least 32,768 of
/// them (about 3 MiB). A gap in a stream that was silent for longer is left to the chain.
struct StreamRevisions {
  private static let bound = 32_768

  private var young: [UploadID?: Int64] = [:]
  private var old: [UploadID?: Int64] = [:]

  func last(of stream: UploadID?) -> Int64? { young[stream] ?? old[stream] }

  mutating func set(_ revision: Int64, of stream: UploadID?) {
    young[stream] = revision
    guard young.count == StreamRevisions.bound else { return }
    old = young
    young = [:]
  }
}
