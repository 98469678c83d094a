/// Why the server could not start, or would not accept its settings.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is; more may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The stable text of the code.
    public let rawValue: String

    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A setting is out of its range.
    public static let invalidOptions = Code(rawValue: "invalid-options")
    /// The token file is missing, open to others, or not in its form.
    public static let tokenFile = Code(rawValue: "token-file")
    /// The fault script is not in its form.
    public static let faultScript = Code(rawValue: "fault-script")
    /// The address is no numeric address of this machine, or its port is taken.
    public static let address = Code(rawValue: "address")
    /// The data directory cannot be made, or is open to others.
    public static let directory = Code(rawValue: "directory")
    /// Another server runs on the data directory.
    public static let inUse = Code(rawValue: "in-use")
    /// The database cannot be opened; it is never recreated.
    public static let database = Code(rawValue: "database")
    /// The database was written by a newer server.
    public static let newerFormat = Code(rawValue: "newer-format")
    /// The HTTP library gave no server.
    public static let http = Code(rawValue: "http")
  }

  /// The kind of failure.
  public let code: Code
  /// What is wrong, where, and what to do next. Never holds a token.
  public let message: String

  /// Makes an error from its kind and message.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
