import Foundation
import Testing
import WaybillModel
import WaybillServer

@Suite struct RefusalTests {
  @Test func `a call without a valid token is refused with a challenge`() throws {
    let host = try TestServer()
    for token in [nil, "wrong", "alice-toke", "alice-token2"] {
      let answer = try host.call("GET", "/v1/photos", token: token)
      #expect(answer.status == 401)
      #expect(answer.slug == "unauthorized")
      #expect(answer.headers["www-authenticate"] == "Bearer")
      #expect(answer.headers["content-type"] == "application/problem+json")
    }
  }

  @Test func `a reading token may look but not write`() throws {
    let host = try TestServer()
    let photo = try host.upload([7])
    #expect(try host.call("GET", "/v1/photos/\(photo)", token: "reader-token").status == 200)
    let answer = try host.open([8], token: "reader-token")
    #expect(answer.status == 403)
    #expect(answer.slug == "read-only")
  }

  @Test func `unknown paths and wrong methods are told apart`() throws {
    let host = try TestServer()
    #expect(try host.call("GET", "/").slug == "unknown-route")
    #expect(try host.call("GET", "/v1/uploads/a/parts/x").slug == "unknown-route")
    let wrong = try host.call("PATCH", "/v1/uploads/u-1")
    #expect(wrong.status == 405)
    #expect(wrong.headers["allow"] == "GET, DELETE")
  }

  @Test(arguments: [
    "", "{", "[]", #"{"sha256":"00","byteCount":1}"#, #"{"byteCount":1}"#,
    #"{"sha256":"HASH"}"#, #"{"sha256":"HASH","byteCount":-1}"#,
    #"{"sha256":"HASH","byteCount":1.5}"#, #"{"sha256":"HASH","byteCount":1e3}"#,
    #"{"sha256":"HASH","byteCount":1,"byteCount":1}"#,
    #"{"sha256":"HASH","byteCount":1,"commit":"later"}"#,
    #"{"sha256":"HASH","byteCount":1,"fileName":5}"#,
    #"{"sha256":"HASH","byteCount":1,"x":[[[[[[[[[1]]]]]]]]]}"#,
  ])
  func `a promise that cannot be read is refused`(body: String) throws {
    let host = try TestServer()
    let whole = body.replacingOccurrences(of: "HASH", with: String(repeating: "a", count: 64))
    let answer = try host.openRaw([UInt8](whole.utf8))
    #expect(answer.status == 400)
    #expect(answer.slug == "invalid-request")
  }

  @Test func `bodies beyond their bound are refused`() throws {
    let host = try TestServer { $0.maximumByteCount = 100 }
    #expect(try host.open([UInt8](repeating: 0, count: 101)).status == 413)
    let large = [UInt8](repeating: 0x20, count: 65_537)
    #expect(try host.openRaw(large).slug == "too-large")
    let chunked = try host.call(
      "POST", "/v1/uploads",
      headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"], body: large)
    #expect(chunked.slug == "too-large")
  }

  @Test func `other media types are refused`() throws {
    let host = try TestServer()
    let answer = try host.call(
      "POST", "/v1/uploads", headers: ["Content-Type: text/plain"], body: [0x7b, 0x7d])
    #expect(answer.status == 415)
    let id = try host.session(for: [1])
    let part = try host.call(
      "PUT", "/v1/uploads/\(id)/parts/0",
      headers: ["Content-Type: text/html", TestServer.digest([1])], body: [1])
    #expect(part.slug == "unsupported-media-type")
  }

  @Test func `paths and header lines are bounded`() throws {
    let host = try TestServer()
    let long = String(repeating: "a", count: 3000)
    #expect(try host.call("GET", "/v1/photos/" + long).status == 414)
    let header = "X-Long: " + String(repeating: "b", count: 40_000)
    #expect(try host.call("GET", "/v1/photos", headers: [header]).status == 431)
  }

  @Test func `a part must carry the digest of its bytes`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4])
    let path = "/v1/uploads/\(id)/parts/0"
    let type = "Content-Type: application/octet-stream"
    for header in ["X-None: 1", "Content-Digest: sha-256=:AAAA:", "Content-Digest: sha-512=:AAAA:"]
    {
      let answer = try host.call("PUT", path, headers: [type, header], body: [1, 2, 3, 4])
      #expect(answer.status == 400)
      #expect(answer.slug == "digest-missing")
    }
    let wrong = try host.put(id, 0, [1, 2, 3, 4], digestOf: [9])
    #expect(wrong.slug == "digest-mismatch")
    #expect(try host.status(id).received == [])
    // The bytes that did not count are overwritten.
    #expect(try host.put(id, 0, [1, 2, 3, 4]).received == [0])
    #expect(try host.commit(id).status == 200)
  }

  @Test func `a part has exactly its length and its number`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4, 5])
    #expect(try host.put(id, 0, [1, 2, 3]).slug == "wrong-length")
    #expect(try host.put(id, 1, [5, 6]).slug == "wrong-length")
    #expect(try host.put(id, 2, [1]).status == 404)
    let chunked = try host.call(
      "PUT", "/v1/uploads/\(id)/parts/1",
      headers: [
        "Content-Type: application/octet-stream", "Transfer-Encoding: chunked",
        TestServer.digest([5]),
      ], body: [5])
    #expect(chunked.slug == "wrong-length")
  }

  @Test func `a part is not replaced by other bytes`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4])
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
    let other = try host.put(id, 0, [4, 3, 2, 1])
    #expect(other.status == 409)
    #expect(other.slug == "part-differs")
    #expect(try host.put(id, 0, [9, 9, 9, 9], digestOf: [1, 2, 3, 4]).slug == "digest-mismatch")
    #expect(try host.commit(id).status == 200)
  }

  @Test func `a commit names the parts that are missing`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(try host.put(id, 1, [5, 6, 7, 8]).status == 200)
    let answer = try host.commit(id)
    #expect(answer.status == 409)
    #expect(answer.slug == "parts-missing")
    #expect(answer.json?["missing"] == .array([.integer(0), .integer(2)]))
  }

  @Test func `a commit without a key is refused`() throws {
    let host = try TestServer()
    let id = try host.session(for: [])
    #expect(try host.commit(id, key: nil).slug == "idempotency-key-missing")
  }

  // D06: bytes that are not the promised ones never become a photo.
  @Test func `a commit whose bytes are not the promised ones binds nothing`() throws {
    let host = try TestServer()
    let opened = try host.open([1, 2, 3, 4, 5], sha256: String(repeating: "ab", count: 32))
    let id = try #require(opened.text("uploadId"))
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
    #expect(try host.put(id, 1, [5]).status == 200)
    let answer = try host.commit(id)
    #expect(answer.status == 422)
    #expect(answer.slug == "hash-mismatch")
    #expect(host.server.photoCount == 0)
    #expect(try host.status(id).received == [])
    #expect(host.storedFiles.isEmpty)
  }

  @Test func `a session that has expired is gone, an unknown one was never there`() throws {
    let host = try TestServer { $0.sessionLifetimeSeconds = 0 }
    let id = try host.session(for: [1])
    #expect(try host.status(id).status == 410)
    #expect(try host.put(id, 0, [1]).slug == "session-expired")
    #expect(try host.commit(id).status == 410)
    #expect(try host.status("u-unknown").status == 404)
    // A new open sweeps it; it is still known to have expired.
    _ = try host.session(for: [2])
    #expect(try host.status(id).status == 410)
  }

  @Test func `the same key opens a new session when the old one has expired`() throws {
    let host = try TestServer { $0.sessionLifetimeSeconds = 0 }
    let first = try host.open([1], key: "k")
    let second = try host.open([1], key: "k")
    #expect(second.status == 201)
    #expect(first.text("uploadId") != second.text("uploadId"))
  }

  @Test func `a refusal comes before the body is read`() throws {
    let host = try TestServer(partSize: 32 << 20)
    let answer = try host.put("u-unknown", 0, [UInt8](repeating: 7, count: 32 << 20))
    #expect(answer.slug == "not-found")
    #expect(host.server.counts.partBodyBytes == 0)
  }

  // Closing with unread bytes resets the connection, and a client that sees the reset first may
  // never look at the answer.
  @Test func `an early refusal reaches a client that sends all before it reads`() throws {
    let host = try TestServer()
    for _ in 0..<5 {
      let stubborn = try RawConnection(port: host.server.port)
      stubborn.send(
        "PUT /v1/uploads/u/parts/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n")
      #expect(stubborn.send([UInt8](repeating: 7, count: 8 << 20)) == 8 << 20)
      #expect(Answer(output: stubborn.receiveAll(), exitCode: 0).status == 401)
    }
  }
}
