import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillServer

/// What an account may hold and ask, and for how long something lives.
@Suite struct LimitTests {
  private static let alice = "alice-token"
  private static let bob = "bob-token"

  // MARK: Quota

  // C07
  @Test func `a file that does not fit is refused, and a smaller one is still taken`() throws {
    let host = try TestServer { $0.quotaBytes = 10 }
    _ = try host.upload([1, 2, 3, 4, 5, 6])
    let refused = try host.open([UInt8](repeating: 7, count: 5))
    #expect(refused.status == 507 && refused.slug == "quota-exceeded")
    #expect(refused.headers["content-type"] == "application/problem+json")
    #expect(refused.json?["availableBytes"]?.integer == 4)
    _ = try host.upload([7, 7, 7, 7])
    #expect(try host.open([8]).json?["availableBytes"]?.integer == 0)
    #expect(try host.open([]).status == 201)
    #expect(try host.open([8], token: Self.bob).status == 201)
  }

  @Test func `what open sessions may become counts, until they are given up`() throws {
    let host = try TestServer { $0.quotaBytes = 10 }
    let id = try host.session(for: [UInt8](repeating: 1, count: 10))
    #expect(try host.open([2]).status == 507)
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 204)
    #expect(try host.open([2]).status == 201)
  }

  @Test func `a full account still finds its sessions and its photos`() throws {
    let host = try TestServer { $0.quotaBytes = 4 }
    let first = try host.open([1, 2], key: "k").text("uploadId")
    _ = try host.upload([3, 4])
    #expect(try host.open([1, 2], key: "k").text("uploadId") == first)
    #expect(try host.open([3, 4]).status == 200)
  }

  @Test func `of many that open at once only as many as fit get room`() throws {
    let host = try TestServer { $0.quotaBytes = 100 }
    let calls = try (0..<8).map { number in
      try host.begin(
        "POST", "/v1/uploads", headers: ["Content-Type: application/json"],
        body: [UInt8](
          #"{"sha256":"\#(SHA256.hash([UInt8(number)]))","byteCount":40}"#.utf8))
    }
    let statuses = try calls.map { try $0.wait().status }.sorted()
    #expect(statuses == [201, 201] + [Int](repeating: 507, count: 6))
  }

  // MARK: Rates

  @Test func `who asks too often is told when to come back, and nobody else is`() throws {
    let host = try TestServer { $0.requestsPerMinute = 3 }
    for _ in 0..<3 { #expect(try host.call("GET", "/v1/photos").status == 200) }
    // Another token of the account has no room of its own.
    for token in [Self.alice, "reader-token"] {
      let refused = try host.call("GET", "/v1/photos", token: token)
      #expect(refused.status == 429 && refused.slug == "too-many-requests")
      #expect((1...20).contains(Int(refused.headers["retry-after"] ?? "") ?? 0))
    }
    #expect(try host.open([1], token: "reader-token").status == 429)
    #expect(try host.call("GET", "/v1/photos", token: Self.bob).status == 200)
    #expect(try host.call("GET", "/v1/photos", token: "nobody").status == 401)
  }

  @Test func `asking whether bytes are known is limited by itself`() throws {
    let host = try TestServer { $0.openingsPerHour = 2 }
    let id = try host.session(for: [1])
    #expect(try host.open([2]).status == 201)
    let refused = try host.open([3])
    #expect(refused.status == 429)
    #expect((1...1800).contains(Int(refused.headers["retry-after"] ?? "") ?? 0))
    // What is open goes on.
    #expect(try host.put(id, 0, [1]).status == 200)
    #expect(try host.commit(id).status == 200)
    #expect(try host.open([3], token: Self.bob).status == 201)
  }

  @Test func `a use comes back evenly, and one that was refused is not counted`() {
    var limit = RateLimit(count: 2, periodMilliseconds: 1000)
    #expect(limit.take("a", now: 0) == nil)
    #expect(limit.take("a", now: 0) == nil)
    for _ in 0..<5 { #expect(limit.take("a", now: 0) == 500) }
    #expect(limit.take("a", now: 499_000) == 1)
    #expect(limit.take("a", now: 500_000) == nil)
    #expect(limit.take("a", now: 500_000) == 500)
    #expect(limit.take("b", now: 500_000) == nil)
    #expect(limit.take("a", now: 60_000_000) == nil)
  }

  @Test func `the table of accounts is bounded, and forgets first who asked least`() {
    var limit = RateLimit(count: 2, periodMilliseconds: 1000)
    _ = limit.take("busy", now: 0)
    _ = limit.take("busy", now: 0)
    for number in 0..<(3 * RateLimit.maximumAccounts) { _ = limit.take("\(number)", now: 0) }
    #expect(limit.accountCount == RateLimit.maximumAccounts)
    #expect(limit.take("busy", now: 0) == 500)
    // Those who have all their room back are not remembered.
    _ = limit.take("new", now: 2_000_000)
    #expect(limit.accountCount == 1)
  }

  // MARK: Expiry

  private func wait(for condition: () throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while try !condition() {
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(20))
    }
    return true
  }

  @Test func `a session that nobody asks for any more ends, and its bytes are gone`() async throws {
    let host = try TestServer { $0.sessionLifetimeSeconds = 1 }
    let id = try host.session(for: [1, 2, 3, 4, 5])
    _ = try host.put(id, 0, [1, 2, 3, 4])
    #expect(try await wait { host.storedFiles.isEmpty })
    for answer in [try host.status(id), try host.put(id, 1, [5]), try host.commit(id)] {
      #expect(answer.status == 410 && answer.slug == "session-expired")
    }
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 204)
    #expect(try host.status(id).status == 404)
  }

  @Test func `a part that arrives when its session has ended counts for nothing`() async throws {
    let host = try TestServer { $0.sessionLifetimeSeconds = 1 }
    let id = try host.session(for: [1, 2, 3, 4])
    let late = try RawConnection(port: host.server.port)
    late.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n"
        + "Content-Length: 4\r\n\(TestServer.digest([1, 2, 3, 4]))\r\nConnection: close\r\n\r\n")
    late.send([1])
    try #require(try await wait { try host.status(id).status == 410 })
    late.send([2, 3, 4])
    #expect([404, 410].contains(Answer(output: late.receiveAll(), exitCode: 0).status))
    #expect(try await wait { host.storedFiles.isEmpty })
  }

  // MARK: Bounds of a request

  @Test func `path and query are bounded together`() throws {
    let host = try TestServer()
    let query = "?after=" + String(repeating: "a", count: 2100)
    let answer = try host.call("GET", "/v1/photos" + query)
    #expect(answer.status == 414 && answer.slug == "address-too-long")
    #expect(try host.call("GET", "/v1/photos?" + String(repeating: "&", count: 1800)).status == 414)
  }
}
