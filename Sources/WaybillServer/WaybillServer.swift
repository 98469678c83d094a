internal import WaybillSystem

/// The reference server: the upload protocol of `schema/http/openapi.yaml` over plain HTTP.
///
/// State is on disk before it is spoken of: a server killed at any moment and started again on the
/// same directory knows every part, session and photo it has told a client about. It listens on
/// loopback unless told otherwise, because it speaks no TLS.
public final class WaybillServer: Sendable {
  private let desk: RequestDesk
  private let daemon: HTTPDaemon
  private let isStopped = Locked(false)

  /// The port it listens on.
  public let port: UInt16
  /// The beginning of every URL, such as `http://127.0.0.1:8080`, without a slash at the end.
  public let baseURL: String
  /// Whether only this machine can reach it. Otherwise a network can read what clients send.
  public let isLoopback: Bool

  private init(_ options: ServerOptions) throws(ServerError) {
    try options.validate()
    desk = try RequestDesk(options)
    let socket = try ListeningSocket(address: options.address, port: options.port)
    port = socket.port
    isLoopback = socket.isLoopback
    baseURL = "http://\(socket.host):\(socket.port)"
    daemon = try HTTPDaemon(
      socket: socket.descriptor, desk: desk, options: options)
  }

  deinit { stop() }

  /// Starts a server, which serves until `stop` or until nobody holds it.
  ///
  /// Rows and files are made to agree first: what a crash left without a row is removed.
  ///
  /// - Throws: `ServerError`; nothing runs and no state is lost then.
  public static func start(_ options: ServerOptions) throws(ServerError) -> WaybillServer {
    try WaybillServer(options)
  }

  /// Stops: takes no more connections, lets replies in flight end for up to `graceMilliseconds`,
  /// gives up rehearsed delays, closes all connections and releases the directory.
  ///
  /// Blocks until then; a second call does nothing. Work that has begun ends, a commit that is
  /// still reading its bytes answers 503.
  public func stop(graceMilliseconds: Int = 2000) {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    daemon.stop(graceMilliseconds: graceMilliseconds)
    desk.service.close()
  }

  /// The version of libmicrohttpd in this process, such as `0.9.75`.
  package static var libraryVersion: String { HTTPDaemon.libraryVersion }

  /// What it has seen since it started.
  public var counts: ServerCounts { desk.snapshot }

  /// Each rule of the fault script and how often it has applied, in the script's order.
  public var firedFaults: [FiredFault] { desk.faults.fired }

  /// Photos stored, of all accounts; 0 once it has stopped.
  public var photoCount: Int { desk.service.photoCount() }
}
