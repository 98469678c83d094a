internal import WaybillHash
internal import WaybillModel
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Who may call the server: bearer tokens and the accounts they stand for.
///
/// Only SHA-256 values of the tokens are kept. The text form has one `TOKEN ACCOUNT [read-only]`
/// on a line; empty lines and lines that begin with `#` are skipped.
public struct AccessTokens: Sendable {
  /// The largest token file that is read: 1 MiB.
  public static let maximumFileBytes = 1 << 20

  private var entries: [(hash: ContentHash, account: Account)] = []

  /// Reads the text form.
  ///
  /// - Throws: `ServerError` with code `tokenFile` and the number of the line that is wrong.
  public init(_ text: String) throws(ServerError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let fields = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let first = fields.first, !first.hasPrefix("#") else { continue }
      entries.append(try AccessTokens.entry(fields, line: index + 1))
    }
    guard Set(entries.map(\.hash)).count == entries.count else {
      throw ServerError(.tokenFile, "a token stands twice in the token list: give each once")
    }
    guard !entries.isEmpty else {
      throw ServerError(.tokenFile, "the token list is empty: add a line TOKEN ACCOUNT")
    }
  }

  /// Reads a token file, which must be ours and closed to everybody else.
  ///
  /// - Throws: `ServerError` with code `tokenFile`.
  public init(contentsOf path: String) throws(ServerError) {
    // A named pipe is refused below, not waited for.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ServerError(
        .tokenFile, "the token file \(path) cannot be opened: \(SystemError.last.text)")
    }
    let file = OpenFile(descriptor)
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw ServerError(.tokenFile, "the token file \(path) is no regular file")
    }
    guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
      throw ServerError(
        .tokenFile, "others can read the token file \(path): make it yours and run chmod 600 on it")
    }
    guard facts.st_size <= AccessTokens.maximumFileBytes else {
      throw ServerError(.tokenFile, "the token file \(path) is larger than 1 MiB")
    }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    let count = bytes.withUnsafeMutableBytes { file.read(into: $0, at: 0) }
    guard count == bytes.count, let text = String(validating: bytes, as: UTF8.self) else {
      throw ServerError(.tokenFile, "the token file \(path) cannot be read as UTF-8 text")
    }
    try self.init(text)
  }

  private static func entry(
    _ fields: [Substring], line: Int
  ) throws(ServerError) -> (hash: ContentHash, account: Account) {
    func fail(_ problem: String) -> ServerError {
      ServerError(
        .tokenFile, "line \(line) of the token list: \(problem); write TOKEN ACCOUNT [read-only]")
    }
    guard (2...3).contains(fields.count) else { throw fail("it has \(fields.count) fields") }
    guard (1...512).contains(fields[0].utf8.count),
      fields[0].utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw fail("the token is no 1 to 512 visible ASCII characters") }
    guard (1...128).contains(fields[1].utf8.count),
      fields[1].utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw fail("the account is no 1 to 128 visible ASCII characters") }
    guard fields.count == 2 || fields[2] == "read-only" else { throw fail("unknown third field") }
    let account = Account(name: String(fields[1]), isReadOnly: fields.count == 3)
    return (SHA256.hash([UInt8](fields[0].utf8)), account)
  }

  /// The account behind the value of an `Authorization` header; nil when there is none.
  ///
  /// Hashes are compared, all of them, byte by byte without an early end: how long it takes tells
  /// nothing about any token.
  func account(authorization: String?) -> Account? {
    guard let authorization else { return nil }
    let fields = authorization.split(separator: " ", omittingEmptySubsequences: true)
    guard fields.count == 2, fields[0].lowercased() == "bearer" else { return nil }
    let presented = SHA256.hash([UInt8](fields[1].utf8))
    var found: Account?
    for entry in entries where AccessTokens.areEqual(entry.hash, presented) {
      found = entry.account
    }
    return found
  }

  private static func areEqual(_ left: ContentHash, _ right: ContentHash) -> Bool {
    left.withBytes { left in
      right.withBytes { right in
        var difference: UInt8 = 0
        for index in 0..<32 { difference |= left[index] ^ right[index] }
        return difference == 0
      }
    }
  }
}

/// One tenant: what it stores, asks and names is seen by nobody else.
struct Account: Hashable, Sendable {
  let name: String
  let isReadOnly: Bool
}
