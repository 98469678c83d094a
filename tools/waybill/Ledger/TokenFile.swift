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
    let given = invocation.environment.token
    let word = given.flatMap { TokenFile.firstWord($0.bytes) }
    fixed = word.flatMap { word in word.utf8.count == given?.bytes.count ? Secret(word) : nil }
    if let path {
      if let problem = TokenFile.read(path).problem {
        throw Failure(
          .failed, "the token file cannot be used: \(problem)", at: path.display,
          remedy: "Name a file whose first word is the token, in visible ASCII.")
      }
    } else if given == nil {
      throw Failure.usage(
        "no credential is given: name a file with --token-file or set $WAYBILL_TOKEN",
        command: invocation.command.name)
    } else if fixed == nil {
      throw Failure.usage(
        "$WAYBILL_TOKEN is no token: it has to be one word in visible ASCII characters",
        command: invocation.command.name)
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
    // One byte more than a token may have tells one that is too long from one that just fits.
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes + 1) { buffer, used in
      count = systemRead(descriptor, buffer)
      used = max(0, count)
    }
    if count < 0 { return .unusable(SystemError.last.text) }
    if bytes.isEmpty { return .unusable("it is empty") }
    guard let token = firstWord(bytes.prefix { $0 != UInt8(ascii: "\n") }) else {
      return .unusable("its first line holds no token")
    }
    return .token(token)
  }

  /// The first word of some bytes; nil where there is none, or one that is no visible ASCII or
  /// longer than a token may be.
  private static func firstWord(_ bytes: some Collection<UInt8>) -> String? {
    let words = bytes.split(maxSplits: 1) { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }
    guard let word = words.first, word.count <= maximumBytes,
      word.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    return String(decoding: word, as: UTF8.self)
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
