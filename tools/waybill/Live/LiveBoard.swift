internal import Dispatch
internal import WaybillSystem

/// Live progress on a terminal, redrawn at most ten times a second, or plain lines elsewhere.
///
/// A command gets one from `Invocation.withLiveBoard`, which also ends it.
actor LiveBoard {
  private let terminal: Terminal
  private let isQuiet: Bool
  private let start = ContinuousClock.now
  // A terminal stopped by Ctrl-S blocks whoever writes to it, and that must not be a thread of the
  // pool that uploads run on.
  private nonisolated let executor = QueueExecutor(label: "waybill.board")

  private var rows: [BoardRow] = []
  private var totals = BoardTotals()
  private var notes: [String] = []
  private var hasUpdate = false
  private var sizeDrawn: Terminal.Size?
  private var rate = RateMeter()
  private var rateTaken = Duration.zero
  private var isRateGiven = false
  private var screen = BoardScreen()
  private var plain = PlainProgress()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private init(_ terminal: Terminal, isQuiet: Bool) {
    self.terminal = terminal
    self.isQuiet = isQuiet
  }

  /// Shows a board while `body` runs; afterwards its last state stays on the screen.
  static func run<T>(
    on terminal: Terminal, isQuiet: Bool,
    _ body: (LiveBoard) async throws(Failure) -> sending T
  ) async throws(Failure) -> sending T {
    let board = LiveBoard(terminal, isQuiet: isQuiet)
    let ticks = Ticks(every: .milliseconds(100))
    let drawing = Task { for await _ in ticks.stream { await board.tick() } }
    let result: Result<T, Failure>
    do throws(Failure) {
      result = .success(try await body(board))
    } catch {
      result = .failure(error)
    }
    ticks.stop()
    await drawing.value
    await board.end()
    return try result.get()
  }

  /// Replaces what the board shows. Cheap: drawing waits for the next tick. Without a rate of its
  /// own in `totals`, the board measures `bytesDone`.
  func update(_ rows: [BoardRow], _ totals: BoardTotals) {
    self.rows = rows
    let measured = self.totals.bytesPerSecond
    self.totals = totals
    self.totals.bytesPerSecond = totals.bytesPerSecond ?? measured
    isRateGiven = totals.bytesPerSecond != nil
    hasUpdate = true
  }

  /// Says a line that stays above the board; already escaped.
  func note(_ line: String) {
    guard !isQuiet else { return }
    notes.append(line)
    // A burst of notes is written before the next tick rather than kept.
    if notes.count >= 64 { draw() }
  }

  private var elapsed: Duration { ContinuousClock.now - start }

  private func tick() {
    measureRate()
    // Asking the size each tick notices a resize without a signal handler.
    let isResized = terminal.isInteractive && sizeDrawn != nil && sizeDrawn != terminal.size
    if hasUpdate || isResized || !notes.isEmpty || !terminal.isInteractive { draw() }
  }

  /// Twice a second, also while nothing arrives: a rate that stalls is seen to fall.
  private func measureRate() {
    let now = elapsed
    guard !isRateGiven, totals.count > 0, now - rateTaken >= .milliseconds(500) else { return }
    rateTaken = now
    rate.add(totals.bytesDone, at: now)
    guard totals.bytesPerSecond != rate.bytesPerSecond else { return }
    totals.bytesPerSecond = rate.bytesPerSecond
    hasUpdate = true
  }

  private func draw() {
    guard !isQuiet else { return }
    let changed = hasUpdate ? rows : []
    hasUpdate = false
    let saidNow = notes
    notes = []
    if terminal.isInteractive {
      let size = terminal.size
      let lines = BoardLayout.lines(
        rows, totals, size: size, palette: terminal.palette, glyphs: terminal.glyphs)
      sizeDrawn = size
      write(screen.frame(lines, notes: saidNow, width: size.width))
    } else {
      write(saidNow + plain.lines(changed, totals, at: elapsed))
    }
  }

  private func end() {
    guard !isQuiet, totals.count > 0 || !notes.isEmpty else { return }
    if !isRateGiven { totals.bytesPerSecond = nil }
    draw()
    if !terminal.isInteractive, totals.count > 0 { write(plain.end(totals)) }
  }

  private func write(_ lines: [String]) { write(lines.map { $0 + "\n" }.joined()) }

  // Progress nobody can see is no reason to fail the work it tells of.
  private func write(_ text: String) {
    guard !text.isEmpty else { return }
    try? terminal.descriptor.write(text)
  }
}

/// A timer as a stream that keeps at most one tick for a slow reader.
private struct Ticks {
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(every interval: DispatchTimeInterval) {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "waybill.ticks"))
    timer.schedule(deadline: .now(), repeating: interval)
    timer.setEventHandler { @Sendable [continuation] in continuation.yield() }
    // The stream holds its timer for as long as someone reads it.
    nonisolated(unsafe) let held = timer
    continuation.onTermination = { @Sendable _ in held.cancel() }
    timer.activate()
  }

  /// Ends the stream.
  func stop() { continuation.finish() }
}
