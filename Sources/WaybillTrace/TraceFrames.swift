internal import WaybillHash
internal import WaybillModel

/// Where in a trace its reader stands.
enum TracePlace {
  /// Before the first trace, or between two.
  case outside
  /// Behind a header.
  case within
  /// Behind a footer: only the index is missing.
  case behindFooter
}

/// What is wrong with the frames of an input; the reader adds what is good.
struct FrameProblem: Error {
  let code: TraceFinding.Code
  let message: String
  let offset: Int64
}

/// Goes through the frames of an input: unpacks those with lines, holds the index against them, and
/// passes over what stands there by mistake.
final class TraceFrames {
  /// What comes next.
  enum Step {
    /// A frame has been unpacked; its `lines` are to be read.
    case lines
    /// Something that takes nothing away, and that has been passed over.
    case stray(FrameProblem)
    /// The end of the trace, with what is wrong with its index.
    case endOfTrace(FrameProblem?)
    /// The end of the input.
    case endOfInput
  }

  private let limits: TraceLimits
  private let input: TraceInput
  private let decoder = LZ4FrameDecoder()
  private let indexHasher = SHA256()

  /// Where the trace begins, and how many frames of it have been read.
  private var traceOffset: Int64 = 0
  private var frameCount = 0
  private var contentByteCount: Int64 = 0
  /// What the index must say of the frame whose lines are being read.
  private var entry: FrameIndex.Entry?
  private var damage: FrameProblem?

  /// Where the frame begins whose lines are being read.
  private(set) var frameOffset: Int64 = 0

  init(_ source: TraceSource, limits: TraceLimits) {
    input = TraceInput(source)
    self.limits = limits
  }

  /// What can be relied on of the frame that is being read; nothing between two.
  var lines: UnsafeRawBufferPointer {
    entry == nil ? UnsafeRawBufferPointer(start: nil, count: 0) : decoder.goodBytes
  }

  /// Whether the frame has more than `lines`, but damaged.
  var isDamaged: Bool { damage != nil }

  /// Counts an event that was read from the frame.
  func count(_ position: GlobalPosition) { entry?.add(position) }

  /// Closes the books of the frame whose lines have been read; throws what is wrong with it.
  func endLines() throws(FrameProblem) {
    if let damage { throw damage }
    guard let entry else { return }
    var bytes = ByteBuffer(capacity: FrameIndex.Entry.byteCount)
    entry.write(to: &bytes)
    indexHasher.update(bytes.bytes)
    frameCount += 1
    self.entry = nil
  }

  /// How many bytes the trace has so far, and their SHA-256.
  func endTrace() -> (byteCount: Int64, digest: ContentHash) {
    (input.offset - traceOffset, input.digest())
  }

  /// Goes on to the next frame.
  func next(_ place: TracePlace) throws(FrameProblem) -> Step {
    let available = input.fill(4)
    if available == 0 { return try endOfInput(place) }
    let magic = available == 4 ? input.littleEndian(at: 0) : 0
    if magic == FrameIndex.dataMagic {
      return place == .behindFooter ? missingIndex() : unpack(place)
    }
    guard FrameIndex.skippableMagics.contains(magic) else { throw noFrame(available) }
    return try skippable(isIndex: magic == FrameIndex.magic && place == .behindFooter)
  }

  private func unpack(_ place: TracePlace) -> Step {
    frameOffset = input.offset
    if place == .outside { beginTrace() }
    entry = FrameIndex.Entry(offset: frameOffset - traceOffset)
    let isFirst = contentByteCount == 0
    let left = limits.byteCount - contentByteCount
    let limit = Int(min(Int64(TraceFormat.maximumLineByteCount), left))
    let outcome = decoder.decode(input, limit: limit)
    contentByteCount += Int64(decoder.goodCount)
    switch outcome {
    case .whole: break
    case .truncated: damage = endedEarly("the file ends within a frame")
    case .damaged(let reason):
      damage = FrameProblem(
        code: .damagedFrame, message: "a frame is damaged (\(reason))", offset: input.offset)
    case .oversized: damage = tooMuch(limit, isFirst: isFirst)
    }
    if outcome == .whole, decoder.contentCount == 0 {
      return .stray(
        FrameProblem(code: .strayFrame, message: "a frame has no content", offset: frameOffset))
    }
    return .lines
  }

  private func beginTrace() {
    traceOffset = input.offset
    frameCount = 0
    _ = input.digest()
    _ = indexHasher.finish()
  }
}

// MARK: What is wrong

extension TraceFrames {
  private func tooMuch(_ limit: Int, isFirst: Bool) -> FrameProblem {
    if isFirst, !decoder.beginsWithHeader {
      return FrameProblem(
        code: .notATrace, message: "the file is LZ4, but no trace: it does not begin as one",
        offset: frameOffset)
    }
    if limit < TraceFormat.maximumLineByteCount {
      return FrameProblem(
        code: .limitReached, message: "there are more than \(limits.byteCount) bytes of lines",
        offset: frameOffset)
    }
    return FrameProblem(
      code: .oversizedFrame, message: "a frame unpacks to more than \(limit) bytes",
      offset: frameOffset)
  }

  private func endOfInput(_ place: TracePlace) throws(FrameProblem) -> Step {
    if input.failure != nil { throw endedEarly("") }
    switch place {
    case .outside where input.offset == 0:
      throw FrameProblem(code: .empty, message: "the file is empty", offset: 0)
    case .outside where contentByteCount == 0:
      throw FrameProblem(
        code: .notATrace, message: "the file is LZ4, but no trace: no frame has content", offset: 0)
    case .within:
      throw FrameProblem(
        code: .missingFooter, message: "the trace ends without its footer", offset: input.offset)
    case .behindFooter: return missingIndex()
    case .outside: return .endOfInput
    }
  }

  private func missingIndex() -> Step {
    .endOfTrace(
      FrameProblem(
        code: .missingIndex, message: "the trace has no index", offset: input.offset))
  }

  /// What is to be said of an input that has no more bytes.
  private func endedEarly(_ message: String) -> FrameProblem {
    let end = input.offset + Int64(input.bytes.count)
    if let failure = input.failure {
      return FrameProblem(code: .inputOutput, message: failure.message, offset: end)
    }
    return FrameProblem(code: .truncated, message: message, offset: end)
  }

  /// What is to be said of bytes that begin no frame.
  private func noFrame(_ available: Int) -> FrameProblem {
    if available < 4, input.failure != nil || FrameIndex.beginsMagic(input.bytes) {
      return endedEarly("the file ends within a frame")
    }
    if input.offset == 0 {
      return FrameProblem(
        code: .notLZ4, message: "the file is not packed with LZ4, so it is no trace", offset: 0)
    }
    return FrameProblem(
      code: .junk, message: "something that is no frame stands behind one", offset: input.offset)
  }
}

// MARK: Frames that readers skip

extension TraceFrames {
  private func skippable(isIndex: Bool) throws(FrameProblem) -> Step {
    let offset = input.offset
    try fill(FrameIndex.headByteCount)
    let length = Int(input.littleEndian(at: 4))
    input.use(FrameIndex.headByteCount)
    if isIndex, length == FrameIndex.payloadByteCount(frames: frameCount) {
      return .endOfTrace(try isIndexRight() ? nil : wrongIndex(offset))
    }
    try pass(length) { _ in }
    if isIndex { return .endOfTrace(wrongIndex(offset)) }
    return .stray(
      FrameProblem(
        code: .strayFrame, message: "a frame that readers skip stands where none should",
        offset: offset))
  }

  private func wrongIndex(_ offset: Int64) -> FrameProblem {
    FrameProblem(
      code: .wrongIndex, message: "the index is not that of the frames before it", offset: offset)
  }

  /// Reads the index and holds it against the frames that were read.
  private func isIndexRight() throws(FrameProblem) -> Bool {
    let hasher = SHA256()
    try pass(frameCount * FrameIndex.Entry.byteCount) { hasher.update($0) }
    var tail = ByteBuffer(capacity: FrameIndex.tailByteCount)
    FrameIndex.tail(frames: frameCount, to: &tail)
    try fill(FrameIndex.tailByteCount)
    let isEndRight = input.bytes[..<FrameIndex.tailByteCount].elementsEqual(tail.bytes)
    input.use(FrameIndex.tailByteCount)
    return hasher.finish() == indexHasher.finish() && isEndRight
  }

  /// Uses so many bytes, a piece at a time.
  private func pass(
    _ count: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(FrameProblem) {
    var rest = count
    while rest > 0 {
      let piece = input.fill(min(rest, 65_536))
      guard piece > 0 else { throw endedEarly("the file ends within a frame that readers skip") }
      body(UnsafeRawBufferPointer(rebasing: input.bytes[..<piece]))
      input.use(piece)
      rest -= piece
    }
  }

  private func fill(_ count: Int) throws(FrameProblem) {
    guard input.fill(count) == count else {
      throw endedEarly("the file ends within a frame that readers skip")
    }
  }
}
