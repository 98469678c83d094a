internal import CMicroHTTPD
internal import Dispatch
internal import WaybillModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The HTTP library at work: turns its callbacks into steps of an `Exchange`.
///
/// Its threads only move bytes: as soon as a request is whole its connection is suspended and a
/// worker does the rest, so a client never waits for another one's disk work.
final class HTTPDaemon: Sendable {
  /// The most connections at a time.
  static let maximumConnections: UInt32 = 256
  /// The buffer of one connection, which bounds its header and the pieces of its body.
  static let connectionBytes = 1 << 20

  /// The version of the library in this process.
  static var libraryVersion: String { String(cString: MHD_get_version()) }

  private nonisolated(unsafe) let daemon: OpaquePointer
  // The callbacks hold it unretained: it must live until the library has stopped.
  private let switchboard: Switchboard

  /// Starts to serve on a listening socket, which is the library's from now on.
  init(socket: Int32, desk: RequestDesk, options: ServerOptions) throws(ServerError) {
    let switchboard = Switchboard(desk: desk, options: options)
    let started = waybill_start_daemon(
      socket, options.threads, HTTPDaemon.maximumConnections, HTTPDaemon.connectionBytes,
      options.idleSeconds,
      answerRequest, requestCompleted, connectionChanged,
      Unmanaged.passUnretained(switchboard).toOpaque())
    guard let started else {
      close(socket)
      throw ServerError(.http, "libmicrohttpd did not start: look for limits on threads and files")
    }
    self.switchboard = switchboard
    daemon = started
  }

  /// Takes no more connections, lets what is in flight end for up to `graceMilliseconds`, then
  /// closes everything.
  func stop(graceMilliseconds: Int) {
    let listening = MHD_quiesce_daemon(daemon)
    switchboard.desk.close()
    switchboard.waitUntilIdle(milliseconds: graceMilliseconds)
    switchboard.slow.stop()
    MHD_stop_daemon(daemon)
    if listening >= 0 { close(listening) }
    switchboard.lingering.close()
  }
}

/// What the callbacks of one daemon share.
final class Switchboard: Sendable {
  let desk: RequestDesk
  let lingering = LingeringSockets()
  let slow: SlowClients
  // Entered by each exchange, so that stopping can wait for their replies.
  private let exchanges = DispatchGroup()

  init(desk: RequestDesk, options: ServerOptions) {
    self.desk = desk
    slow = SlowClients(options)
  }

  func enter() { exchanges.enter() }
  func leave() { exchanges.leave() }

  func waitUntilIdle(milliseconds: Int) {
    _ = exchanges.wait(timeout: .now() + .milliseconds(milliseconds))
  }
}

/// A connection of the library, which says itself when it may be used on another thread.
struct SuspendedConnection: @unchecked Sendable {
  let handle: OpaquePointer
}

// MARK: Callbacks

private func answerRequest(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
  _ upload: UnsafePointer<CChar>?, _ uploadCount: UnsafeMutablePointer<Int>?,
  _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context, let connection, let url, let method, let uploadCount, let own else {
    return .NO
  }
  let switchboard = Unmanaged<Switchboard>.fromOpaque(context).takeUnretainedValue()
  guard let known = own.pointee else {
    let head = RequestHead(
      connection, method: String(cString: method), path: String(cString: url))
    let exchange = Exchange(head: head, desk: switchboard.desk)
    switchboard.enter()
    switchboard.slow.headCame(head.socket)
    own.pointee = Unmanaged.passRetained(exchange).toOpaque()
    exchange.begin()
    // Without a body to come, the next call can give the answer and keep the connection.
    guard let outcome = exchange.outcome, head.allowsEarlyReply else { return .YES }
    switchboard.lingering.expect(head.socket)
    return send(outcome, of: exchange, on: connection, switchboard)
  }
  let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
  if uploadCount.pointee > 0 {
    let bytes = UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee)
    uploadCount.pointee = 0
    switchboard.slow.bodyCame(exchange.socket, bytes.count)
    return exchange.receive(bytes) ? .YES : .NO
  }
  exchange.bodyEnded()
  if let outcome = exchange.outcome {
    return send(outcome, of: exchange, on: connection, switchboard)
  }
  switchboard.slow.working(exchange.socket)
  let suspended = SuspendedConnection(handle: connection)
  MHD_suspend_connection(connection)
  let isTaken = switchboard.desk.handle(exchange) { MHD_resume_connection(suspended.handle) }
  if !isTaken {
    exchange.giveUp()
    MHD_resume_connection(connection)
  }
  return .YES
}

private func requestCompleted(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ how: MHD_RequestTerminationCode
) {
  guard let context, let own, let known = own.pointee else { return }
  own.pointee = nil
  let switchboard = Unmanaged<Switchboard>.fromOpaque(context).takeUnretainedValue()
  switchboard.slow.ended(Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue().socket)
  switchboard.leave()
}

private func connectionChanged(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ change: MHD_ConnectionNotificationCode
) {
  guard let context, let connection else { return }
  let switchboard = Unmanaged<Switchboard>.fromOpaque(context).takeUnretainedValue()
  let socket = waybill_connection_socket(connection)
  guard change == .CONNECTION_NOTIFY_CLOSED else { return switchboard.slow.opened(socket) }
  switchboard.slow.closing(socket)
  switchboard.lingering.closing(socket)
}

// MARK: Replies

private func send(
  _ outcome: Exchange.Outcome, of exchange: Exchange, on connection: OpaquePointer,
  _ switchboard: Switchboard
) -> MHD_Result {
  guard case .reply(let reply) = outcome else { return .NO }
  let desk = switchboard.desk
  let drip = DrippingBody(
    of: reply, on: connection, milliseconds: exchange.dripMilliseconds, late: desk.late)
  switchboard.slow.replying(exchange.socket, drip == nil ? reply.body.byteCount : nil)
  guard let response = drip?.response() ?? response(for: reply.body) else { return .NO }
  defer { MHD_destroy_response(response) }
  for header in reply.headers { MHD_add_response_header(response, header.name, header.value) }
  if !reply.headers.contains(where: { $0.name.lowercased() == "cache-control" }) {
    MHD_add_response_header(response, "Cache-Control", "no-store")
  }
  desk.countReply(reply.status)
  return MHD_queue_response(connection, UInt32(reply.status), response)
}

private func response(for body: Reply.Body) -> OpaquePointer? {
  switch body {
  case .none: return waybill_response_from_bytes("", 0)
  case .json(let value, let type): return response([UInt8](value.serialized.utf8), type: type)
  case .bytes(let bytes, let type): return response(bytes, type: type)
  case .file(let file, let byteCount):
    // The library closes what it is given.
    let descriptor = dup(file.descriptor)
    guard descriptor >= 0 else { return nil }
    let made = MHD_create_response_from_fd_at_offset64(UInt64(byteCount), descriptor, 0)
    if let made { MHD_add_response_header(made, "Content-Type", "application/octet-stream") }
    return made
  }
}

private func response(_ bytes: [UInt8], type: String) -> OpaquePointer? {
  let made = bytes.withUnsafeBytes { waybill_response_from_bytes($0.baseAddress, $0.count) }
  if let made { MHD_add_response_header(made, "Content-Type", type) }
  return made
}

// MARK: Head

extension RequestHead {
  fileprivate init(_ connection: OpaquePointer, method: String, path: String) {
    func value(_ kind: MHD_ValueKind, _ name: String) -> String? {
      MHD_lookup_connection_value(connection, kind, name).map { String(cString: $0) }
    }
    func header(_ name: String) -> String? { value(.HEADER_KIND, name) }
    func bytes(_ kind: MHD_ValueKind) -> Int {
      var bytes = 0
      MHD_get_connection_values(connection, kind, addBytes, &bytes)
      return bytes
    }
    self.init(
      method: method, path: path, queryBytes: bytes(.GET_ARGUMENT_KIND),
      headerBytes: bytes(.HEADER_KIND), authorization: header("Authorization"),
      contentType: header("Content-Type"),
      contentLength: header("Content-Length").map { Int64($0) ?? -1 },
      contentDigest: header("Content-Digest"), idempotencyKey: header("Idempotency-Key"),
      isChunked: header("Transfer-Encoding") != nil, after: value(.GET_ARGUMENT_KIND, "after"),
      limit: value(.GET_ARGUMENT_KIND, "limit"), socket: waybill_connection_socket(connection))
  }
}

private func addBytes(
  _ total: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> MHD_Result {
  let sum = total?.assumingMemoryBound(to: Int.self)
  sum?.pointee += (name.map { strlen($0) } ?? 0) + (value.map { strlen($0) } ?? 0) + 4
  return .YES
}
