import Foundation
import Testing
import WaybillModel
import WaybillServer

/// A client that sends a byte now and then is never silent, and would hold a connection for ever.
@Suite struct SlowClientTests {
  private static let authorized = "Host: x\r\nAuthorization: Bearer alice-token\r\n"

  private func impatient(partSize: Int64 = 4) throws -> TestServer {
    try TestServer(partSize: partSize) {
      $0.headSeconds = 1
      $0.bodySeconds = 1
      $0.idleSeconds = 1
    }
  }

  /// Sends a text over and over, with a pause; how often until the other side had enough.
  private func drip(_ text: String, to client: RawConnection) async throws -> Int {
    for count in 0..<400 {
      guard client.send([UInt8](text.utf8)) == text.utf8.count else { return count }
      try await Task.sleep(for: .milliseconds(50))
    }
    return 400
  }

  @Test(arguments: [
    ("GET /v1/", "a"), ("GET /v1/photos HTTP/1.1\r\nX: ", "a"),
    ("GET /v1/photos HTTP/1.1\r\n", "X: 1\r\n"),
    (
      "POST /v1/uploads HTTP/1.1\r\n\(authorized)Content-Type: application/json\r\n"
        + "Content-Length: 9999\r\n\r\n{", " "
    ),
    (
      "POST /v1/uploads HTTP/1.1\r\n\(authorized)Content-Type: application/json\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"
    ),
    ("GET /v1/photos HTTP/1.1\r\n\(authorized)\r\nGET /", "b"),
  ])
  func `who drips a head or a body is cut off`(start: String, drop: String) async throws {
    let host = try impatient()
    let client = try RawConnection(port: host.server.port)
    client.send(start)
    #expect(try await drip(drop, to: client) < 400)
    #expect(try host.status("u-1").status == 404)
  }

  @Test func `a part that drips is cut off, and its place is free again`() async throws {
    let host = try impatient(partSize: 100_000)
    let bytes = [UInt8](repeating: 7, count: 100_000)
    let id = try host.session(for: bytes)
    let client = try RawConnection(port: host.server.port)
    client.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\n\(Self.authorized)"
        + "Content-Length: 100000\r\n\(TestServer.digest(bytes))\r\n\r\n")
    // Much at once gives no credit for later.
    client.send([UInt8](bytes.prefix(50_000)))
    #expect(try await drip("\u{7}", to: client) < 400)
    #expect(try host.put(id, 0, bytes).status == 200)
  }

  @Test func `a client that keeps up is not cut off, however long it takes`() async throws {
    let host = try TestServer(partSize: 100_000) {
      $0.bodySeconds = 2
      $0.minimumBytesPerSecond = 1
    }
    let bytes = [UInt8](repeating: 7, count: 100_000)
    let id = try host.session(for: bytes)
    let client = try RawConnection(port: host.server.port)
    client.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\n\(Self.authorized)Connection: close\r\n"
        + "Content-Length: 100000\r\n\(TestServer.digest(bytes))\r\n\r\n")
    let begin = ContinuousClock.now
    // On a thread of its own: tests that run beside this one may hold up all the others.
    nonisolated(unsafe) let sending = client
    await withCheckedContinuation { done in
      Thread {
        for piece in slices(bytes, 2500) {
          sending.send(piece)
          usleep(65_000)
        }
        done.resume()
      }.start()
    }
    // Longer than one stretch, so that it was looked at.
    #expect(begin.duration(to: .now) > .milliseconds(2500))
    #expect(Answer(output: client.receiveAll(), exitCode: 0).status == 200)
  }

  // With all connections taken the next client waits, but only until the slow ones are cut off.
  @Test func `slow clients without number hold up nobody for long`() throws {
    let host = try TestServer { $0.headSeconds = 1 }
    let slow = try (0..<300).map { _ in
      let client = try RawConnection(port: host.server.port)
      client.send("GET /v1/photos HTTP/1.1\r\nX: ")
      return client
    }
    #expect(try host.status("u-1").status == 404)
    withExtendedLifetime(slow) {}
  }

  @Test func `a reply that is taken too slowly is given up`() async throws {
    let size = 24 << 20
    let host = try TestServer(partSize: 4 << 20) {
      $0.bodySeconds = 1
      $0.minimumBytesPerSecond = 24 << 20
    }
    let photo = try host.upload([UInt8](repeating: 7, count: size), partSize: 4 << 20)
    let client = try RawConnection(port: host.server.port)
    client.send("GET /v1/photos/\(photo)/content HTTP/1.1\r\n\(Self.authorized)\r\n")
    for _ in 0..<60 {
      _ = client.receive(1000)
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(client.receiveAll().count < size / 2)
  }
}
