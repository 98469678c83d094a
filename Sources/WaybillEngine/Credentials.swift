/// A value that must not be written anywhere: it has no readable description, no encoding and
/// nothing for a debugger's dump to find.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let value: String

  /// Wraps a secret.
  public init(_ value: String) { self.value = value }

  /// Calls `body` with the secret, for the one moment it is needed.
  public func reveal<T>(_ body: (String) -> T) -> T { body(value) }

  /// Says that there is a secret, not which.
  public var description: String { "(secret)" }
  /// Says that there is a secret, not which.
  public var debugDescription: String { "(secret)" }
  /// Shows no children.
  public var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}

/// What a request is made with, and whose it is.
public struct Credential: Sendable {
  /// The bearer token.
  public let token: Secret
  /// The account it is of, by the name the ledger is bound to; see `Ledger.assign(to:)`. Nil where
  /// that is not known: then nothing is checked.
  public let account: String?

  /// Makes a credential from its values.
  public init(_ token: Secret, account: String?) {
    self.token = token
    self.account = account
  }
}

/// Where the credential of the ledger's account comes from. Asked at send time, never stored.
public struct CredentialProvider: Sendable {
  private var ask: @Sendable (_ refused: Bool) async -> Credential?

  /// Makes a provider.
  ///
  /// - Parameter ask: gives the bearer token. `refused` says that the server did not accept the
  ///   last one, so a new one is wanted; nil means that there is none.
  public init(_ ask: @escaping @Sendable (_ refused: Bool) async -> Secret?) {
    self.ask = { refused in await ask(refused).map { Credential($0, account: nil) } }
  }

  /// Makes a provider that says whose token it gives, where one process knows several accounts.
  /// Nothing is sent with a token of another account than the ledger's: uploads wait for their own.
  ///
  /// - Parameter ask: as above.
  public static func ofAccounts(
    _ ask: @escaping @Sendable (_ refused: Bool) async -> Credential?
  ) -> CredentialProvider {
    var provider = CredentialProvider { _ in nil }
    provider.ask = ask
    return provider
  }

  func credential(refused: Bool = false) async -> Credential? { await ask(refused) }
}
