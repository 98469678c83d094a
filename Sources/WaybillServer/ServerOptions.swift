/// How a reference server is set up.
public struct ServerOptions: Sendable {
  /// The largest part the protocol allows: 64 MiB.
  public static let maximumPartSizeBytes: Int64 = 64 << 20
  /// The most parts one upload may have.
  public static let maximumPartCount: Int64 = 10_000

  /// Where database and files lie; made with mode 0700 when it is not there.
  public var dataDirectory: String
  /// The numeric IPv4 or IPv6 address to listen on; loopback by default.
  public var address = "127.0.0.1"
  /// The port to listen on; 0 picks a free one, which `WaybillServer.port` then tells.
  public var port: UInt16 = 0
  /// Who may call.
  public var tokens: AccessTokens
  /// Bytes in each part but the last, 1 byte to 64 MiB; doubled until 10,000 parts suffice.
  public var partSizeBytes: Int64 = 8 << 20
  /// The largest file accepted, at most 10,000 parts of 64 MiB.
  public var maximumByteCount: Int64 = maximumPartCount * maximumPartSizeBytes
  /// How long a session stays open, in seconds from its opening; 0 makes it expire at once.
  public var sessionLifetimeSeconds: Int64 = 7 * 86_400
  /// How long a connection may be silent before it is closed, in seconds.
  public var idleSeconds: UInt32 = 60
  /// Failures to rehearse.
  public var faults: FaultScript = .none
  /// Threads that talk to clients, 1 to 16. Disk work has its own.
  public var threads: UInt32 = 2

  /// Makes options with their defaults.
  public init(dataDirectory: String, tokens: AccessTokens) {
    self.dataDirectory = dataDirectory
    self.tokens = tokens
  }

  func validate() throws(ServerError) {
    func require(_ holds: Bool, _ message: String) throws(ServerError) {
      guard holds else { throw ServerError(.invalidOptions, message) }
    }
    try require(!dataDirectory.isEmpty, "no data directory is given: name one")
    try require(
      (1...ServerOptions.maximumPartSizeBytes).contains(partSizeBytes),
      "the part size is \(partSizeBytes) bytes: choose 1 to 67108864")
    let most = ServerOptions.maximumPartCount * ServerOptions.maximumPartSizeBytes
    try require(
      (0...most).contains(maximumByteCount),
      "the largest file is \(maximumByteCount) bytes: choose 0 to \(most)")
    try require(
      (0...(366 * 86_400)).contains(sessionLifetimeSeconds),
      "the session lifetime is \(sessionLifetimeSeconds) seconds: choose 0 to 31622400")
    try require((1...16).contains(threads), "\(threads) threads are asked for: choose 1 to 16")
    try require(
      (1...3600).contains(idleSeconds), "the idle time is \(idleSeconds) seconds: choose 1 to 3600")
  }
}
