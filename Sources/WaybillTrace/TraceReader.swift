internal import WaybillHash
package import WaybillModel

/// How much a reader takes in before it stops.
package struct TraceLimits: Sendable {
  /// How many bytes of lines.
  package var byteCount: Int64
  /// How many events.
  package var eventCount: Int64

  /// Makes limits from their values.
  package init(byteCount: Int64, eventCount: Int64) {
    self.byteCount = byteCount
    self.eventCount = eventCount
  }

  /// For a file from somebody else: 64 MiB and a million events.
  package static let untrusted = TraceLimits(byteCount: 64 << 20, eventCount: 1_000_000)
  /// For a file we wrote ourselves.
  package static let none = TraceLimits(byteCount: .max, eventCount: .max)
}

/// Reads traces, one behind the other, from a file or a pipe.
///
/// Whatever the input is, the events before the damage come out and then a finding is thrown that
/// names it; nothing in the input stops the program. Lines are taken only from blocks whose
/// checksum is right, or from frames that are whole. It holds one frame (at most 4 MiB of lines),
/// one packed block (256 KiB in traces of ours, at most 4 MiB) and the newest streams' revisions.
///
/// Not `Sendable`: one caller at a time.
package final class TraceReader {
  /// What comes out, in this order for each trace.
  package enum Item {
    /// The first line.
    case header(TraceHeader)
    /// An event, in the order of positions.
    case event(RecordedEvent)
    /// The end of a trace whose count and digest are right.
    case end(TraceReceipt)
  }

  private static let maximumRemarkCount = 16

  /// What was noticed that takes nothing away: no index, a wrong one, a stray frame. At most 16.
  package private(set) var remarks: [TraceFinding] = []

  /// The chain value before the event that was given last; meaningless in a trace with cuts.
  package private(set) var chainBefore = ContentHash.zero

  private let limits: TraceLimits
  private let frames: TraceFrames
  private let lineReader = TraceLineReader()
  private let linesHasher = SHA256()

  // The trace: what checks its lines, and what it came to once its footer has been read.
  private var checker: TraceChecker?
  private var footed: TraceReceipt?
  private var failure: TraceFinding?
  private var isAtEnd = false

  // The lines of the frame: how many bytes of them have been read, and how many are hashed.
  private var cursor = 0
  private var hashedCount = 0

  // The whole input.
  private var lineCount: Int64 = 0
  private var eventCount: Int64 = 0
  private var lastPosition: GlobalPosition?

  /// Makes a reader that has read nothing yet.
  package init(_ source: TraceSource, limits: TraceLimits = .untrusted) {
    frames = TraceFrames(source, limits: limits)
    self.limits = limits
  }

  /// The next item; nil at the end of an input in which nothing is wrong but the remarks.
  ///
  /// - Throws: the damage, now and whenever it is called again.
  package func next() throws(TraceFinding) -> Item? {
    if let failure { throw failure }
    do throws(TraceFinding) {
      while !isAtEnd {
        if let item = try nextLine() { return item }
        if let receipt = try nextFrame() { return .end(receipt) }
      }
      return nil
    } catch {
      failure = error
      throw error
    }
  }

  private func finding(_ problem: FrameProblem) -> TraceFinding {
    TraceFinding(
      problem.code, problem.message, offset: problem.offset, line: nil, eventCount: eventCount,
      lastPosition: lastPosition)
  }

  private func finding(_ problem: LineProblem) -> TraceFinding {
    TraceFinding(
      problem.code, problem.message, offset: frames.frameOffset, line: lineCount,
      eventCount: eventCount, lastPosition: lastPosition)
  }
}

// MARK: Frames

extension TraceReader {
  private var place: TracePlace {
    if footed != nil { return .behindFooter }
    return checker == nil ? .outside : .within
  }

  /// Goes on to the next frame; gives what the trace came to when that ends it.
  private func nextFrame() throws(TraceFinding) -> TraceReceipt? {
    if place == .within { hashLines(upTo: cursor) }
    do throws(FrameProblem) {
      try frames.endLines()
      cursor = 0
      hashedCount = 0
      switch try frames.next(place) {
      case .lines: return nil
      case .stray(let problem):
        try remark(problem)
        return nil
      case .endOfTrace(let problem):
        if let problem { try remark(problem) }
        return endTrace()
      case .endOfInput:
        isAtEnd = true
        return nil
      }
    } catch {
      throw finding(error)
    }
  }

  private func remark(_ problem: FrameProblem) throws(FrameProblem) {
    guard remarks.count < TraceReader.maximumRemarkCount else { throw problem }
    remarks.append(finding(problem))
  }

  private func endTrace() -> TraceReceipt? {
    guard var receipt = footed else { return nil }
    (receipt.byteCount, receipt.digest) = frames.endTrace()
    footed = nil
    checker = nil
    return receipt
  }
}

// MARK: Lines

extension TraceReader {
  /// The next item of the frame; nil when its lines are used up.
  private func nextLine() throws(TraceFinding) -> Item? {
    let lines = frames.lines
    while cursor < lines.count {
      let start = cursor
      let rest = UnsafeRawBufferPointer(rebasing: lines[start...])
      let length = rest.firstIndex(of: UInt8(ascii: "\n"))
      // A line without its end may go on in what was lost.
      if length == nil, frames.isDamaged { return nil }
      lineCount += 1
      cursor += (length ?? rest.count) + 1
      do throws(LineProblem) {
        guard let length else { throw misfit("the line has no end in its frame") }
        let line = UnsafeRawBufferPointer(rebasing: rest[..<length])
        if let item = try take(line, startingAt: start) { return item }
      } catch {
        throw finding(error)
      }
    }
    return nil
  }

  private func take(
    _ line: UnsafeRawBufferPointer, startingAt start: Int
  ) throws(LineProblem) -> Item? {
    guard footed == nil else {
      throw LineProblem(.misplacedLine, "a line stands behind the footer")
    }
    guard let checker else { return .header(try takeHeader(line)) }
    switch try lineReader.read(line) {
    case .header:
      throw LineProblem(.missingFooter, "another trace begins before this one has its footer")
    case .event(let line):
      guard eventCount < limits.eventCount else {
        throw LineProblem(.limitReached, "there are more than \(limits.eventCount) events")
      }
      try checker.take(line)
      chainBefore = checker.chainBefore
      eventCount += 1
      lastPosition = line.event.position
      frames.count(line.event.position)
      return .event(line.event)
    case .footer(let footer):
      hashLines(upTo: start)
      let digest = linesHasher.finish()
      try checker.take(footer, digest: digest)
      footed = TraceReceipt(
        eventCount: checker.eventCount, byteCount: 0, digest: .zero, linesDigest: digest,
        first: checker.first, last: checker.last)
      return nil
    }
  }

  private func takeHeader(_ line: UnsafeRawBufferPointer) throws(LineProblem) -> TraceHeader {
    let content: TraceLineContent
    do throws(LineProblem) {
      content = try lineReader.read(line)
    } catch {
      throw error.code == .badLine ? misfit(error.message) : error
    }
    guard case .header(let header) = content else {
      throw LineProblem(.missingHeader, "the trace begins without its header")
    }
    checker = TraceChecker(header: header)
    return header
  }

  /// A line that is none of ours: in front of everything, it says that the file is no trace.
  private func misfit(_ message: String) -> LineProblem {
    lineCount == 1
      ? LineProblem(.notATrace, "the file is LZ4, but no trace: \(message)")
      : LineProblem(.badLine, message)
  }

  private func hashLines(upTo end: Int) {
    linesHasher.update(UnsafeRawBufferPointer(rebasing: frames.lines[hashedCount..<end]))
    hashedCount = end
  }
}
