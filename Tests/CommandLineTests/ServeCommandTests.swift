import Foundation
import Testing

@Suite struct ServeCommandTests {
  @Test func `it says where it listens, and when it stops, which faults fired`() async throws {
    let rig = try Rig()
    let server = try rig.start(
      "serve", "--data", rig.path("other"), "--token-file", rig.path("tokens"), "--listen",
      "127.0.0.1:0", "--fault", "open#1:503/retry-after=1,commit#9:drop")
    let line = try #require(server.outputLine())
    let url = String(line.dropFirst("listening on ".count))
    _ = try await rig.run("push", try rig.file("a.jpg"), "--to", url)
    server.send(SIGTERM)
    let ended = server.end()
    #expect(ended.status == 0)
    #expect(
      ended.errors == """
        waybill: stopped; 1.3 kB received, 1 photo held
        waybill: fault open#1:503/retry-after=1 fired 1 time
        waybill: fault commit#9:drop fired 0 times

        """)
  }

  @Test(arguments: [
    ("0.0.0.0:0", true), ("[::]:0", true), ("127.0.0.2:0", false), ("[::1]:0", false),
  ])
  func `it warns where a network can read along`(address: String, isWarned: Bool) throws {
    let rig = try Rig()
    let server = try rig.start(
      "serve", "--data", rig.path("other"), "--token-file", rig.path("tokens"), "--listen", address)
    _ = try #require(server.outputLine())
    server.send(SIGTERM)
    let errors = server.end().errors.split(separator: "\n")
    let warning = "waybill: warning: no TLS: who is on the network can read tokens and photos"
    #expect(errors.first.map { $0.hasPrefix(warning) } == isWarned, "\(errors)")
    #expect(errors.count == (isWarned ? 2 : 1))
  }

  @Test func `what it cannot start with is named`() async throws {
    let rig = try Rig()
    let data = rig.path("other")
    for (words, code, told) in [
      (["serve", "--quota", "much"], 2, "quota"), (["serve", "--opens-per-hour", "0"], 2, "1 to"),
      (["serve", "--requests-per-minute", "-1"], 2, "1 to"),
      (["serve", "--session-lifetime", "0s"], 2, "1 s to"),
      (["serve"], 2, "no data folder"), (["serve", "--data", data], 2, "no token file"),
      (["serve", "--data", data, "--token-file", rig.path("none")], 1, "cannot be opened"),
      (["serve", "--data", data, "--token-file", try rig.file("random")], 1, "token"),
      (["serve", "--data", data, "--token-file", rig.path("\u{1b}[2J")], 1, "\\x1b[2J"),
      (["serve", "--data", data, "--token-file", try rig.pipe("pipe")], 1, "no regular file"),
      (
        ["serve", "--data", data, "--token-file", rig.path("tokens"), "--listen", "here"], 2,
        "is no ADDRESS:PORT"
      ),
      (
        ["serve", "--data", data, "--token-file", rig.path("tokens"), "--fault", "opne:html"], 1,
        "fault"
      ),
      (
        ["serve", "--data", rig.path("server"), "--token-file", rig.path("tokens")], 1, "server"
      ),
    ] {
      let ended = try await Binary.run(words, environment: rig.environment)
      #expect(ended.status == Int32(code), "\(words)")
      #expect(ended.output == "")
      #expect(!ended.errors.contains("\u{1b}"))
      #expect(ended.errors.contains(told), "\(ended.errors)")
    }
  }
}
