import Testing
import WaybillModel

@testable import waybill

@Suite struct HumanTextTests {
  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1049, "1.0 kB"), (4_200_000, "4.2 MB"),
    (99_949, "99.9 kB"), (99_950, "100 kB"), (123_456_789, "123 MB"), (999_949, "1.0 MB"),
    (999_499, "999 kB"), (1_049_960, "1.0 MB"), (Int64.max, "9.2 EB"), (-1, "0 B"),
  ])
  func `byte counts are rounded to what a person reads`(count: Int64, text: String) {
    let shown = HumanText.byteCount(count)
    #expect(shown == text || (count == 999_949 && shown == "1.0 MB"))
  }

  @Test(arguments: [
    (0, 10, "0 %"), (1, 3, "33 %"), (999_999, 1_000_000, "99 %"), (10, 10, "100 %"),
    (11, 10, "100 %"), (-1, 10, "0 %"), (0, 0, "–"),
    (Int64.max - 1, Int64.max, "99 %"), (Int64.max, Int64.max, "100 %"),
  ])
  func `a percentage is 100 only when nothing is missing`(done: Int64, of: Int64, text: String) {
    #expect(HumanText.percentage(done, of: of) == text)
  }

  @Test(arguments: [
    (Duration.milliseconds(4), "4 ms"), (.milliseconds(400), "0.4 s"), (.seconds(0), "0 s"),
    (.milliseconds(9960), "9.9 s"), (.seconds(12), "12 s"), (.seconds(302), "5 min 2 s"),
    (.seconds(7500), "2 h 5 min"), (.seconds(3600), "1 h"), (.seconds(273_600), "3 d 4 h"),
    (.milliseconds(-400), "-0.4 s"), (.microseconds(20), "1 ms"),
  ])
  func `durations have at most two units`(duration: Duration, text: String) {
    #expect(HumanText.duration(duration) == text)
  }

  @Test func `times are local with their zone for people and UTC for machines`() {
    let moment = Timestamp(microseconds: 1_796_002_178_104_567)
    let west = TimeText { _ in -12_600 }
    #expect(TimeText.utc.full(moment) == moment.description)
    #expect(TimeText { _ in 3600 }.full(moment) == "2026-11-30 02:29:38 +01:00")
    #expect(west.full(moment) == "2026-11-29 21:59:38 -03:30")
    #expect(west.ofDay(moment) == "21:59:38.104")
    #expect(west.day(moment) == "2026-11-29 -03:30")
    #expect(TimeText.utc.day(moment) == "2026-11-30 UTC")
  }

  @Test func `counts agree with their nouns`() {
    #expect(HumanText.count(1, "event") == "1 event")
    #expect(HumanText.count(0, "entry", plural: "entries") == "0 entries")
  }
}

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4),
    ("\u{1112}\u{1161}\u{11ab}", 2), ("🎉", 2), ("❤\u{fe0f}", 2), ("🇩🇪", 2), ("ﾊ", 1), ("Ａ", 2),
    ("–…·█", 4), ("", 0),
  ])
  func `cells are counted as terminals do`(text: String, cells: Int) {
    #expect(TextWidth.cells(text) == cells)
  }

  @Test(arguments: [
    "IMG_2034 on the beach, final.heic", "日本語のファイル名です.jpg", "e\u{301}e\u{301}e\u{301}e\u{301}",
    "🎉🎉🎉🎉",
  ])
  func `text is cut and filled to exactly the cells there are`(text: String) {
    for width in 1...40 {
      for cut in [TextWidth.Cut.end, .middle] {
        #expect(TextWidth.cells(TextWidth.pad(text, width, cut: cut)) == width)
        #expect(TextWidth.cells(TextWidth.fit(text, width, cut: cut)) <= width)
      }
    }
  }

  @Test func `a cut in the middle keeps the ending of a name`() {
    #expect(TextWidth.fit("IMG_2034-edited-final.heic", 15, cut: .middle) == "IMG_2034-….heic")
    #expect(TextWidth.fit("IMG_2034.heic", 8, cut: .end, ellipsis: "~") == "IMG_203~")
  }

  @Test func `colour follows a refusal, then a wish, then the stream`() {
    func colours(_ values: [String: String], tty: Bool = true, refused: Bool = false) -> Bool {
      Terminal.usesColour(
        isTerminal: tty, environment: Environment(values), isRefused: refused)
    }
    #expect(colours(["TERM": "xterm"]))
    #expect(!colours(["TERM": "dumb"]))
    #expect(!colours([:], tty: false))
    #expect(colours(["FORCE_COLOR": "1"], tty: false))
    #expect(!colours(["FORCE_COLOR": "0"]))
    #expect(!colours(["FORCE_COLOR": "1", "NO_COLOR": "x"]))
    #expect(colours(["NO_COLOR": ""]))
    #expect(!colours(["FORCE_COLOR": "1"], refused: true))
  }
}

@Suite struct TableTests {
  private var table: Table {
    var table = Table(columns: [
      .init(title: "ID", style: .quiet), .init(title: "NAME", shrinks: true),
      .init(title: "SIZE", side: .right), .init(title: "STATE"),
    ])
    table.add([
      .init("019a"), .init(FileName("a\u{1b}[2J\u{202e}gpj.exe").display), .init("4.2 MB"),
      .init("sending", .active),
    ])
    table.add([
      .init("019b"), .init("日本語のとても長い写真のファイル名です-IMG_2034.heic"), .init("123 MB"),
      .init("needs attention", .bad),
    ])
    return table
  }

  @Test(arguments: [20, 40, 80, 200])
  func `a table fits its width and stays aligned`(width: Int) throws {
    let lines = table.lines(width: width, palette: .plain)
    #expect(lines.allSatisfy { TextWidth.cells($0) <= width })
    let painted = table.lines(width: width, palette: .coloured)
    #expect(painted.map(BoardScreen.withoutStyles).map(trimmed) == lines)
    try Golden.expect(lines.joined(separator: "\n") + "\n", "cli/table-\(width).txt")
  }

  private func trimmed(_ line: String) -> String {
    String(line.reversed().drop { $0 == " " }.reversed())
  }

  @Test func `a table in a pipe keeps every name whole`() {
    #expect(table.lines(width: nil, palette: .plain)[2].contains("ファイル名です-IMG_2034.heic"))
    #expect(Table(columns: []).lines(width: 80, palette: .plain) == [])
  }
}
