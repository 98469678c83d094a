internal import WaybillHash
package import WaybillModel

/// Writes one trace: the header when it is made, an event a call, the footer and the index at the
/// end.
///
/// It holds the lines of one frame (1 MiB, or one longer line), the same packed, and 28 bytes for
/// each frame it has written: 28 KB for a million events. After an error from the system nothing
/// more is written and every call throws it again; any other error leaves the writer as it was.
///
/// Not `Sendable`: one caller at a time.
package final class TraceWriter {
  private let header: TraceHeader
  private let sink: TraceSink
  private let encoder: LZ4FrameEncoder
  private let fileHasher = SHA256()
  private let linesHasher = SHA256()
  private var chain = EventChain(value: .zero)
  /// The chain value of the event added last, as its own bytes give it.
  package var chainValue: ContentHash { chain.value }

  /// The lines of the frame that is being filled; the last one may still be open.
  private var lines = ByteBuffer(capacity: 2 * TraceFormat.frameByteCount)
  private var index = ByteBuffer(capacity: 4096)
  private var frameCount = 0
  private var frame = FrameIndex.Entry(offset: 0)
  /// Where the open line begins, and its event's position.
  private var openLine: (start: Int, position: GlobalPosition)?

  private var byteCount: Int64 = 0
  private var eventCount: Int64 = 0
  private var first: GlobalPosition?
  private var failure: TraceError?
  private var isFinished = false

  /// Starts a trace with its header. Nothing reaches the sink before the first frame is full.
  ///
  /// - Parameters:
  ///   - header: what the first line says; events outside its range are refused.
  ///   - level: how hard LZ4 tries, 0 to 12.
  ///   - sink: where the bytes go.
  package init(
    header: TraceHeader, level: Int = TraceFormat.defaultLevel, to sink: TraceSink
  ) {
    self.header = header
    self.sink = sink
    encoder = LZ4FrameEncoder(level: level)
    TraceLine.header(header, to: &lines)
  }

  /// Adds an event.
  ///
  /// - Parameters:
  ///   - event: the event; its position is greater than that of the event before it.
  ///   - chainBefore: the chain value of the position before the event's. It must be given where
  ///     positions do not go on from the event before; where they do, it may be given and is then
  ///     compared. In a trace with cuts it has no meaning.
  /// - Throws: `order`, `chain_mismatch`, `too_long` or `reserved_kind` when the event cannot stand
  ///   here, and nothing was added; otherwise what the system says, and the trace is lost.
  package func append(
    _ event: borrowing RecordedEvent, chainBefore: ContentHash? = nil
  ) throws(TraceError) {
    try checkUsable()
    let position = event.position
    try checkPlace(position)
    try checkShape(event)
    let goesOn = openLine.map { $0.position.value + 1 == position.value } ?? false
    if header.isChained {
      try checkChain(position, goesOn: goesOn, chainBefore)
    }
    try closeLine(endsRun: !goesOn)
    if header.isChained, !goesOn, let chainBefore { chain.reset(to: chainBefore) }
    openLine = (lines.count, position)
    TraceLine.open(event, chainBefore: header.isChained && !goesOn ? chainBefore : nil, to: &lines)
    if header.isChained { _ = chain.advance(over: event) }
    if first == nil { first = position }
  }

  /// Ends the trace with footer and index. The bytes have left for the sink; whether they are on
  /// stable storage is the sink's matter.
  ///
  /// - Returns: what the trace came to.
  /// - Throws: what the system says; the trace is lost then.
  package func finish() throws(TraceError) -> TraceReceipt {
    try checkUsable()
    let last = openLine?.position
    try closeLine(endsRun: true)
    linesHasher.update(lines.bytes)
    let digest = linesHasher.finish()
    let start = lines.count
    TraceLine.footer(count: eventCount, digest: digest, last: last, to: &lines)
    if start > 0, lines.count > TraceFormat.frameByteCount {
      try writeFrame(upTo: start, hashed: true)
    }
    try writeFrame(upTo: lines.count, hashed: true)
    try writeIndex()
    isFinished = true
    return TraceReceipt(
      eventCount: eventCount, byteCount: byteCount, digest: fileHasher.finish(),
      linesDigest: digest, first: first, last: last)
  }
}

// MARK: What an event must be

extension TraceWriter {
  private func checkUsable() throws(TraceError) {
    precondition(!isFinished, "nothing is added to a trace that has its footer")
    if let failure { throw failure }
  }

  private func checkPlace(_ position: GlobalPosition) throws(TraceError) {
    if let open = openLine, position <= open.position {
      throw TraceError(
        .order, "position \(position.value) does not come behind \(open.position.value)")
    }
    guard let first = header.first, let last = header.last, first <= position, position <= last
    else {
      throw TraceError(
        .order, "position \(position.value) lies outside the range the header of the trace names")
    }
  }

  private func checkShape(_ event: borrowing RecordedEvent) throws(TraceError) {
    if event.kindName.hasPrefix(TraceFormat.reservedPrefix) {
      throw TraceError(
        .reservedKind, "the kind of the event at position \(event.position.value) is reserved")
    }
    guard TraceLine.bound(event) > TraceFormat.maximumLineByteCount else { return }
    var line = ByteBuffer(capacity: TraceFormat.maximumLineByteCount)
    TraceLine.open(event, chainBefore: .zero, to: &line)
    TraceLine.close(chain: .zero, &line)
    guard line.count > TraceFormat.maximumLineByteCount else { return }
    throw TraceError(
      .tooLong,
      "the event at position \(event.position.value) takes \(line.count) bytes, and a line has room"
        + " for \(TraceFormat.maximumLineByteCount)")
  }

  private func checkChain(
    _ position: GlobalPosition, goesOn: Bool, _ chainBefore: ContentHash?
  ) throws(TraceError) {
    guard let chainBefore else {
      if goesOn { return }
      throw TraceError(
        .chainMismatch, "the chain value before position \(position.value) was not given")
    }
    if goesOn, chainBefore != chain.value {
      throw TraceError(
        .chainMismatch, "the events before position \(position.value) give another chain value",
        remedy: "run 'waybill verify' on the ledger")
    }
  }
}

// MARK: Lines into frames

extension TraceWriter {
  /// Ends the open line and counts it into its frame, which is written when it is full.
  private func closeLine(endsRun: Bool) throws(TraceError) {
    guard let open = openLine else { return }
    TraceLine.close(chain: endsRun && header.isChained ? chain.value : nil, &lines)
    openLine = nil
    eventCount += 1
    if open.start > 0, lines.count > TraceFormat.frameByteCount {
      try writeFrame(upTo: open.start, hashed: false)
    }
    frame.add(open.position)
    if frame.eventCount == TraceFormat.frameEventCount {
      try writeFrame(upTo: lines.count, hashed: false)
    }
  }

  private func writeFrame(upTo end: Int, hashed: Bool) throws(TraceError) {
    let bytes = UnsafeRawBufferPointer(rebasing: lines.bytes[..<end])
    if !hashed { linesHasher.update(bytes) }
    frame.write(to: &index)
    frameCount += 1
    try send(encoder.frame(of: bytes))
    lines.removeFirst(end)
    frame = FrameIndex.Entry(offset: byteCount)
  }

  private func writeIndex() throws(TraceError) {
    var head = ByteBuffer(capacity: FrameIndex.headByteCount)
    FrameIndex.head(frames: frameCount, to: &head)
    FrameIndex.tail(frames: frameCount, to: &index)
    try send(head.bytes)
    try send(index.bytes)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) throws(TraceError) {
    do throws(TraceError) {
      try sink.write(bytes)
    } catch {
      failure = error
      throw error
    }
    fileHasher.update(bytes)
    byteCount += Int64(bytes.count)
  }
}
