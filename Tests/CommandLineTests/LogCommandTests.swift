import Testing
import WaybillModel

@Suite struct LogCommandTests {
  @Test func `a push reads as its story, newest last`() async throws {
    let rig = try Rig()
    _ = try await rig.run("push", try rig.file("a.jpg"), "--to", rig.url)
    let log = try await rig.run("log", "--upload", try await rig.ids()[0])
    try Golden.expect(log.output.settled, "cli/log.txt")
    let show = try await rig.run("show", try await rig.ids()[0])
    try Golden.expect(show.output.settled, "cli/show.txt")
    let all = try await rig.run("log", "--jsonl").output.split(separator: "\n")
    let newest = try await rig.run("log", "-r", "-n", "2", "--jsonl").output.split(separator: "\n")
    #expect(Array(all.suffix(2).reversed()) == newest)
    #expect(
      try await rig.run("log", "--since", "1h", "--jsonl").output.split(separator: "\n") == all)
    #expect(try await rig.run("log", "--until", "2001-01-01T00:00:00Z", "--jsonl").output == "")
  }

  @Test func `each line has the stable shape and a time in UTC`() async throws {
    let rig = try Rig()
    rig.environment["TZ"] = "Europe/Berlin"
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    let lines = try await rig.run("log", "--jsonl").output.split(separator: "\n")
    #expect(lines.count == 4)
    for (index, line) in lines.enumerated() {
      let event = try JSONValue.read([UInt8](line.utf8))
      #expect(event["v"]?.integer == 1 && event["type"]?.text == "event")
      #expect(event["position"]?.integer == Int64(index + 1))
      #expect((event["revision"]?.integer ?? 0) >= 1)
      #expect(event["kind"]?.text?.contains(".") == true)
      let time = try #require(event["ts"]?.text)
      #expect(time.wholeMatch(of: /[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z/) != nil)
      #expect(event["upload"] != nil)
    }
    let first = try await rig.run("log", "-n", "1")
    #expect(first.output.contains("+01:00") || first.output.contains("+02:00"))
    #expect(try await rig.run("log", "--utc", "-n", "1").output.contains("Z  "))
  }

  @Test(arguments: [
    ["--since", "yesterday"], ["--until", "2026-11-30"], ["-n", "0"], ["--json", "--jsonl"],
    ["--launch", "x"],
  ])
  func `what cannot be meant is a usage error`(words: [String]) async throws {
    let rig = try Rig()
    _ = try await rig.run("add", try rig.file("a.jpg"), "--to", rig.url)
    let ended = try await Binary.run(["log"] + words, environment: rig.environment)
    #expect(ended.status == 2)
    #expect(ended.output == "")
    let kind = try await rig.run("log", "--kind", "part.snt")
    #expect(kind.errors.contains("did you mean part.sent?"))
  }
}
