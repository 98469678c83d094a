import Testing
import WaybillModel

@testable import waybill

@Suite struct ArgumentParserTests {
  private func parse(_ words: [String]) throws(Failure) -> Arguments {
    let parser = ArgumentParser(command: "mirror", options: Command.mirror.allOptions)
    return try parser.parse(words.map { RawArgument($0) }[...]).0
  }

  private func problem(_ words: [String]) -> Failure? {
    do throws(Failure) { _ = try parse(words) } catch { return error }
    return nil
  }

  @Test(arguments: [
    ["-vn5"], ["-v", "-n5"], ["-vn", "5"], ["--verbose", "--limit=5"],
    ["--limit", "5", "-v"], ["-n", "7", "-vn5"],
  ])
  func `a value follows its option in every usual spelling`(words: [String]) throws {
    let arguments = try parse(words)
    #expect(arguments.number("limit") == 5)
    #expect(arguments.has("verbose"))
    #expect(arguments.operands.isEmpty)
  }

  @Test func `words behind two dashes are operands`() throws {
    let arguments = try parse(["a", "-v", "-", "--", "-v", "--limit"])
    #expect(arguments.operands.map(\.display) == ["a", "-", "-v", "--limit"])
  }

  @Test func `a repeatable option keeps every value and others the last`() throws {
    let arguments = try parse(["--kind=part.sent", "--kind", "part.failed", "--to=a", "--to=b=c"])
    #expect(arguments.texts("kind") == ["part.sent", "part.failed"])
    #expect(arguments.text("to") == "b=c")
  }

  @Test func `quantities are read with their units`() throws {
    let arguments = try parse(["--every", "1h", "--part=8MiB"])
    #expect(arguments.duration("every") == .seconds(3600))
    #expect(arguments.number("part") == 8 << 20)
  }

  @Test(arguments: [
    (["--lmit", "5"], "mirror has no option --lmit; did you mean --limit?"),
    (["--qxz"], "mirror has no option --qxz"), (["-vx"], "mirror has no option -x"),
    (["--limit"], "--limit needs a value: N"), (["-n"], "-n needs a value: N"),
    (["--limit=five"], "--limit five: this is not a whole number"),
    (["--limit=0"], "--limit 0: choose from 1 to 100"),
    (
      ["--limit=99999999999999999999"],
      "--limit 99999999999999999999: this is not a whole number"
    ),
    (["--verbose=1"], "--verbose takes no value"),
    (
      ["--kind=part.snt"],
      "--kind part.snt: choose one of part.sent, part.failed; did you mean part.sent?"
    ),
    (["--every=2d"], "--every 2d: choose from 1 s to 1 h"),
    (["--part=8M"], "--part 8M: write a size such as 4096, 64KiB, 8MiB or 8MB"),
    (["--\u{1b}[2J"], "mirror has no option --\\x1b[2J"),
  ])
  func `a word that cannot be read is refused with the way out`(words: [String], says: String) {
    let failure = problem(words)
    #expect(failure?.what == says)
    #expect(failure?.exitCode == .usage)
    #expect(failure?.remedy == "Try 'waybill mirror --help'.")
  }

  @Test(arguments: [
    ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("250ms", 250),
    ("1h30m", 5_400_000), ("1d", 86_400_000), ("0s", 0),
  ])
  func `durations are read`(text: String, milliseconds: Int) throws {
    #expect(try Quantity.duration(text) == .milliseconds(milliseconds))
  }

  @Test(arguments: ["", "5", "m", "5x", "5 m", "-5m", "5mm", "99999999999999999d"])
  func `what is no duration is refused`(text: String) {
    #expect(throws: ValueProblem.self) { try Quantity.duration(text) }
  }

  @Test(arguments: [
    ("0", 0), ("512B", 512), ("64KiB", 65_536), ("8MB", 8_000_000),
    ("3kB", 3000), ("2TiB", 2 << 40),
  ])
  func `byte sizes are read`(text: String, bytes: Int64) throws {
    #expect(try Quantity.byteCount(text) == bytes)
  }

  @Test(arguments: ["", "MiB", "8M", "1.5MB", "-1", "8 MiB", "9999999999TiB"])
  func `what is no byte size is refused`(text: String) {
    #expect(throws: ValueProblem.self) { try Quantity.byteCount(text) }
  }

  @Test func `bytes that are no UTF-8 survive in operands and paths, and only there`() throws {
    let parser = ArgumentParser(command: "mirror", options: Command.mirror.allOptions)
    let name: [UInt8] = [0x61, 0xff, 0x0a, 0x62]
    let words = [RawArgument(bytes: name), RawArgument(bytes: [UInt8]("--ledger=".utf8) + name)]
    let arguments = try parser.parse(words[...]).0
    #expect(arguments.operands == [RawArgument(bytes: name)])
    #expect(arguments.path("ledger")?.bytes == name)
    #expect(arguments.operands[0].display == "a\\xff\\nb")
    #expect(throws: Failure.self) {
      try parser.parse([RawArgument(bytes: [UInt8]("--to=".utf8) + name)])
    }
  }

  @Test func `the file name of a path is its last component`() {
    func name(_ path: String) -> String { RawArgument(path).fileName.display }
    #expect(name("/a/b.jpg") == "b.jpg")
    #expect(name("b.jpg") == "b.jpg")
    #expect(name("a/b//") == "b")
    #expect(name("/") == "")
  }

  @Test func `a slip of the hand finds its word and a stranger none`() {
    let names = ["status", "stats", "queue", "completions"]
    #expect(Suggestion.nearest(to: "sttaus", among: names) == "status")
    #expect(Suggestion.nearest(to: "qeue", among: names) == "queue")
    #expect(Suggestion.nearest(to: "comp", among: names) == "completions")
    #expect(Suggestion.nearest(to: "delete", among: names) == nil)
    #expect(Suggestion.nearest(to: String(repeating: "s", count: 9999), among: names) == nil)
  }
}
