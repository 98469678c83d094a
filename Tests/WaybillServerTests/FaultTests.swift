import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillServer

@Suite struct FaultTests {
  @Test func `a dropped request does no work and closes the connection`() throws {
    let host = try TestServer(faults: "open#1:drop")
    #expect(try host.open([1], key: "k").status == 0)
    #expect(try host.open([1], key: "k").status == 201)
    #expect(host.server.firedFaults.map(\.count) == [1])
    #expect(host.server.counts.requests(.open) == 2)
  }

  @Test func `a dropped reply keeps the work`() throws {
    let host = try TestServer(faults: "commit:drop-reply")
    let id = try host.session(for: [1])
    #expect(try host.put(id, 0, [1]).status == 200)
    let lost = try host.commit(id)
    #expect(lost.status == 0)
    #expect(lost.exitCode == 52)
    #expect(host.server.photoCount == 1)
    #expect(try host.commit(id).status == 200)
  }

  @Test func `a status is answered with its hint and does no work`() throws {
    let date = "Wed, 21 Oct 2026 07:28:00 GMT"
    let host = try TestServer(
      faults: "part#1-2:503/retry-after=2, part#3:429/retry-after=\(date), part#4:401")
    let id = try host.session(for: [1])
    for _ in 0..<2 {
      let answer = try host.put(id, 0, [1])
      #expect(answer.status == 503)
      #expect(answer.headers["retry-after"] == "2")
      #expect(answer.slug == "rehearsed")
    }
    #expect(try host.put(id, 0, [1]).headers["retry-after"] == date)
    #expect(try host.put(id, 0, [1]).headers["www-authenticate"] == "Bearer")
    #expect(try host.status(id).received == [])
    #expect(try host.put(id, 0, [1]).status == 200)
    #expect(host.server.firedFaults.map(\.count) == [2, 1, 1])
  }

  @Test func `a captive portal, an empty reply and a redirect do no work`() throws {
    let host = try TestServer(faults: "open#1:html,open#2:empty,open#3:redirect=http://x/a,b")
    let page = try host.open([1])
    #expect(page.status == 200)
    #expect(page.headers["content-type"] == "text/html")
    #expect(page.json == nil)
    let empty = try host.open([1])
    #expect(empty.status == 200 && empty.body.isEmpty)
    let redirect = try host.open([1])
    #expect(redirect.status == 307)
    #expect(redirect.headers["location"] == "http://x/a,b")
    #expect(try host.open([1]).status == 201)
  }

  @Test func `a truncated reply is half a document with a right frame`() throws {
    let host = try TestServer(faults: "open*:truncated")
    let answer = try host.open([1])
    #expect(answer.status == 201)
    #expect(answer.exitCode == 0)
    #expect(answer.json == nil && answer.body.first == UInt8(ascii: "{"))
  }

  // N03, N04: the server forgets.
  @Test func `a session can be forgotten and a part lost`() throws {
    let host = try TestServer(faults: "status#2:lose=1,status#3:forget")
    let id = try host.session(for: [1, 2, 3, 4, 5])
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
    #expect(try host.put(id, 1, [5]).status == 200)
    #expect(try host.status(id).received == [0, 1])
    #expect(try host.status(id).received == [0])
    #expect(try host.status(id).status == 404)
    #expect(host.storedFiles.isEmpty)
  }

  @Test func `an open can find its session forgotten`() throws {
    let host = try TestServer(faults: "open#2:forget")
    let first = try host.open([1], key: "k").text("uploadId")
    let second = try host.open([1], key: "k").text("uploadId")
    #expect(first != nil && second != nil && first != second)
  }

  @Test func `a delay keeps one request waiting and no other`() throws {
    let host = try TestServer(faults: "status#1:delay=300")
    let start = ContinuousClock.now
    let late = try host.begin("GET", "/v1/uploads/u-1")
    while host.server.counts.requests(.status) < 1, start.duration(to: .now) < .seconds(10) {
      sched_yield()
    }
    #expect(try host.status("u-1").status == 404)
    #expect(try late.wait().status == 404)
    #expect(start.duration(to: .now) >= .milliseconds(300))
  }

  // N07: done, but with another hash.
  @Test func `a wrong hash is told only in the reply`() throws {
    let host = try TestServer(faults: "commit#1:wrong-hash")
    let id = try host.session(for: [1])
    #expect(try host.put(id, 0, [1]).status == 200)
    let wrong = try host.commit(id)
    let right = try host.commit(id)
    #expect(wrong.text("photoId") == right.text("photoId"))
    #expect(wrong.text("sha256") != right.text("sha256"))
    #expect(wrong.text("sha256")?.count == 64)
  }

  @Test func `the words of an answer may stand in any order and hold what dates hold`() throws {
    let host = try TestServer(
      faults: "open:503/done/html/retry-after=Sun, 06 Nov 1994 08:49:37 GMT,"
        + "open#2:429/retry-after=a, b/slug=slow-down")
    let page = try host.open([1], key: "k")
    #expect(page.status == 503 && page.headers["content-type"] == "text/html")
    #expect(page.headers["retry-after"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    let refused = try host.open([1], key: "k")
    #expect(refused.slug == "slow-down" && refused.headers["retry-after"] == "a, b")
  }

  @Test func `a header line takes the place of the server's own, and hostile text stays a value`()
    throws
  {
    let host = try TestServer(
      faults: "any*:header=Content-Type:text/plain, any*:header=Cache-Control:max-age=1,"
        + #"any*:set=a"b:1"#.replacing("\"", with: "_"))
    let answer = try host.status("u-1")
    #expect(answer.headers["content-type"] == "text/plain")
    #expect(answer.headers["cache-control"] == "max-age=1")
    #expect(answer.json?["a_b"]?.integer == 1)
  }

  // C11, B20
  @Test func `an answer after the work keeps the work, whatever it came to`() throws {
    let host = try TestServer(faults: "part*:503/done,commit#1:504/done")
    let id = try host.session(for: [1])
    #expect(try host.put(id, 0, [9], digestOf: [1]).status == 503)
    #expect(try host.status(id).received == [])
    #expect(try host.put(id, 0, [1]).status == 503)
    #expect(try host.status(id).received == [0])
    #expect(try host.commit(id).status == 504)
    #expect(host.server.photoCount == 1)
  }

  @Test func `any counts requests of every endpoint`() throws {
    let host = try TestServer(faults: "any#2:503")
    #expect(try host.status("u-1").status == 404)
    #expect(try host.open([1]).status == 503)
    #expect(try host.open([1]).status == 201)
  }

  @Test func `a rule can be aimed at one upload, and counts that upload's requests`() throws {
    let host = try TestServer(faults: "open@b.jpg#2:503,part@b.jpg*:409,status@b.jpg:drop")
    let a = try host.session(for: [1])
    let b = try #require(try host.open([2], key: "k", name: "b.jpg").text("uploadId"))
    #expect(try host.open([2], key: "k", name: "b.jpg").status == 503)
    #expect(try host.open([2], key: "k", name: "b.jpg").status == 201)
    #expect(try host.put(a, 0, [1]).status == 200)
    #expect(try host.put(b, 0, [2]).status == 409)
    #expect(try host.put(b, 0, [2]).status == 409)
    #expect(try host.status(a).status == 200)
    #expect(try host.status(b).status == 0)
    #expect(try host.commit(a).status == 200)
    #expect(host.server.firedFaults.map(\.count) == [1, 2, 1])
  }

  @Test func `a rule is aimed by the hash as well, and a session can be forgotten by it`() throws {
    let hash = SHA256.hash([7] as [UInt8]).description
    let host = try TestServer(faults: "open@\(hash)#2:forget,commit@\(hash):202")
    let first = try host.open([7], key: "k").text("uploadId")
    let second = try #require(try host.open([7], key: "k").text("uploadId"))
    #expect(first != second)
    #expect(try host.put(second, 0, [7]).status == 200)
    #expect(try host.commit(second).status == 202)
    #expect(try host.commit(second).status == 200)
  }

  @Test func `a reply that drips comes byte by byte and holds up no other one`() throws {
    let host = try TestServer(faults: "open@slow.jpg:drip=20")
    let start = ContinuousClock.now
    let slow = try host.begin(
      "POST", "/v1/uploads", headers: ["Content-Type: application/json"],
      body: [UInt8](
        #"{"sha256":"\#(SHA256.hash([3] as [UInt8]))","byteCount":1,"fileName":"slow.jpg"}"#.utf8))
    while host.server.counts.requests(.open) < 1 { sched_yield() }
    #expect(try host.status("u-1").status == 404)
    let answer = try slow.wait()
    #expect(answer.status == 201)
    #expect(answer.text("uploadId") != nil)
    #expect(start.duration(to: .now) >= .milliseconds(20 * answer.body.count))
  }

  @Test func `a server stops in the middle of a reply that drips`() throws {
    let host = try TestServer(faults: "status:drip=600000")
    let id = try host.session(for: [1])
    let slow = try host.begin("GET", "/v1/uploads/\(id)")
    while host.server.counts.requests(.status) < 1 { sched_yield() }
    host.server.stop(graceMilliseconds: 1000)
    #expect(try slow.wait().exitCode != 0)
  }

  @Test func `several rules can shape one request and the first answer wins`() throws {
    let host = try TestServer(faults: "open:delay=50,open:503,open:html")
    let start = ContinuousClock.now
    #expect(try host.open([1]).status == 503)
    #expect(start.duration(to: .now) >= .milliseconds(50))
  }

  @Test(arguments: [
    ("x:drop", 1), ("open", 5), ("open:", 6), ("open:fly", 6), ("open#:drop", 6),
    ("open#0:drop", 6), ("open#3-2:drop", 8), ("open:600", 6), ("open:199", 6), ("part:lose", 10),
    ("part:lose=x", 10), ("part:delay=600001", 11), ("open:503/later", 9),
    ("open:redirect=", 15), ("open:drop,", 11), ("open:drop;part:drop", 6),
    ("open:redirect=a\u{0d}b", 16), ("open@:drop", 6), ("part:drip", 10), ("part:set=a", 11),
    ("part:set=a b:1", 9), ("part:set", 9), ("part:header=X", 14), ("part:header=X:", 15),
    ("part:header=Content-Length:9", 12), ("part:header=X:a\u{0d}b", 16), ("part:skew", 10),
    ("part:skew=1.5", 10), ("part:skew=99999999999", 10), ("part:503/soon", 9),
    ("part:409/slug=A", 9), ("part:409/slug=", 15),
  ])
  func `a script that cannot be read names the byte`(script: String, byte: Int) {
    let error = #expect(throws: ServerError.self) { try FaultScript(script) }
    #expect(error?.code == .faultScript)
    #expect(error?.message.contains("byte \(byte):") == true, "\(error?.message ?? "")")
  }

  @Test func `a script is read as it was written`() throws {
    let script = try FaultScript(" open@a.jpg#2-5:drop , part*:503/retry-after=2,any#*:delay=10 ")
    #expect(
      script.rules.map(\.description) == [
        "open@a.jpg#2-5:drop", "part*:503/retry-after=2", "any#*:delay=10",
      ])
    #expect(script.rules.map(\.requests) == [2...5, 1...Int.max, 1...Int.max])
    #expect(script.rules[2].endpoint == nil)
    #expect(script.rules.map(\.target) == ["a.jpg", nil, nil])
    #expect(try FaultScript("") == .none)
  }
}
