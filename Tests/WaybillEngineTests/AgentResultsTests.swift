#if os(Linux)
  import Foundation
  import Testing
  import WaybillModel

  @testable import WaybillEngine

  @Suite struct AgentResultsTests {
    private let path = NSTemporaryDirectory() + "waybill-results-" + UUID().uuidString

    private func with(_ body: (inout AgentResults) throws -> Void) throws {
      var results = try AgentResults(path: path)
      try body(&results)
      results.close()
    }

    private func reply(_ body: String, _ headers: [HTTPHeader] = []) -> HTTPOutcome {
      .reply(HTTPReply(status: 200, headers: headers, body: Array(body.utf8)))
    }

    private var file: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test func `results outlive the process until they are acknowledged`() throws {
      defer { unlink(path) }
      let outcomes: [HTTPOutcome] = [
        reply("{\"received\":[0]}", [HTTPHeader("Retry-After", "3")]), .noReply(.timedOut),
        reply(""),
      ]
      try with { results in
        for (part, outcome) in outcomes.enumerated() {
          let kept = results.add(outcome, of: .sample(part: part), session: "a", secrets: [])
          #expect(kept.number == Int64(part + 1))
        }
        results.acknowledge(2, of: .sample(part: 1), session: "a")
        // Of another session, of another transfer, and of nothing.
        results.acknowledge(1, of: .sample(part: 0), session: "b")
        results.acknowledge(1, of: .sample(part: 7), session: "a")
        results.acknowledge(9, of: .sample(part: 0), session: "a")
      }
      try with { results in
        #expect(results.results(of: "a").map(\.number) == [1, 3])
        #expect(results.results(of: "a").map(\.outcome) == [outcomes[0], outcomes[2]])
        #expect(results.results(of: "a", after: 1).map(\.task) == [.sample(part: 2)])
        #expect(results.results(of: "b").isEmpty)
        for result in results.results(of: "a") {
          results.acknowledge(result.number, of: result.task, session: "a")
        }
      }
      #expect(file == "")
      try with { #expect($0.count == 0) }
    }

    @Test func `a damaged file costs what is damaged and no more`() throws {
      defer { unlink(path) }
      try with { results in
        for part in 0..<3 {
          _ = results.add(reply("\(part)"), of: .sample(part: part), session: "a", secrets: [])
        }
      }
      // As a kill in the middle of a write leaves it.
      let handle = try FileHandle(forWritingTo: URL(filePath: path))
      try handle.truncate(atOffset: UInt64(file.utf8.count - 9))
      try handle.close()
      try with { results in
        #expect(results.results(of: "a").map(\.number) == [1, 2])
        let next = results.add(reply("x"), of: .sample(part: 4), session: "a", secrets: [])
        #expect(next.number == 3)
      }
      try Data((file + "\u{0}\n{}\n[1]\n{\"result\":1}\n").utf8).write(to: URL(filePath: path))
      try with { #expect($0.results(of: "a").map(\.number) == [1, 2, 3]) }
    }

    @Test func `what a server sends back of the credential is not kept`() throws {
      defer { unlink(path) }
      let canary = "canary-0123456789"
      try with { results in
        let echoed = reply(
          "{\"you sent\":\"\(canary)\"}",
          [
            HTTPHeader("Set-Cookie", "session=1"), HTTPHeader("Location", "https://signed"),
            HTTPHeader("Content-Type", "text/\(canary)"), HTTPHeader("Date", "today"),
          ])
        let kept = results.add(
          echoed, of: .sample(part: 0), session: "a", secrets: [Array(canary.utf8)])
        guard case .reply(let shown) = kept.outcome else {
          Issue.record("it was kept as \(kept.outcome)")
          return
        }
        #expect(shown.body.isEmpty && shown.isTruncated)
        _ = results.add(echoed, of: .sample(part: 1), session: "a", secrets: [])
      }
      // The second one shows that the first search would have found something.
      #expect(file.components(separatedBy: Base64.encode(Array("{\"you ".utf8))).count == 2)
      #expect(!file.contains("Set-Cookie") && !file.contains("signed"))
      #expect(file.contains("today"))
    }

    @Test func `a file that is mostly of the past is written anew`() throws {
      defer { unlink(path) }
      let body = String(repeating: "x", count: 60_000)
      try with { results in
        let kept = results.add(reply("kept"), of: .sample(part: 0), session: "a", secrets: [])
        for part in 1...200 {
          let result = results.add(reply(body), of: .sample(part: part), session: "a", secrets: [])
          results.acknowledge(result.number, of: result.task, session: "a")
        }
        #expect(results.results(of: "a") == [kept])
      }
      #expect(file.utf8.count < 5 << 20)
      try with { #expect($0.results(of: "a").map(\.number) == [1]) }
    }

    @Test func `a link in the place of the file is not followed`() throws {
      defer { unlink(path) }
      symlink("/etc/passwd", path)
      #expect(throws: (any Error).self) { try AgentResults(path: path) }
    }
  }
#endif
