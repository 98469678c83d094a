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

  /// Where in a trace the reader stands.
  private enum Place {
    case outside
    case within(TraceChecker)
    case behindFooter(TraceReceipt)
  }

  /// What was noticed that takes nothing away: no index, a wrong one, a stray frame. At most 16.
  package private(set) var remarks: [TraceFinding] = []

  private let limits: TraceLimits
  private let input: TraceInput
  private let decoder = LZ4FrameDecoder()
  private let lineReader = TraceLineReader()
  private let linesHasher = SHA256()
  private let indexHasher = SHA256()
  private var place = Place.outside
  private var failure: TraceFinding?

  // The frame whose lines are being read.
  private var frameOffset: Int64 = 0
  private var cursor = 0
  private var hashedCount = 0
  private var damage: (code: TraceFinding.Code, message: String, offset: Int64)?
  private var entry: FrameIndex.Entry?

  // The trace.
  private var traceOffset: Int64 = 0
  private var frameCount = 0

  // The whole input.
  private var lineCount: Int64 = 0
  private var contentByteCount: Int64 = 0
  private var eventCount: Int64 = 0
  private var lastPosition: GlobalPosition?

  /// Makes a reader that has read nothing yet.
  package init(_ source: TraceSource, limits: TraceLimits = .untrusted) {
    input = TraceInput(source)
    self.limits = limits
  }

  /// The next item; nil at the end of an input in which nothing is wrong but the remarks.
  ///
  /// - Throws: the damage, now and whenever it is called again.
  package func next() throws(TraceFinding) -> Item? {
    if let failure { throw failure }
    do throws(TraceFinding) {
      return try step()
    } catch {
      failure = error
      throw error
    }
  }

  private func step() throws(TraceFinding) -> Item? {
    while true {
      if let item = try nextLine() { return item }
      try endFrame()
      switch try beginFrame() {
      case .lines: continue
      case .receipt(let receipt): return .end(receipt)
      case .end: return nil
      }
    }
  }

  private func finding(
    _ code: TraceFinding.Code, _ message: String, offset: Int64, line: Int64? = nil
  ) -> TraceFinding {
    TraceFinding(
      code, message, offset: offset, line: line, eventCount: eventCount, lastPosition: lastPosition)
  }

  private func remark(_ code: TraceFinding.Code, _ message: String, offset: Int64)
    throws(TraceFinding)
  {
    let remark = finding(code, message, offset: offset)
    guard remarks.count < 16 else { throw remark }
    remarks.append(remark)
  }
}

// MARK: Lines

extension TraceReader {
  /// The next item of the frame; nil when its lines are used up.
  private func nextLine() throws(TraceFinding) -> Item? {
    while cursor < decoder.goodCount {
      let rest = UnsafeRawBufferPointer(rebasing: decoder.goodBytes[cursor...])
      guard let length = rest.firstIndex(of: UInt8(ascii: "\n")) else {
        // The line may go on in what was lost.
        if damage != nil { return nil }
        lineCount += 1
        throw lineFinding(misfit("the line has no end in its frame"))
      }
      lineCount += 1
      let start = cursor
      cursor += length + 1
      do throws(LineProblem) {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<length])
        if let item = try take(line, startingAt: start) { return item }
      } catch {
        throw lineFinding(error)
      }
    }
    return nil
  }

  private func lineFinding(_ problem: LineProblem) -> TraceFinding {
    finding(problem.code, problem.message, offset: frameOffset, line: lineCount)
  }

  /// A line that is none of ours: in front of everything, it says that the file is no trace.
  private func misfit(_ message: String) -> LineProblem {
    lineCount == 1
      ? LineProblem(.notATrace, "the file is LZ4, but no trace: \(message)")
      : LineProblem(.badLine, message)
  }

  private func take(
    _ line: UnsafeRawBufferPointer, startingAt start: Int
  ) throws(LineProblem) -> Item? {
    switch place {
    case .outside: return .header(try takeHeader(line))
    case .behindFooter:
      throw LineProblem(.misplacedLine, "a line stands behind the footer")
    case .within(let checker):
      switch try lineReader.read(line) {
      case .header:
        throw LineProblem(.missingFooter, "another trace begins before this one has its footer")
      case .event(let line):
        guard eventCount < limits.eventCount else {
          throw LineProblem(.limitReached, "there are more than \(limits.eventCount) events")
        }
        try checker.take(line)
        eventCount += 1
        lastPosition = line.event.position
        entry?.add(line.event.position)
        return .event(line.event)
      case .footer(let footer):
        hashLines(upTo: start)
        let digest = linesHasher.finish()
        try checker.take(footer, digest: digest)
        place = .behindFooter(
          TraceReceipt(
            eventCount: checker.eventCount, byteCount: 0, digest: .zero, linesDigest: digest,
            first: checker.first, last: checker.last))
        return nil
      }
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
    place = .within(TraceChecker(header: header))
    return header
  }

  private func hashLines(upTo end: Int) {
    linesHasher.update(UnsafeRawBufferPointer(rebasing: decoder.goodBytes[hashedCount..<end]))
    hashedCount = end
  }
}

// MARK: Frames

extension TraceReader {
  private enum Step {
    case lines
    case receipt(TraceReceipt)
    case end
  }

  /// Closes the books of the frame whose lines are used up.
  private func endFrame() throws(TraceFinding) {
    if let damage { throw finding(damage.code, damage.message, offset: damage.offset) }
    guard let entry else { return }
    if case .within = place { hashLines(upTo: cursor) }
    var bytes = ByteBuffer(capacity: FrameIndex.Entry.byteCount)
    entry.write(to: &bytes)
    indexHasher.update(bytes.bytes)
    frameCount += 1
    self.entry = nil
  }

  /// Goes on to the next frame with lines, or to the end of the trace or of the input.
  private func beginFrame() throws(TraceFinding) -> Step {
    while true {
      let available = input.fill(4)
      if available == 0 { return try endOfInput() }
      let magic = available == 4 ? input.littleEndian(at: 0) : 0
      if magic == FrameIndex.dataMagic {
        if case .behindFooter(let receipt) = place {
          try remark(.missingIndex, "the trace has no index", offset: input.offset)
          return end(receipt)
        }
        try decodeFrame()
        return .lines
      }
      guard FrameIndex.skippableMagics.contains(magic) else { throw noFrame(available) }
      if let receipt = try skipFrame(magic) { return .receipt(receipt) }
    }
  }

  private func decodeFrame() throws(TraceFinding) {
    frameOffset = input.offset
    if case .outside = place { beginTrace() }
    cursor = 0
    hashedCount = 0
    entry = FrameIndex.Entry(offset: frameOffset - traceOffset)
    let left = limits.byteCount - contentByteCount
    let limit = Int(min(Int64(TraceFormat.maximumLineByteCount), left))
    let outcome = decoder.decode(input, limit: limit)
    contentByteCount += Int64(decoder.goodCount)
    switch outcome {
    case .whole:
      if decoder.contentCount == 0 {
        try remark(.strayFrame, "a frame has no content", offset: frameOffset)
      }
    case .truncated: damage = endedEarly("the file ends within a frame")
    case .damaged(let reason):
      damage = (.damagedFrame, "a frame is damaged (\(reason))", input.offset)
    case .oversized: damage = tooMuch(limit)
    }
  }

  private func tooMuch(
    _ limit: Int
  ) -> (code: TraceFinding.Code, message: String, offset: Int64) {
    if lineCount == 0, !decoder.beginsWithHeader {
      return (.notATrace, "the file is LZ4, but no trace: it does not begin as one", frameOffset)
    }
    if limit < TraceFormat.maximumLineByteCount {
      return (
        .limitReached, "there are more than \(limits.byteCount) bytes of lines", frameOffset
      )
    }
    return (.oversizedFrame, "a frame unpacks to more than \(limit) bytes", frameOffset)
  }

  private func beginTrace() {
    traceOffset = input.offset
    frameCount = 0
    _ = input.digest()
    _ = indexHasher.finish()
    _ = linesHasher.finish()
  }

  private func end(_ receipt: TraceReceipt) -> Step {
    var receipt = receipt
    receipt.byteCount = input.offset - traceOffset
    receipt.digest = input.digest()
    place = .outside
    return .receipt(receipt)
  }

  private func endOfInput() throws(TraceFinding) -> Step {
    if input.failure == nil, case .behindFooter(let receipt) = place {
      try remark(.missingIndex, "the trace has no index", offset: input.offset)
      return end(receipt)
    }
    if input.failure == nil, case .outside = place {
      guard lineCount == 0 else { return .end }
      if input.offset == 0 { throw finding(.empty, "the file is empty", offset: 0) }
      throw finding(.notATrace, "the file holds nothing but frames to skip", offset: 0)
    }
    let (code, message, offset) = endedEarly("the trace ends without its footer")
    throw finding(code == .truncated ? .missingFooter : code, message, offset: offset)
  }

  /// What is to be said of an input that has no more bytes.
  private func endedEarly(
    _ message: String
  ) -> (code: TraceFinding.Code, message: String, offset: Int64) {
    let end = input.offset + Int64(input.bytes.count)
    guard let failure = input.failure else { return (.truncated, message, end) }
    return (.inputOutput, failure.message, end)
  }

  /// What is to be said of bytes that begin no frame.
  private func noFrame(_ available: Int) -> TraceFinding {
    if available < 4, input.failure != nil || FrameIndex.beginsMagic(input.bytes) {
      let (code, message, offset) = endedEarly("the file ends within a frame")
      return finding(code, message, offset: offset)
    }
    if input.offset == 0 {
      return finding(.notLZ4, "the file is not packed with LZ4, so it is no trace", offset: 0)
    }
    return finding(.junk, "something that is no frame stands behind one", offset: input.offset)
  }
}

// MARK: Frames that readers skip

extension TraceReader {
  /// Passes over a skippable frame; the index of a trace ends it.
  private func skipFrame(_ magic: UInt32) throws(TraceFinding) -> TraceReceipt? {
    let offset = input.offset
    guard input.fill(FrameIndex.headByteCount) == FrameIndex.headByteCount else {
      throw truncatedIndex()
    }
    let length = Int(input.littleEndian(at: 4))
    input.use(FrameIndex.headByteCount)
    guard magic == FrameIndex.magic, case .behindFooter(let receipt) = place else {
      try skip(length)
      try remark(.strayFrame, "a frame that readers skip stands before the end", offset: offset)
      return nil
    }
    if length == FrameIndex.payloadByteCount(frames: frameCount) {
      try readIndex(offset)
    } else {
      try skip(length)
      try remark(.wrongIndex, "the index has another length than its frames need", offset: offset)
    }
    guard case .receipt(let ended) = end(receipt) else { return nil }
    return ended
  }

  private func readIndex(_ offset: Int64) throws(TraceFinding) {
    let hasher = SHA256()
    var rest = frameCount * FrameIndex.Entry.byteCount
    while rest > 0 {
      let piece = input.fill(min(rest, 65_536))
      guard piece > 0 else { throw truncatedIndex() }
      hasher.update(UnsafeRawBufferPointer(rebasing: input.bytes[..<piece]))
      input.use(piece)
      rest -= piece
    }
    guard input.fill(FrameIndex.tailByteCount) == FrameIndex.tailByteCount else {
      throw truncatedIndex()
    }
    var tail = ByteBuffer(capacity: FrameIndex.tailByteCount)
    FrameIndex.tail(frames: frameCount, to: &tail)
    let isRight =
      hasher.finish() == indexHasher.finish()
      && input.bytes[..<FrameIndex.tailByteCount].elementsEqual(tail.bytes)
    input.use(FrameIndex.tailByteCount)
    if !isRight {
      try remark(.wrongIndex, "the index is not that of the frames before it", offset: offset)
    }
  }

  private func skip(_ count: Int) throws(TraceFinding) {
    var rest = count
    while rest > 0 {
      let piece = input.fill(min(rest, 65_536))
      guard piece > 0 else { throw truncatedIndex() }
      input.use(piece)
      rest -= piece
    }
  }

  private func truncatedIndex() -> TraceFinding {
    let (code, message, offset) = endedEarly("the file ends within a frame that readers skip")
    return finding(code, message, offset: offset)
  }
}
