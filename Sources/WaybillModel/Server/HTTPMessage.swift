/// One request as a value. The shell sends it; nothing in it is secret until the shell adds the
/// credential at send time.
public struct HTTPRequest: Equatable, Sendable {
  /// The methods this house uses.
  public enum Method: String, Sendable {
    /// Asks for a status.
    case get = "GET"
    /// Opens or commits.
    case post = "POST"
    /// Carries the bytes of a part.
    case put = "PUT"
    /// Carries bytes from an offset on.
    case patch = "PATCH"
    /// Asks for a status that stands in the headers.
    case head = "HEAD"
    /// Asks what the server can do.
    case options = "OPTIONS"
    /// Gives up a session.
    case delete = "DELETE"
  }

  /// What the request carries.
  public enum Body: Equatable, Sendable {
    /// Nothing.
    case none
    /// A small document.
    case bytes([UInt8])
    /// A slice of a file, streamed from disk.
    case file(FileSlice)
  }

  /// The method.
  public var method: Method
  /// The whole URL, without user name or password.
  public var url: String
  /// Names and values, in order; values are free of CR and LF.
  public var headers: [HTTPHeader]
  /// What it carries.
  public var body: Body

  /// Makes a request from its parts.
  public init(method: Method, url: String, headers: [HTTPHeader] = [], body: Body = .none) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// A run of bytes in a file on this device.
public struct FileSlice: Hashable, Sendable {
  /// The path of the file, one of ours.
  public let path: String
  /// The first byte, from 0.
  public let offset: Int64
  /// How many bytes.
  public let count: Int64

  /// Makes a slice from its file, first byte and length.
  public init(path: String, offset: Int64, count: Int64) {
    self.path = path
    self.offset = offset
    self.count = count
  }
}

/// One header line of a request or reply.
public struct HTTPHeader: Hashable, Sendable {
  /// The name, in any case.
  public let name: String
  /// The value without the spaces around it.
  public let value: String

  /// Makes a header from its name and value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A whole reply, its body bounded before anyone parses it.
public struct HTTPReply: Equatable, Sendable {
  /// The most bytes of a reply body that are kept: 64 KiB.
  public static let maximumBodyBytes = 65_536

  /// The status code of the final reply; interim ones are not shown.
  public var status: Int
  /// Header lines in order.
  public var headers: [HTTPHeader]
  /// The first `maximumBodyBytes` of the body.
  public var body: [UInt8]
  /// Whether the server sent more than was kept.
  public var isTruncated: Bool

  /// Makes a reply from its parts.
  public init(
    status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], isTruncated: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
  }

  /// The value of the first header of that name, whatever its case.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}

/// Why no reply came. Unknown is not failed: the server may have done the work.
public enum NoReply: String, Hashable, Sendable, CaseIterable {
  /// There is no network or the server cannot be reached.
  case offline
  /// The connection was refused at the address.
  case refused
  /// The connection ended before the reply was whole.
  case dropped
  /// No reply within the time allowed, or no progress for too long.
  case timedOut = "timed_out"
  /// The server's certificate or protocol is not to be trusted.
  case untrusted
  /// The file to be sent could not be read to its end.
  case unreadableFile = "unreadable_file"
  /// We stopped it ourselves.
  case cancelled
  /// The transport has as much to do as it takes.
  case notTaken = "not_taken"
  /// The URL cannot be used, or anything else that no repeat will mend.
  case unusable
}

/// What one request came to.
public enum HTTPOutcome: Equatable, Sendable {
  /// The server answered.
  case reply(HTTPReply)
  /// It did not, or not within the bounds.
  case noReply(NoReply)
}
