import Foundation
import Testing
import WaybillModel

@testable import waybill

@Suite struct LiveBoardTests {
  private let rows = [
    BoardRow(
      id: 1, name: "IMG_2034-edited-on-the-beach.heic", state: .sending, done: 3_100_000,
      total: 5_000_000),
    BoardRow(id: 2, name: "日本語の写真.jpg", state: .verifying, done: 999_999, total: 1_000_000),
    BoardRow(
      id: 3, name: FileName("evil\u{1b}[2J\r\u{202e}.png").display, state: .waiting("Wi-Fi"),
      done: 0, total: 42),
    BoardRow(id: 4, name: "a.mov", state: .committed, done: 7, total: 7),
    BoardRow(id: 5, name: "empty", state: .needsAttention("access revoked"), done: 0, total: 0),
  ]
  private let totals = BoardTotals(
    doneCount: 23, count: 50, bytesDone: 619_999, bytesTotal: 1_000_000,
    bytesPerSecond: 12_400_000, attentionCount: 1)

  private func lines(
    _ rows: [BoardRow], _ width: Int, _ height: Int = 24, palette: Palette = .plain,
    glyphs: Glyphs = .unicode
  ) -> [String] {
    BoardLayout.lines(
      rows, totals, size: .init(width: width, height: height), palette: palette, glyphs: glyphs)
  }

  @Test(arguments: [20, 40, 80, 200])
  func `a board looks right at its width`(width: Int) throws {
    let lines = lines(rows, width)
    try Golden.expect(lines.joined(separator: "\n") + "\n", "cli/board-\(width).txt")
  }

  @Test func `no line is ever wider than the window`() {
    for width in 1...220 {
      for glyphs in [Glyphs.unicode, .ascii] {
        let lines = lines(rows, width, glyphs: glyphs)
        #expect(lines.allSatisfy { TextWidth.cells($0) <= width }, "\(width)")
      }
    }
  }

  @Test func `colour adds to the words and takes nothing away`() {
    for width in [20, 40, 80, 200] {
      let painted = lines(rows, width, palette: .coloured)
      #expect(painted.map(BoardScreen.withoutStyles) == lines(rows, width))
      #expect(painted.allSatisfy { $0.contains("\u{1b}[") })
    }
  }

  @Test func `a plain board is ASCII but for the names`() {
    let ascii = lines(rows.filter { $0.id != 2 }, 80, glyphs: .ascii)
    #expect(ascii.joined().utf8.allSatisfy { $0 < 0x80 && $0 >= 0x20 })
  }

  @Test func `a low window keeps what moves and counts the rest`() {
    let many = (0..<25_000).map {
      BoardRow(id: $0, name: "\($0)", state: $0 == 20_000 ? .sending : .queued, done: 0, total: 1)
    }
    for height in 2...30 {
      #expect(lines(many, 80, height).count == height - 1)
    }
    let low = lines(many, 80, 6)
    #expect(low.map { $0.prefix(7) } == ["· 0    ", "· 1    ", "↑ 20000", "… 24997", "23 of 5"])
  }

  @Test func `a bar is full only when nothing is missing`() {
    for width in [4, 8, 24, 40] {
      for glyphs in [Glyphs.unicode, .ascii] {
        let full = String(repeating: glyphs.barCells.last ?? "", count: width)
        #expect(BoardLayout.bar(10, of: 10, width, glyphs) == full)
        #expect(BoardLayout.bar(12, of: 10, width, glyphs) == full)
        #expect(BoardLayout.bar(999_999, of: 1_000_000, width, glyphs) != full)
        #expect(BoardLayout.bar(Int64.max - 1, of: .max, width, glyphs) != full)
        let empty = String(repeating: glyphs.barCells[0], count: width)
        #expect(BoardLayout.bar(0, of: 10, width, glyphs) == empty)
        #expect(BoardLayout.bar(0, of: 0, width, glyphs) == empty)
      }
    }
    #expect(BoardLayout.bar(1, of: 2, 5, .unicode) == "██▌░░")
  }

  @Test func `frames replace each other and leave the cursor below`() {
    var screen = BoardScreen()
    var terminal = ScreenModel(width: 80)
    terminal.write("$ waybill push\r\n")
    terminal.write(screen.frame(lines(rows, 80), width: 80))
    terminal.write(screen.frame(lines(Array(rows.prefix(2)), 80), width: 80))
    terminal.write(screen.frame(lines(Array(rows.prefix(1)), 80), notes: ["a note"], width: 80))
    #expect(terminal.text == ["$ waybill push", "a note"] + lines(Array(rows.prefix(1)), 80))
    #expect(terminal.row == 4)
    #expect(terminal.column == 0)
    #expect(terminal.wraps)
    #expect(screen.frame(lines(Array(rows.prefix(1)), 80), width: 80) == "")
  }

  @Test func `a frame behind a narrower window clears the wrapped lines`() {
    var screen = BoardScreen()
    let plain = Array(rows.prefix(1))
    _ = screen.frame(lines(plain, 80, palette: .coloured), width: 80)
    let next = screen.frame(lines(plain, 40), width: 40)
    // A full row of 80 cells takes two lines of 40; the totals take one.
    let old = lines(plain, 80).map { (TextWidth.cells($0) + 39) / 40 }.reduce(0, +)
    #expect(next.contains("\u{1b}[\(old)A"))
  }

  @Test func `off a terminal a change of state is a line and totals come every ten seconds`() {
    var progress = PlainProgress()
    var rows = [BoardRow(id: 1, name: "a", state: .queued, done: 0, total: 9)]
    let totals = BoardTotals(count: 1, bytesTotal: 9)
    #expect(progress.lines(rows, totals, at: .zero) == [])
    rows[0].state = .sending
    #expect(progress.lines(rows, totals, at: .seconds(1)) == ["a: sending"])
    #expect(progress.lines(rows, totals, at: .seconds(2)) == [])
    #expect(progress.lines([], totals, at: .seconds(10)) == ["0 of 1, 0 %"])
    #expect(progress.lines([], totals, at: .seconds(19)) == [])
    rows[0].state = .committed
    #expect(progress.lines(rows, totals, at: .seconds(20)) == ["a: committed", "0 of 1, 0 %"])
    #expect(progress.end(totals) == [])
    #expect(
      progress.end(BoardTotals(doneCount: 1, count: 1, bytesDone: 9, bytesTotal: 9))
        == ["1 of 1, 100 %"])
  }

  @Test func `the rate is told from the last seconds`() {
    var meter = RateMeter()
    meter.add(0, at: .zero)
    #expect(meter.bytesPerSecond == nil)
    for second in 1...100 { meter.add(Int64(second) * 1000, at: .seconds(second)) }
    #expect(meter.bytesPerSecond == 1000)
    for second in 101...110 { meter.add(100_000, at: .seconds(second)) }
    #expect(meter.bytesPerSecond == 0)
  }

  #if os(Linux)
    @Test func `a board on a real terminal ends with its last state`() async throws {
      let terminal = try PseudoTerminal(width: 60, height: 10)
      let screen = Terminal(terminal.child, environment: Environment(["TERM": "xterm"]))
      #expect(screen.isInteractive)
      #expect(screen.size == .init(width: 60, height: 10))
      let rows = self.rows
      let totals = self.totals
      let failure = await #expect(throws: Failure.self) {
        try await LiveBoard.run(on: screen, isQuiet: false) { board async throws(Failure) in
          await board.update(rows, totals)
          await board.note("a note")
          throw Failure(.interrupted, "stopped", remedy: "Go on.")
        }
      }
      #expect(failure?.code == .interrupted)
      var model = ScreenModel(width: 60)
      model.write(terminal.readWritten())
      let expected = BoardLayout.lines(
        rows, totals, size: .init(width: 60, height: 10), palette: .plain, glyphs: .unicode)
      #expect(model.text.count == 1 + expected.count)
      #expect(model.text.first == "a note")
      #expect(model.text.last == expected.last)
      #expect(model.column == 0)
    }
  #endif

  @Test func `a quiet board writes nothing`() async throws {
    let pipe = Pipe()
    let terminal = Terminal(
      Descriptor(number: pipe.fileHandleForWriting.fileDescriptor), environment: Environment([:]))
    let (rows, totals) = (rows, totals)
    try await LiveBoard.run(on: terminal, isQuiet: true) { board async throws(Failure) in
      await board.update(rows, totals)
      await board.note("a note")
    }
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd() == nil)
  }
}
