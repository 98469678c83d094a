import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillServer

/// A fault of the field, the script that plays it on our endpoints, and what a client then sees.
struct FieldCase: Sendable, CustomTestStringConvertible {
  let id: String
  let script: String
  let play: @Sendable (TestServer) throws -> Void

  init(_ id: String, _ script: String, _ play: @escaping @Sendable (TestServer) throws -> Void) {
    self.id = id
    self.script = script
    self.play = play
  }

  var testDescription: String { "\(id) \(script.prefix(60))" }
}

/// Every case of sessions (B) and of replies, clocks and credentials (C) that was reported of
/// upload clients, played over a real socket. What the client makes of it is the engine's to test.
@Suite struct FieldCaseTests {
  /// All ids of the two kinds.
  private static let ids: Set = [
    "B01", "B02", "B04", "B05", "B06", "B08", "B09", "B11", "B12", "B13", "B14", "B16", "B17",
    "B19", "B20", "B22", "C01", "C03", "C04", "C05", "C07", "C08", "C09", "C10", "C11", "C13",
  ]

  /// Cases that no reply plays, with the reason.
  private static let clientSide = [
    "B17": "part rows are written by the client, all at once or not at all",
    "C09": "a request is built after the wait; the server only asks for the wait, as in C01",
  ]

  private static var cases: [FieldCase] { sessions + replies }

  @Test func `every case is played, or it is said why no server can`() {
    let played = Set(Self.cases.map(\.id))
    #expect(played.union(Self.clientSide.keys) == Self.ids)
    #expect(played.isDisjoint(with: Self.clientSide.keys))
  }

  @Test(arguments: cases)
  func `the script plays the case`(_ fieldCase: FieldCase) throws {
    let host = try TestServer(faults: fieldCase.script)
    try fieldCase.play(host)
    for fault in host.server.firedFaults {
      #expect(fault.count > 0, "\(fault.rule) did not apply")
    }
  }
}

/// Five bytes make two parts, of four and of one.
private let bytes: [UInt8] = [1, 2, 3, 4, 5]

extension TestServer {
  /// What `set=` put into the document of an answer, whether or not that is JSON any more.
  fileprivate func holds(_ answer: Answer, _ text: String) -> Bool {
    String(decoding: answer.body, as: UTF8.self).contains(text)
  }

  /// Sends both parts and commits, to see that nothing is left of the fault.
  fileprivate func finish(_ id: String) throws {
    #expect(try put(id, 0, [1, 2, 3, 4]).status == 200)
    #expect(try put(id, 1, [5]).status == 200)
    #expect(try commit(id).status == 200)
    #expect(server.photoCount == 1)
  }
}

// MARK: Sessions and offsets

private let sessions: [FieldCase] = [
  FieldCase(
    "B01", "status#1:lose=1,part#3:409/slug=offset-conflict,part#3:set=offset:4194304"
  ) { host in
    let id = try host.session(for: bytes)
    _ = try host.put(id, 0, [1, 2, 3, 4])
    _ = try host.put(id, 1, [5])
    #expect(try host.status(id).received == [0])
    let stale = try host.put(id, 1, [5])
    #expect(stale.status == 409 && stale.json?["offset"]?.integer == 4_194_304)
    #expect(try host.commit(id).json?["missing"] == .array([.integer(1)]))
    try host.finish(id)
  },
  FieldCase("B02", "part#1:delay=400") { host in
    let id = try host.session(for: bytes)
    let first = try host.begin(
      "PUT", "/v1/uploads/\(id)/parts/0",
      headers: ["Content-Type: application/octet-stream", TestServer.digest([1, 2, 3, 4])],
      body: [1, 2, 3, 4])
    try host.waitForPartBytes(4)
    let loser = try host.put(id, 0, [1, 2, 3, 4])
    #expect(loser.slug == "part-in-progress" && loser.headers["retry-after"] == "1")
    #expect(try first.wait().status == 200)
    try host.finish(id)
  },
  FieldCase("B04", "status*:410/slug=session-expired,part*:410,open#2:forget") { host in
    let id = try host.open(bytes, key: "k").text("uploadId") ?? ""
    for _ in 0..<3 { #expect(try host.status(id).slug == "session-expired") }
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 410)
    let next = try host.open(bytes, key: "k")
    #expect(next.status == 201 && next.text("uploadId") != id)
  },
  FieldCase("B05", "open#1:404/bare,status#1:404/bare") { host in
    let refused = try host.open([])
    #expect(refused.status == 404 && refused.body.isEmpty)
    let id = try host.session(for: [])
    #expect(try host.status(id).status == 404)
    #expect(try host.commit(id).status == 200)
  },
  FieldCase("B06", "status#1-3:drop") { host in
    let id = try host.session(for: bytes)
    for _ in 0..<3 {
      let lost = try host.status(id)
      #expect(lost.status == 0 && lost.exitCode == 52)
    }
    #expect(try host.status(id).received == [])
    try host.finish(id)
  },
  FieldCase("B08", "open#1:drop-reply") { host in
    #expect(try host.open(bytes, key: "k").status == 0)
    let id = try #require(try host.open(bytes, key: "k").text("uploadId"))
    #expect(try host.open(bytes, key: "k").text("uploadId") == id)
    try host.finish(id)
  },
  FieldCase("B09", "part#1:308/bare,status#1:308/bare") { host in
    let id = try host.session(for: bytes)
    for answer in [try host.put(id, 0, [1, 2, 3, 4]), try host.status(id)] {
      #expect(answer.status == 308 && answer.body.isEmpty)
      #expect(answer.headers["range"] == nil && answer.headers["location"] == nil)
    }
    #expect(try host.status(id).received == [])
    try host.finish(id)
  },
  FieldCase(
    "B11",
    hostileNumbers.enumerated().map {
      "status#\($0 + 1):set=partCount:\($1),part#\($0 + 1):set=received:\($1)"
    }.joined(separator: ",") + ",open#2:set=partSize:9223372036854775808,open#3:set=partCount:-1"
  ) { host in
    let id = try host.session(for: bytes)
    for text in hostileNumbers {
      #expect(host.holds(try host.status(id), #""partCount":\#(text),"state""#))
      #expect(host.holds(try host.put(id, 0, [1, 2, 3, 4]), #""received":\#(text),"partCount""#))
    }
    #expect(host.holds(try host.open(bytes), #""partSize":9223372036854775808,"#))
    #expect(host.holds(try host.open(bytes), #""partCount":-1,"#))
    try host.finish(id)
  },
  FieldCase("B12", #"status#1:set=state:"expired""#) { host in
    let id = try host.session(for: bytes)
    #expect(try host.status(id).text("state") == "expired")
    #expect(host.server.counts.partBodyBytes == 0)
  },
  FieldCase("B13", "status#1:401,status#2:403") { host in
    let id = try host.session(for: bytes)
    let unauthorized = try host.status(id)
    #expect(unauthorized.status == 401 && unauthorized.headers["www-authenticate"] == "Bearer")
    #expect(try host.status(id).status == 403)
    try host.finish(id)
  },
  FieldCase("B14", "part*:422,abandon#1:500") { host in
    let id = try host.session(for: bytes)
    for _ in 0..<2 { #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 422) }
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 500)
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 204)
    #expect(try host.status(id).status == 404)
  },
  FieldCase("B16", #"part#1:set=etag:"a",part#2:set=etag:"b""#) { host in
    let id = try host.session(for: bytes)
    for tag in ["a", "b"] {
      let answer = try host.put(id, 0, [1, 2, 3, 4])
      #expect(answer.received == [0] && answer.text("etag") == tag)
    }
    #expect(try host.put(id, 0, [4, 3, 2, 1]).slug == "part-differs")
    try host.finish(id)
  },
  FieldCase("B19", "commit#1:delay=1500,commit#2:423/retry-after=1") { host in
    let id = try host.session(for: bytes)
    _ = try host.put(id, 0, [1, 2, 3, 4])
    _ = try host.put(id, 1, [5])
    let slow = try host.begin(
      "POST", "/v1/uploads/\(id)/commit", headers: ["Idempotency-Key: k"], seconds: "0.3")
    #expect(try slow.wait().exitCode == 28)
    #expect(try host.status(id).text("state") == "received")
    let second = try host.commit(id, key: "k")
    #expect(second.status == 423 && second.headers["retry-after"] == "1")
    #expect(try host.commit(id, key: "k").status == 200)
    #expect(host.server.counts.commits == 1)
  },
  FieldCase("B20", "commit#1:504/html/done,commit#2:423/retry-after=1") { host in
    let id = try host.session(for: [1])
    _ = try host.put(id, 0, [1])
    let lost = try host.commit(id)
    #expect(lost.status == 504 && lost.headers["content-type"] == "text/html")
    let status = try host.status(id)
    #expect(status.text("state") == "committed")
    #expect(try host.commit(id).status == 423)
    #expect(try host.commit(id).text("photoId") == status.text("photoId"))
  },
  FieldCase("B22", "status#1:forget") { host in
    let id = try host.open(bytes, key: "k").text("uploadId") ?? ""
    _ = try host.put(id, 0, [1, 2, 3, 4])
    #expect(try host.status(id).slug == "not-found")
    let next = try #require(try host.open(bytes, key: "k").text("uploadId"))
    #expect(next != id)
    try host.finish(next)
  },
]

private let hostileNumbers = [
  "9001", "-1", "1e3", #""5, 5""#, "9223372036854775808", "", "[0,9001]", "[[[[[[[[[[0]]]]]]]]]]",
]

// MARK: Replies, clocks, credentials

private let replies: [FieldCase] = [
  FieldCase(
    "C01",
    retryAfters.enumerated().map { "open#\($0 + 1):429/retry-after=\($1)" }.joined(separator: ",")
      + ",open*:header=Date:Sun, 06 Nov 1994 08:49:32 GMT"
  ) { host in
    for text in retryAfters {
      let answer = try host.open(bytes)
      #expect(answer.status == 429 && answer.headers["retry-after"] == text)
      #expect(answer.headers["date"] == "Sun, 06 Nov 1994 08:49:32 GMT")
    }
    #expect(try host.open(bytes).status == 201)
  },
  FieldCase(
    "C03",
    "part#1:redirect=http://other.example/steal,part#2-4:302/bare"
      + ",part#2:header=Location:https://other.example/,part#3:header=Location://other.example/"
      + ",part#4:header=Location:http://127.0.0.1@other.example/,status#1:308/bare"
      + ",status#1:header=Location:http://other.example/"
  ) { host in
    let id = try host.session(for: bytes)
    let places = ["http://other.example/steal", "https://other.example/", "//other.example/"]
    for place in places + ["http://127.0.0.1@other.example/"] {
      let answer = try host.put(id, 0, [1, 2, 3, 4])
      #expect(answer.status == 307 || answer.status == 302)
      #expect(answer.headers["location"] == place)
    }
    let asked = try host.status(id)
    #expect(asked.status == 308 && asked.headers["location"] == "http://other.example/")
    #expect(try host.status(id).received == [])
    try host.finish(id)
  },
  FieldCase("C04", "part#1:html,status#1:html,commit#1:html") { host in
    let id = try host.session(for: bytes)
    let answers = [
      try host.put(id, 0, [1, 2, 3, 4]), try host.status(id), try host.commit(id),
    ]
    for answer in answers {
      #expect(answer.status == 200 && answer.headers["content-type"] == "text/html")
      #expect(host.holds(answer, "<!doctype html>"))
    }
    #expect(try host.status(id).received == [])
    try host.finish(id)
  },
  FieldCase("C05", "status#1:503,status#2:503/html") { host in
    let id = try host.session(for: bytes)
    _ = try host.put(id, 0, [1, 2, 3, 4])
    #expect(try host.status(id).slug == "rehearsed")
    #expect(try host.status(id).headers["content-type"] == "text/html")
    #expect(try host.status(id).received == [0])
    try host.finish(id)
  },
  FieldCase("C07", "open@large.jpg*:507/slug=quota-exceeded") { host in
    for _ in 0..<2 {
      let refused = try host.open(bytes, name: "large.jpg")
      #expect(refused.status == 507 && refused.slug == "quota-exceeded")
    }
    _ = try host.upload([9])
  },
  FieldCase("C08", "part#1:403/slug=clock-skew,part#1:skew=-86400,status*:skew=86400") { host in
    let id = try host.session(for: bytes)
    let refused = try host.put(id, 0, [1, 2, 3, 4])
    #expect(refused.status == 403 && refused.slug == "clock-skew")
    let reader = DateFormatter()
    reader.locale = Locale(identifier: "en_US_POSIX")
    reader.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    reader.timeZone = TimeZone(secondsFromGMT: 0)
    for (answer, skew) in [(refused, -86_400.0), (try host.status(id), 86_400.0)] {
      let told = try #require(reader.date(from: answer.headers["date"] ?? ""))
      #expect(abs(told.timeIntervalSinceNow - skew) < 60)
    }
    try host.finish(id)
  },
  FieldCase("C10", "part#12:401") { host in
    let long = [UInt8](0..<52)
    let id = try host.session(for: long)
    for (part, slice) in slices(long, 4).enumerated() {
      let status = try host.put(id, part, slice).status
      #expect(status == (part == 11 ? 401 : 200))
      if status == 401 { #expect(try host.put(id, part, slice).received?.count == 12) }
    }
    #expect(try host.commit(id).status == 200)
  },
  FieldCase("C11", "open#1:503/done,part#1:503/done,commit#1:503/retry-after=1/done") { host in
    #expect(try host.open(bytes, key: "k").status == 503)
    let id = try #require(try host.open(bytes, key: "k").text("uploadId"))
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 503)
    #expect(try host.status(id).received == [0])
    _ = try host.put(id, 1, [5])
    let lost = try host.commit(id)
    #expect(lost.status == 503 && lost.headers["retry-after"] == "1")
    #expect(try host.status(id).text("state") == "committed")
    try host.finish(id)
  },
  FieldCase(
    "C13",
    "commit#1:409/slug=version-conflict,commit#1:set=currentVersion:7"
      + ",part#1:409/slug=offset-conflict,part#1:set=offset:0"
      + ",open#2:409/slug=idempotency-key-reused,commit#2:409,part#2:409/html"
  ) { host in
    let id = try host.session(for: bytes)
    let version = try host.commit(id)
    #expect(version.slug == "version-conflict" && version.json?["currentVersion"]?.integer == 7)
    let offset = try host.put(id, 0, [1, 2, 3, 4])
    #expect(offset.slug == "offset-conflict" && offset.json?["offset"]?.integer == 0)
    let key = try host.open(bytes)
    #expect(key.slug == "idempotency-key-reused")
    let unknown = try host.commit(id)
    #expect(unknown.slug == "rehearsed")
    let page = try host.put(id, 0, [1, 2, 3, 4])
    #expect(page.json == nil)
    for answer in [version, offset, key, unknown, page] { #expect(answer.status == 409) }
    try host.finish(id)
  },
]

private let retryAfters = [
  "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  "Sat, 05 Nov 1994 08:49:37 GMT", "-1", "1.5", "abc", "99999999999",
]
