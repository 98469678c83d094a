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
  /// The most bytes an account may hold, those promised to its open sessions counted; nil for any
  /// number. A file that does not fit is refused with 507 when it is opened.
  public var quotaBytes: Int64?
  /// How many requests an account may make in a minute, all at once or spread; nil for any number.
  public var requestsPerMinute: Int?
  /// How many uploads an account may open in an hour, which are also the questions it may ask
  /// whether bytes are known; nil for any number.
  public var openingsPerHour: Int?
  /// How long a connection may be silent before it is closed, in seconds.
  public var idleSeconds: UInt32 = 60
  /// How long the head of a request may take before the connection is closed, in seconds.
  public var headSeconds: UInt32 = 20
  /// The stretch in which a body must bring so many bytes a second, or its connection is closed, in
  /// seconds; a reply has so long, and the time it needs at that speed.
  public var bodySeconds: UInt32 = 30
  /// The least a client has to send or to take, in bytes a second, 1 to 1 GiB.
  public var minimumBytesPerSecond: Int64 = 1024
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
    try require(quotaBytes ?? 0 >= 0, "the quota is below 0 bytes: choose 0 or more")
    let rates = [(requestsPerMinute, "requests a minute"), (openingsPerHour, "openings an hour")]
    for (rate, name) in rates {
      try require(
        (1...1_000_000).contains(rate ?? 1), "\(rate ?? 0) \(name) are given: choose 1 to 1000000")
    }
    for (seconds, name) in [(headSeconds, "head"), (bodySeconds, "body")] {
      try require(
        (1...3600).contains(seconds), "a \(name) may take \(seconds) seconds: choose 1 to 3600")
    }
    try require(
      (1...(1 << 30)).contains(minimumBytesPerSecond),
      "clients have to send \(minimumBytesPerSecond) bytes a second: choose 1 to 1073741824")
    try require((1...16).contains(threads), "\(threads) threads are asked for: choose 1 to 16")
    try require(
      (1...3600).contains(idleSeconds), "the idle time is \(idleSeconds) seconds: choose 1 to 3600")
  }
}
