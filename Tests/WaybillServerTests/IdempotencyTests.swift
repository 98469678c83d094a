import Foundation
import Testing
import WaybillModel
import WaybillServer

@Suite struct IdempotencyTests {
  // B08: the reply to the first open was lost; the key finds the session again.
  @Test func `the same key finds the same session with what it holds`() throws {
    let host = try TestServer()
    let bytes: [UInt8] = [1, 2, 3, 4, 5]
    let first = try host.open(bytes, key: "k")
    let id = try #require(first.text("uploadId"))
    #expect(try host.put(id, 1, [5]).status == 200)
    let second = try host.open(bytes, key: "k")
    #expect(second.status == 201)
    #expect(second.text("uploadId") == id)
    #expect(second.received == [1])
    #expect(second.text("expiresAt") == first.text("expiresAt"))
  }

  @Test func `the same key with other bytes is refused`() throws {
    let host = try TestServer()
    #expect(try host.open([1], key: "k").status == 201)
    let answer = try host.open([2], key: "k")
    #expect(answer.status == 422)
    #expect(answer.slug == "idempotency-key-reused")
    // Accounts do not share keys.
    #expect(try host.open([2], key: "k", token: "bob-token").status == 201)
  }

  @Test func `bytes that are a photo already are not asked for`() throws {
    let host = try TestServer()
    let photo = try host.upload([1, 2, 3])
    let answer = try host.open([1, 2, 3], key: "other")
    #expect(answer.status == 200)
    #expect(answer.text("photoId") == photo)
    #expect(try host.open([9], key: "other").slug == "idempotency-key-reused")
  }

  // A07: the reply to the commit was lost.
  @Test func `each repeat of a commit gives the same photo`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1])
    #expect(try host.put(id, 0, [1]).status == 200)
    let first = try host.commit(id, key: "a")
    #expect(try host.commit(id, key: "a").body == first.body)
    #expect(try host.commit(id, key: "b").body == first.body)
    #expect(host.server.counts.commits == 1)
  }

  @Test func `a second session of the same bytes becomes the same photo`() throws {
    let host = try TestServer()
    let ids = try (0..<2).map { _ in try host.session(for: [1, 2]) }
    for id in ids { #expect(try host.put(id, 0, [1, 2]).status == 200) }
    let photos = try ids.map { try host.commit($0).text("photoId") }
    #expect(photos[0] != nil && photos[0] == photos[1])
    #expect(host.server.photoCount == 1)
    #expect(host.storedFiles == [ids[0]])
    #expect(try host.status(ids[1]).text("state") == "committed")
  }

  @Test func `eight commits at once make one photo`() throws {
    let host = try TestServer()
    let ids = try (0..<4).map { _ in try host.session(for: [5, 6]) }
    for id in ids { #expect(try host.put(id, 0, [5, 6]).status == 200) }
    let running = try (ids + ids).map { id in
      try host.begin("POST", "/v1/uploads/\(id)/commit", headers: ["Idempotency-Key: k"])
    }
    let answers = try running.map { try $0.wait() }
    #expect(answers.allSatisfy { $0.status == 200 || $0.status == 423 })
    #expect(answers.filter { $0.status == 423 }.allSatisfy { $0.headers["retry-after"] == "1" })
    let photos = Set(try ids.map { try host.commit($0).text("photoId") })
    #expect(photos.count == 1)
    #expect(host.server.photoCount == 1)
    #expect(host.server.counts.commits == 1)
  }

  @Test func `eight parts at once of an automatic upload make one photo`() throws {
    let host = try TestServer()
    let bytes = (0..<32).map { UInt8($0) }
    let id = try host.session(for: bytes, mode: "auto")
    let running = try slices(bytes, 4).enumerated().map { part, slice in
      try host.begin(
        "PUT", "/v1/uploads/\(id)/parts/\(part)",
        headers: ["Content-Type: application/octet-stream", TestServer.digest(slice)], body: slice)
    }
    let answers = try running.map { try $0.wait() }
    #expect(answers.allSatisfy { $0.status == 200 || $0.status == 201 })
    let photos = Set(answers.filter { $0.status == 201 }.map { $0.text("photoId") })
    #expect(photos.count == 1)
    #expect(host.server.counts.commits == 1)
    #expect(try host.content(try #require(photos.first ?? nil)) == bytes)
  }

  // B02: two requests race for one part.
  @Test func `a second request for a part ends the first and never mixes with it`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4])
    let slow = try RawConnection(port: host.server.port)
    slow.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n"
        + "Content-Length: 4\r\n\(TestServer.digest([1, 2, 3, 4]))\r\nConnection: close\r\n\r\n")
    slow.send([1, 2])
    try host.waitForPartBytes(2)
    let second = try host.put(id, 0, [1, 2, 3, 4])
    #expect(second.status == 409)
    #expect(second.slug == "part-in-progress")
    // Other parts, other clients and the status are not kept waiting.
    #expect(try host.status(id).received == [])
    #expect(slow.receiveAll().isEmpty)
    let third = try host.putUntilFree(id, 0, [1, 2, 3, 4])
    #expect(third.status == 200)
    #expect(third.received == [0])
  }

  @Test func `a connection that is half dead holds its part only until the next request`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4])
    let half = try RawConnection(port: host.server.port)
    half.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n"
        + "Content-Length: 4\r\n\(TestServer.digest([1, 2, 3, 4]))\r\n\r\n")
    half.send([1, 2])
    try host.waitForPartBytes(2)
    half.shutDownSending()
    #expect(try host.putUntilFree(id, 0, [1, 2, 3, 4]).status == 200)
  }
}

extension TestServer {
  /// Sends a part again for as long as the server says that another request holds it.
  func putUntilFree(_ id: String, _ part: Int, _ bytes: [UInt8]) throws -> Answer {
    let deadline = ContinuousClock.now + .seconds(10)
    while true {
      let answer = try put(id, part, bytes)
      guard answer.slug == "part-in-progress", ContinuousClock.now < deadline else { return answer }
      sched_yield()
    }
  }

  /// Waits until so many bytes of parts have arrived, watching the counts.
  func waitForPartBytes(_ count: Int64) throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while server.counts.partBodyBytes < count {
      try #require(ContinuousClock.now < deadline, "the bytes did not arrive")
      sched_yield()
    }
  }
}
