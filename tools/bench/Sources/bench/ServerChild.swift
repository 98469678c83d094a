internal import Glibc
internal import WaybillEngine
internal import WaybillHash
internal import WaybillModel
internal import WaybillServer

/// A part of a session that is open: the request that carries it, and the file it is in.
struct OpenedPart {
  let request: HTTPRequest
  let file: String
}

/// The reference server in a process of its own, as it is outside of a bench.
final class ServerChild: Sendable {
  private static let token = "bench-token"
  static let credentials = CredentialProvider { refused in refused ? nil : Secret(token) }

  let url: String
  private let folder: String
  private let process: pid_t

  /// Starts one on an empty folder and waits until it listens.
  init(_ folder: String) throws {
    self.folder = folder
    try? remove(folder)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { for end in ends { close(end) } }
    process = try start(CommandLine.arguments[0], ["--serve", folder], output: ends[1])
    var port: UInt16 = 0
    guard withUnsafeMutableBytes(of: &port, { read(ends[0], $0.baseAddress, 2) }) == 2 else {
      throw BenchError("the server did not start")
    }
    url = "http://127.0.0.1:\(port)"
  }

  /// What the child does: serves until it is killed.
  static func serve(_ folder: String) throws {
    var options = ServerOptions(
      dataDirectory: folder, tokens: try AccessTokens("\(token) bench\n"))
    options.partSizeBytes = Int64(Pick.partBytes)
    let server = try WaybillServer.start(options)
    var port = server.port
    write(1, &port, 2)
    while true { pause() }
  }

  func end() {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    try? remove(folder)
  }

  /// Opens a session for each file, and gives their parts in order.
  func open(_ pick: Pick) async throws -> [OpenedPart] {
    let transport = CurlTransport()
    var opened: [OpenedPart] = []
    for (number, names) in pick.parts.enumerated() {
      let path = String(decoding: pick.files[number].path, as: UTF8.self)
      let (byteCount, hash) = try Hashing.measure(path)
      let document =
        #"{"sha256":"\#(hash)","byteCount":\#(byteCount),"fileName":"a","commit":"explicit"}"#
      let outcome = await transport.call(
        HTTPRequest(
          method: .post, url: "\(url)/v1/uploads",
          headers: headers + [HTTPHeader("Content-Type", "application/json")]
            + [HTTPHeader("Idempotency-Key", "\(hash)")], body: .bytes([UInt8](document.utf8))))
      guard case .reply(let reply) = outcome,
        let session = (try? JSONValue.read(reply.body))?["uploadId"]?.text
      else { throw BenchError("a session was not opened: \(outcome)") }
      for (part, name) in names.enumerated() {
        let (byteCount, digest) = try Hashing.measure(name)
        let request = HTTPRequest(
          method: .put, url: "\(url)/v1/uploads/\(session)/parts/\(part)",
          headers: headers + [HTTPHeader("Content-Digest", "sha-256=:\(digest.base64):")],
          body: .file(FileSlice(path: name, offset: 0, count: byteCount)))
        opened.append(OpenedPart(request: request, file: name))
      }
    }
    await transport.shutDown()
    return opened
  }

  private var headers: [HTTPHeader] {
    [HTTPHeader("Authorization", "Bearer \(ServerChild.token)")]
  }
}
