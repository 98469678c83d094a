/// The base URL of a service, checked: where uploads go and the only place a credential goes.
public struct Destination: Hashable, Sendable {
  /// The longest URL taken, in bytes.
  public static let maximumByteCount = 2048

  /// The whole text: the prefix of the adapter and the URL.
  public var text: String { adapter.prefix + url }
  /// The protocol spoken there.
  public let adapter: AdapterKind
  /// The URL with scheme and host in lower case. Where paths are put behind it, it has no slash at
  /// its end.
  public let url: String

  /// Checks a URL a person gave.
  ///
  /// - Parameters:
  ///   - text: `https://host[:port][/path]`; `http` only for a loopback host. `tus+` in front
  ///     says that the server speaks tus 1.0.
  ///   - allowsPlainHTTP: takes `http` for every host.
  /// - Throws: `DestinationProblem`, which never repeats the text.
  public init(_ text: String, allowsPlainHTTP: Bool = false) throws(DestinationProblem) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= Destination.maximumByteCount else { throw .tooLong }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .unusableCharacter }
    adapter = AdapterKind(ofDestination: text)
    guard let mark = text.firstRange(of: "://") else { throw .unknownScheme }
    let scheme = text[..<mark.lowerBound].dropFirst(adapter.prefix.count).lowercased()
    guard scheme == "https" || scheme == "http" else { throw .unknownScheme }
    let rest = text[mark.upperBound...]
    guard !rest.contains("#") else { throw .hasFragment }
    guard !rest.contains("?") else { throw .hasQuery }
    let authority = rest.prefix { $0 != "/" }
    guard !authority.contains("@") else { throw .hasUserInfo }
    let (host, port) = try Destination.split(authority.lowercased())
    var path = try Destination.checkedPath(rest.dropFirst(authority.count))
    // Of a server whose URL is used as it is, the one with a slash is another one.
    if adapter == .tus, rest.hasSuffix("/") { path += "/" }
    guard scheme == "https" || allowsPlainHTTP || Destination.isLoopback(host) else {
      throw .plainHTTP
    }
    url = "\(scheme)://\(host)\(port)\(path)"
  }

  /// The host, an IPv6 address in its brackets, and the port with its colon or nothing.
  private static func split(
    _ authority: String
  ) throws(DestinationProblem) -> (host: String, port: String) {
    let host: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw .unusableHost }
      host = authority[...end]
      let inside = host.dropFirst().dropLast()
      guard inside.contains(":"), inside.utf8.allSatisfy(isAddressByte) else {
        throw .unusableHost
      }
    } else {
      host = authority.prefix { $0 != ":" }
      guard host.utf8.allSatisfy(isHostByte) else { throw .unusableHost }
    }
    guard !host.isEmpty else { throw .hostMissing }
    let port = authority.dropFirst(host.count)
    guard !port.isEmpty else { return (String(host), "") }
    let digits = port.dropFirst()
    guard port.first == ":", digits.utf8.allSatisfy(isDigit), let number = Int(digits),
      (1...65_535).contains(number)
    else { throw .unusablePort }
    return (String(host), ":\(number)")
  }

  private static func checkedPath(_ path: Substring) throws(DestinationProblem) -> String {
    var rest = path.utf8
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        let digits = rest.prefix(2)
        guard digits.count == 2, digits.allSatisfy({ Hex.value($0) != nil }) else {
          throw .unusableCharacter
        }
        rest = rest.dropFirst(2)
      } else {
        guard isPathByte(byte) else { throw .unusableCharacter }
      }
    }
    // A step upwards would be resolved on the way, and the URL would not be the one written here.
    let steps = path.split(separator: "/")
    guard !steps.contains("."), !steps.contains("..") else { throw .unusableCharacter }
    var kept = path
    while kept.hasSuffix("/") { kept = kept.dropLast() }
    return String(kept)
  }

  /// Whether what is sent to the host never leaves this device.
  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || "-._".utf8.contains(byte)
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    Hex.value(byte) != nil || ":.".utf8.contains(byte)
  }

  private static func isPathByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || "/-._~!$&'()*+,;=:@".utf8.contains(byte)
  }
}

/// Why a text is no destination. The text itself may hold a password and is never repeated.
public enum DestinationProblem: Error, Hashable, Sendable, CaseIterable {
  /// Nothing was given.
  case empty
  /// Longer than `Destination.maximumByteCount`.
  case tooLong
  /// A character that does not stand in a URL, a broken `%` or a step such as `..`.
  case unusableCharacter
  /// Neither `http://` nor `https://` in front.
  case unknownScheme
  /// No host behind the scheme.
  case hostMissing
  /// The host is no name and no address.
  case unusableHost
  /// The port is no number from 1 to 65,535.
  case unusablePort
  /// A user name or password stands in it.
  case hasUserInfo
  /// A query stands behind the path.
  case hasQuery
  /// A fragment stands behind the path.
  case hasFragment
  /// `http` to a host that is not this device.
  case plainHTTP

  /// What is wrong, in a person's words.
  public var what: String {
    switch self {
    case .empty: "the URL is empty"
    case .tooLong: "the URL is longer than \(Destination.maximumByteCount) bytes"
    case .unusableCharacter: "the URL has a character that cannot stand there"
    case .unknownScheme: "the URL begins with neither https:// nor http://"
    case .hostMissing: "the URL has no host"
    case .unusableHost: "the host of the URL is neither a name nor an address"
    case .unusablePort: "the port of the URL is no number from 1 to 65535"
    case .hasUserInfo: "the URL has a user name or password in it"
    case .hasQuery: "the URL has a query"
    case .hasFragment: "the URL has a fragment"
    case .plainHTTP: "plain http would show the credential and the photos to the network"
    }
  }

  /// What to do about it.
  public var remedy: String {
    switch self {
    case .empty, .unknownScheme, .hostMissing: "give one such as https://photos.example.org"
    case .tooLong: "give the base URL of the service only"
    case .unusableCharacter: "write it in ASCII, with %20 for a space and the like, without .."
    case .unusableHost: "write a name in ASCII (xn--…), an IPv4 address, or [an IPv6 address]"
    case .unusablePort: "give a valid port or leave it out"
    case .hasUserInfo: "leave it out and give the credential by its own option"
    case .hasQuery, .hasFragment: "leave out what follows the path"
    case .plainHTTP: "use https, or allow plain http for this server if you trust the network"
    }
  }

  /// What is wrong and what to do about it.
  public var message: String { "\(what); \(remedy)" }
}
