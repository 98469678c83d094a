#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillModel

  /// What each fault of server, network, file and request is reported as.
  @Suite(.timeLimit(.minutes(1)))
  struct CurlTransportFaultTests {
    // MARK: Server

    @Test func `a reply that stalls in its middle times out`() async throws {
      let file = try TestFile([1, 2, 3])
      try await withServer(.impatient) { peer in
        guard peer.readRequest() != nil else { return }
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        peer.drain()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 3))
        let began = ContinuousClock.now
        #expect(await transport.send(request) == .noReply(.timedOut))
        #expect(await transport.call(request) == .noReply(.timedOut))
        #expect(ContinuousClock.now - began >= .milliseconds(700))
        #expect(ContinuousClock.now - began < .seconds(15))
      }
    }

    @Test func `a server that stops reading times the transfer out`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer(.impatient) { peer in
        guard peer.readHead() != nil else { return }
        peer.waitForHangup()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        #expect(await transport.send(request) == .noReply(.timedOut))
      }
    }

    @Test func `a slow transfer that moves does not time out`() async throws {
      var options = CurlTransport.Options.test
      options.stallTimeout = .seconds(1)
      let file = try TestFile(size: 16 << 20)
      try await withServer(options) { peer in
        guard let head = peer.readHead() else { return }
        for _ in 0..<16 {
          usleep(100_000)
          peer.readBody(head.bodyCount / 16)
        }
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in 0..<5 {
          usleep(100_000)
          peer.send("x")
        }
        peer.drain()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 16 << 20))
        #expect(await transport.send(request).status == 200)
      }
    }

    // A byte now and then is no sign of life: the place is free again after one deadline.
    @Test(arguments: [
      "x", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
    ])
    func `a reply that drips for ever times out`(_ drop: String) async throws {
      let file = try TestFile([1, 2, 3])
      try await withServer(.impatient) { peer in
        guard peer.readRequest() != nil else { return }
        if drop == "x" { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n") }
        while peer.send(drop) { usleep(50_000) }
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 3))
        let outcome = try await within(.seconds(10)) { await transport.send(request) }
        #expect(outcome == .noReply(.timedOut))
        #expect(await transport.liveTransfers() == [])
      }
    }

    @Test func `interim replies do not keep a body alive that nobody reads`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer(.impatient) { peer in
        guard peer.readHead() != nil else { return }
        while peer.send("HTTP/1.1 102 Processing\r\n\r\n") { usleep(50_000) }
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        let outcome = try await within(.seconds(10)) { await transport.send(request) }
        #expect(outcome == .noReply(.timedOut))
      }
    }

    @Test func `a body that is read byte by byte times out`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer(.impatient) { peer in
        guard peer.readHead() != nil else { return }
        for _ in 0..<40 where peer.readBody(1) == 1 { usleep(50_000) }
        peer.waitForHangup()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        let outcome = try await within(.seconds(10)) { await transport.send(request) }
        #expect(outcome == .noReply(.timedOut))
      }
    }

    @Test(arguments: [
      "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
      "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 banana\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
    ])
    func `a reply that breaks off or is no reply counts as dropped`(_ text: String) async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        peer.send(text)
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: .bytes([1, 2, 3]))
        #expect(await transport.call(request) == .noReply(.dropped))
      }
    }

    @Test func `a connection reset while the body is sent counts as dropped`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer { peer in
        guard let head = peer.readHead() else { return }
        peer.readBody(head.bodyCount / 16)
        peer.reset()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        #expect(await transport.send(request) == .noReply(.dropped))
      }
    }

    @Test func `a refusal with a close behind it is delivered or counts as dropped`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer { peer in
        guard peer.readHead() != nil else { return }
        peer.reply("413 Content Too Large", headers: "Connection: close\r\n")
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        for part in 0..<20 {
          let outcome = await transport.send(request, part: part)
          #expect(outcome.status == 413 || outcome == .noReply(.dropped))
        }
      }
    }

    @Test func `an endless body is cut at the bound`() async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        peer.send("HTTP/1.1 200 OK\r\nX-Kind: flood\r\n\r\n")
        let flood = String(repeating: "0123456789abcdef", count: 1_024)
        while peer.send(flood) {}
      } body: { transport, server in
        let reply = await transport.call(HTTPRequest(method: .get, url: server.url)).reply
        #expect(reply?.body.count == HTTPReply.maximumBodyBytes)
        #expect(reply?.isTruncated == true)
        #expect(reply?.header("X-Kind") == "flood")
      }
    }

    @Test func `a body of just the bound is whole`() async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        peer.reply("200 OK", String(repeating: "x", count: HTTPReply.maximumBodyBytes))
        peer.drain()
      } body: { transport, server in
        let reply = await transport.call(HTTPRequest(method: .get, url: server.url)).reply
        #expect(reply?.body.count == HTTPReply.maximumBodyBytes)
        #expect(reply?.isTruncated == false)
      }
    }

    @Test(arguments: [
      ("X-Many: y\r\n", 200), ("X-Long: \(String(repeating: "y", count: 990))\r\n", 70),
    ])
    func `header lines beyond the bounds count as dropped`(_ line: String, _ count: Int)
      async throws
    {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        let lines = String(repeating: line, count: count)
        peer.send("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        peer.drain()
      } body: { transport, server in
        let outcome = await transport.call(HTTPRequest(method: .get, url: server.url))
        #expect(outcome == .noReply(.dropped))
      }
    }

    @Test func `interim replies without end count as dropped`() async throws {
      try await withServer { peer in
        guard peer.readRequest() != nil else { return }
        while peer.send("HTTP/1.1 103 Early Hints\r\n\r\n") {}
      } body: { transport, server in
        let outcome = await transport.call(HTTPRequest(method: .get, url: server.url))
        #expect(outcome == .noReply(.dropped))
      }
    }

    // MARK: Address and trust

    @Test func `nobody at the port is refused and nobody by the name is offline`() async throws {
      let server = try NastyServer { _ in }
      let url = server.url
      server.stop()
      let transport = CurlTransport(options: .test)
      #expect(await transport.call(HTTPRequest(method: .get, url: url)) == .noReply(.refused))
      let nowhere = HTTPRequest(method: .get, url: "http://nowhere.invalid/")
      #expect(await transport.call(nowhere) == .noReply(.offline))
      await transport.shutDown()
    }

    @Test func `a handshake that hangs ends with the connect timeout`() async throws {
      try await withServer(.impatient) {
        $0.drain()
      } body: { transport, server in
        let request = HTTPRequest(
          method: .put, url: "https://127.0.0.1:\(server.port)/", body: .bytes([1]))
        #expect(await transport.send(request) == .noReply(.timedOut))
      }
    }

    @Test func `a server that does not speak TLS is not trusted`() async throws {
      try await withServer { peer in
        peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        peer.drain()
      } body: { transport, server in
        let request = HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/")
        #expect(await transport.call(request) == .noReply(.untrusted))
      }
    }

    @Test(arguments: [true, false])
    func `a handshake that breaks off is not trusted`(_ isReset: Bool) async throws {
      try await withServer { peer in
        peer.readBody(64)
        if isReset { peer.reset() }
      } body: { transport, server in
        let request = HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/")
        #expect(await transport.call(request) == .noReply(.untrusted))
      }
    }

    @Test func `only a known authority is trusted`() async throws {
      let server = try TLSServer()
      defer { server.stop() }
      let request = HTTPRequest(method: .get, url: "https://127.0.0.1:\(server.port)/")
      let stranger = CurlTransport(options: .test)
      #expect(await stranger.call(request) == .noReply(.untrusted))
      await stranger.shutDown()
      var options = CurlTransport.Options.test
      options.certificateAuthorityFile = server.certificate.path
      let friend = CurlTransport(options: options)
      #expect(await friend.call(request).status == 200)
      let wrongName = HTTPRequest(method: .get, url: "https://localhost:\(server.port)/")
      #expect(await friend.call(wrongName) == .noReply(.untrusted))
      await friend.shutDown()
    }

    // MARK: Request

    @Test(arguments: [
      "ftp://127.0.0.1/x", "file:///etc/passwd", "127.0.0.1/x", "", "http://", "http://a b/",
      "http://user:secret@127.0.0.1/", "http://127.0.0.1/\r\nX-Evil: 1", "http://127.0.0.1/\0",
      "http://127.0.0.1:99999/",
    ])
    func `a URL that is no plain http or https one is unusable`(_ url: String) async throws {
      let transport = CurlTransport(options: .test)
      #expect(await transport.call(HTTPRequest(method: .get, url: url)) == .noReply(.unusable))
      await transport.shutDown()
    }

    @Test(arguments: [
      HTTPHeader("X-Note", "fine\r\nX-Evil: 1"), HTTPHeader("X-Note", "a\nb"),
      HTTPHeader("X-Note", "a\0b"), HTTPHeader("X-Evil: 1\r\nX", "b"), HTTPHeader("", "b"),
      HTTPHeader("Content-Length", "1"), HTTPHeader("transfer-encoding", "chunked"),
    ])
    func `a header that would break out of its line is unusable`(_ header: HTTPHeader)
      async throws
    {
      try await withServer {
        $0.serve()
      } body: { transport, server in
        let request = HTTPRequest(
          method: .put, url: server.url, headers: [header], body: .bytes([1, 2]))
        #expect(await transport.send(request) == .noReply(.unusable))
        #expect(server.connectionCount == 0)
      }
    }

    // MARK: File

    @Test func `only a regular file that may be read and holds the slice is sent`() async throws {
      let file = try TestFile([1, 2, 3])
      let link = file.path + ".link"
      let fifo = file.path + ".fifo"
      let closed = try TestFile([1, 2, 3])
      symlink(file.path, link)
      mkfifo(fifo, 0o600)
      chmod(closed.path, 0)
      defer {
        unlink(link)
        unlink(fifo)
      }
      var slices = [link, fifo, file.path + ".missing", "/tmp"].map {
        FileSlice(path: $0, offset: 0, count: 0)
      }
      slices.append(FileSlice(path: file.path, offset: 1, count: 3))
      // Root may read anything.
      if geteuid() != 0 { slices.append(FileSlice(path: closed.path, offset: 0, count: 1)) }
      try await withServer {
        $0.serve()
      } body: { transport, server in
        for slice in slices {
          let request = HTTPRequest(method: .put, url: server.url, body: .file(slice))
          #expect(await transport.send(request) == .noReply(.unreadableFile))
        }
        for (offset, count) in [(-1, 1), (0, -1), (Int64.max, 1)] as [(Int64, Int64)] {
          let request = HTTPRequest(method: .put, url: server.url, body: file.slice(offset, count))
          #expect(await transport.send(request) == .noReply(.unusable))
        }
        #expect(server.connectionCount == 0)
      }
    }

    @Test func `a file that shrinks while it is sent never looks whole`() async throws {
      let file = try TestFile(size: 64 << 20)
      try await withServer { peer in
        guard peer.readHead() != nil else { return }
        peer.readBody(1 << 20)
        truncate(file.path, 2 << 20)
        peer.drain()
      } body: { transport, server in
        let request = HTTPRequest(method: .put, url: server.url, body: file.slice(0, 64 << 20))
        #expect(await transport.send(request) == .noReply(.unreadableFile))
        #expect(server.seen.isEmpty)
      }
    }
  }
#endif
