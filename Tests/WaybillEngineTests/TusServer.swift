#if os(Linux)
  import WaybillHash
  import WaybillModel
  import WaybillSystem

  /// A small tus 1.0 server on real sockets that keeps real bytes, and lies where a test wants it
  /// to. It discards a body that did not arrive whole, unless it is told to keep what it got.
  final class TusServer: Sendable {
    /// One request, read to its end.
    struct Request: Sendable {
      let method: String
      let path: String
      let headers: [String: String]
      let body: [UInt8]
      /// Which request of its method it is, from 1.
      let number: Int

      var offset: Int64? { headers["upload-offset"].flatMap { Int64($0) } }
    }

    /// What the server keeps of one session.
    struct Session: Sendable {
      let length: Int
      let metadata: String
      var bytes: [UInt8] = []
    }

    struct Options: Sendable {
      /// What it says that it checks; nothing is checked when it is empty.
      var algorithms = "sha1,sha256"
      /// Numbers of PATCH requests that end after so many bytes, which are kept.
      var cuts: [Int: Int] = [:]
      /// What stands in `Location` for a session.
      var location: @Sendable (String) -> String = { $0 }
      /// The secret in the path of each session.
      var secret = "c0ffee"
    }

    /// Looks at a request and its session before the server does, may change what is kept, and may
    /// answer in its place: a status line and headers.
    typealias Lie = @Sendable (Request, inout Session?) -> String?

    private struct State {
      var sessions: [String: Session] = [:]
      var requests: [Request] = []
    }

    private let server: NastyServer
    private let state: Locked<State>

    init(_ options: Options = Options(), lie: @escaping Lie = { _, _ in nil }) throws {
      let state = Locked(State())
      self.state = state
      server = try NastyServer { peer in
        while let reply = TusServer.answer(peer, options, state, lie) {
          guard peer.send(reply) else { return }
        }
      }
    }

    var destination: Destination {
      get throws { try Destination("tus+\(server.url)/files") }
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var sessions: [Session] { state.withLock { Array($0.sessions.values) } }
    func requests(_ method: String) -> [Request] { requests.filter { $0.method == method } }
    func stop() { server.stop() }

    // MARK: Serving

    private static func answer(
      _ peer: Peer, _ options: Options, _ state: Locked<State>, _ lie: Lie
    ) -> String? {
      guard let head = peer.readHead() else { return nil }
      var headers: [String: String] = [:]
      for line in head.text.split(separator: "\r\n").dropFirst() {
        let pair = line.split(separator: ":", maxSplits: 1).map(String.init)
        headers[pair[0].lowercased()] = pair.count > 1 ? String(pair[1].dropFirst()) : ""
      }
      let number = state.withLock { $0.requests.count { $0.method == head.method } } + 1
      let cut = head.method == "PATCH" ? options.cuts[number] : nil
      let body = peer.readBytes(min(head.bodyCount, cut ?? .max))
      let request = Request(
        method: head.method, path: head.path, headers: headers, body: body, number: number)
      return state.withLock { state in
        state.requests.append(request)
        if cut != nil {
          state.sessions[request.path]?.bytes += body
          peer.reset()
          return nil
        }
        guard body.count == head.bodyCount else { return nil }
        if let reply = lie(request, &state.sessions[request.path]) { return reply + "\r\n" }
        return reply(to: request, options, &state.sessions) + "\r\n"
      }
    }

    static func status(_ line: String, _ headers: String...) -> String {
      (["HTTP/1.1 \(line)", "Tus-Resumable: 1.0.0"] + headers).map { $0 + "\r\n" }.joined()
    }

    private static func empty(_ line: String) -> String { status(line, "Content-Length: 0") }

    private static func reply(
      to request: Request, _ options: Options, _ sessions: inout [String: Session]
    ) -> String {
      if request.method == "OPTIONS" {
        let checks =
          options.algorithms.isEmpty
          ? [] : ["Tus-Checksum-Algorithm: \(options.algorithms)"]
        let extensions = "creation,termination" + (checks.isEmpty ? "" : ",checksum")
        return status("204 No Content", "Tus-Version: 1.0.0", "Tus-Extension: \(extensions)")
          + checks.map { $0 + "\r\n" }.joined()
      }
      guard request.headers["tus-resumable"] == "1.0.0",
        request.headers["authorization"] == "Bearer \(EngineFixture.token)"
      else { return empty("401 Unauthorized") }
      if request.method == "POST" {
        guard let length = request.headers["upload-length"].flatMap({ Int($0) }) else {
          return empty("400 Bad Request")
        }
        let path = "/files/\(options.secret)-\(sessions.count + 1)"
        sessions[path] = Session(
          length: length, metadata: request.headers["upload-metadata"] ?? "")
        return status(
          "201 Created", "Location: \(options.location(path))", "Content-Length: 0")
      }
      guard var session = sessions[request.path] else { return empty("404 Not Found") }
      if request.method == "DELETE" {
        sessions[request.path] = nil
        return status("204 No Content")
      }
      defer { sessions[request.path] = session }
      switch request.method {
      case "HEAD":
        // A length that no body follows, as a HEAD may say.
        return status(
          "200 OK", "Upload-Offset: \(session.bytes.count)", "Upload-Length: \(session.length)",
          "Cache-Control: no-store", "Content-Length: 4096")
      default: return patch(request, options, &session)
      }
    }

    private static func patch(
      _ request: Request, _ options: Options, _ session: inout Session
    ) -> String {
      guard request.offset == Int64(session.bytes.count) else { return empty("409 Conflict") }
      if !options.algorithms.isEmpty, let checksum = request.headers["upload-checksum"],
        checksum != "sha256 \(SHA256.hash(request.body).base64)"
      {
        return empty("460 Checksum Mismatch")
      }
      session.bytes += request.body
      return status("204 No Content", "Upload-Offset: \(session.bytes.count)")
    }
  }
#endif
