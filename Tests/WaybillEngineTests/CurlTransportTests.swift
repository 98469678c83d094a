#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillHash
  import WaybillModel

  /// What goes out and what comes back when nobody misbehaves.
  @Suite(.timeLimit(.minutes(1)))
  struct CurlTransportTests {

    @Test func `a small document is posted with its exact length`() async throws {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        let document = Array("{\"sha256\":\"00\"}".utf8)
        let outcome = await transport.call(
          HTTPRequest(
            method: .post, url: server.url + "/v1/uploads",
            headers: [HTTPHeader("Content-Type", "application/json")], body: .bytes(document)))
        #expect(outcome.status == 200)
        let seen = try #require(server.seen.first)
        #expect(seen.method == "POST" && seen.bodyHash == SHA256.hash(document))
        #expect(seen.head.contains("Content-Type: application/json\r\n"))
      }
    }

    @Test(arguments: [HTTPRequest.Method.put, .post])
    func `a request that carries nothing says so`(_ method: HTTPRequest.Method) async throws {
      let file = try TestFile([1, 2, 3])
      try await withServer {
        $0.serve()
      } body: { transport, server in
        for body in [HTTPRequest.Body.none, .bytes([]), file.slice(3, 0)] {
          let request = HTTPRequest(method: method, url: server.url, body: body)
          #expect(await transport.call(request).status == 200)
        }
        #expect(server.seen.count == 3)
        for seen in server.seen {
          #expect(seen.head.contains("Content-Length: 0\r\n") && seen.method == method.rawValue)
        }
      }
    }

    @Test func `get and delete go out without a body`() async throws {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        for method in [HTTPRequest.Method.get, .delete] {
          #expect(await transport.call(HTTPRequest(method: method, url: server.url)).status == 200)
        }
        #expect(server.seen.map(\.method) == ["GET", "DELETE"])
        #expect(server.seen.allSatisfy { !$0.head.lowercased().contains("content-length") })
      }
    }

    @Test func `a slice beyond four gibibytes is found`() async throws {
      let file = try TestFile(size: 1 << 32 + 4_096)
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file.path))
      try handle.seek(toOffset: 1 << 32 + 17)
      try handle.write(contentsOf: Data("far away".utf8))
      try handle.close()
      try await withServer {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(
          method: .put, url: server.url, body: file.slice(1 << 32 + 17, 8))
        #expect(await transport.send(request).status == 200)
        #expect(server.seen.first?.bodyHash == SHA256.hash(Array("far away".utf8)))
      }
    }

    @Test func `calls in a row share one connection`() async throws {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        for _ in 0..<20 {
          _ = await transport.call(HTTPRequest(method: .get, url: server.url))
        }
        #expect(server.seen.count == 20)
        #expect(server.connectionCount == 1)
      }
    }

    @Test func `many transfers never open more connections than allowed`() async throws {
      let file = try TestFile(TestFile.pattern(65_536))
      var options = CurlTransport.Options.test
      options.maximumConnections = 5
      try await withServer(options) {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 65_536))
        for part in 0..<60 { await transport.start(.sample(part: part), request) }
        async let status = transport.call(HTTPRequest(method: .get, url: server.url))
        #expect(await transport.completions(60).count == 60)
        #expect(await status.status == 200)
        #expect(server.peakConnections <= 5)
      }
    }

    @Test func `interim replies are passed over`() async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        peer.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        peer.send("HTTP/1.1 104 Upload Resumption\r\nUpload-Offset: 5\r\n\r\n")
        peer.reply("201 Created", "{}", headers: "ETag:  \"a b\" \r\n")
        peer.drain()
      } body: { transport, server in
        let outcome = await transport.call(
          HTTPRequest(method: .post, url: server.url, body: .bytes([1])))
        let expected = HTTPReply(
          status: 201, headers: [HTTPHeader("Content-Length", "2"), HTTPHeader("ETag", "\"a b\"")],
          body: Array("{}".utf8))
        #expect(outcome == .reply(expected))
      }
    }

    @Test func `trailers do not become headers`() async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n")
        peer.send("5\r\nhello\r\n0\r\nX-Late: yes\r\n\r\n")
        peer.drain()
      } body: { transport, server in
        let reply = await transport.call(HTTPRequest(method: .get, url: server.url)).reply
        #expect(reply?.body == Array("hello".utf8))
        #expect(reply?.header("x-late") == nil)
      }
    }

    @Test func `a kept connection that was closed is replaced and the body sent from its start`()
      async throws
    {
      let bytes = TestFile.pattern(700_000)
      let file = try TestFile(bytes)
      try await withServer { peer in
        guard peer.index == 0 else { return peer.serve() }
        guard peer.readRequest() != nil, peer.reply("200 OK") else { return }
        _ = peer.readRequest()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 700_000))
        #expect(await transport.send(request, part: 0).status == 200)
        #expect(await transport.send(request, part: 1).status == 200)
        #expect(server.seen.map(\.connection) == [0, 0, 1])
        #expect(server.seen.allSatisfy { $0.bodyHash == SHA256.hash(bytes) })
      }
    }
  }
#endif
