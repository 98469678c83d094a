internal import WaybillEngine
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The credential a person gave: a file, read anew each time it is asked for, or `$WAYBILL_TOKEN`.
struct TokenFile: Sendable {
  /// The most bytes of the file that are looked at.
  static let maximumBytes = 8192

  private let path: RawArgument?
  private let fixed: Secret?

  /// Takes the credential a command line and its environment name.
  ///
  /// - Throws: usage, when there is none; failed, when the file cannot be read or holds none.
  init(_ invocation: Invocation) throws(Failure) {
    path = invocation.arguments.path("token-file")
    fixed = invocation.environment.token.map { Secret($0) }
    guard let path else {
      guard fixed != nil else {
        throw Failure.usage(
          "no credential is given: name a file with --token-file or set $WAYBILL_TOKEN",
          command: invocation.command.name)
      }
      return
    }
    guard case .token = TokenFile.read(path) else {
      let reason = TokenFile.read(path).problem ?? "it is gone"
      throw Failure(
        .failed, "the token file cannot be used: \(reason)", at: path.display,
        remedy: "Its first word has to be the token.")
    }
  }

  /// The provider for the engine. After a refusal it gives a token only if the file has a new one.
  var provider: CredentialProvider {
    guard let path else {
      return CredentialProvider { [fixed] isRefused in isRefused ? nil : fixed }
    }
    let last = LastToken()
    return CredentialProvider { isRefused in
      guard case .token(let token) = TokenFile.read(path) else { return nil }
      return await last.take(token, onlyIfNew: isRefused).map { Secret($0) }
    }
  }

  /// The token that was given out last.
  private actor LastToken {
    private var token: String?

    func take(_ token: String, onlyIfNew: Bool) -> String? {
      if onlyIfNew, token == self.token { return nil }
      self.token = token
      return token
    }
  }

  private enum Reading {
    case token(String)
    case unusable(String)

    var problem: String? {
      guard case .unusable(let reason) = self else { return nil }
      return reason
    }
  }

  private static func read(_ path: RawArgument) -> Reading {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return .unusable(SystemError.last.text) }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
      count = max(0, systemRead(descriptor, buffer))
    }
    let word = bytes.prefix { $0 != UInt8(ascii: "\n") }
      .split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }).first
    guard let word, word.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return .unusable("its first line holds no token")
    }
    return .token(String(decoding: word, as: UTF8.self))
  }

  private static func systemRead(
    _ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #else
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }
}
