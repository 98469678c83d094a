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

/// Where the credential of the ledger's account comes from. Asked at send time, never stored.
public struct CredentialProvider: Sendable {
  private let ask: @Sendable (_ refused: Bool) async -> Secret?

  /// Makes a provider.
  ///
  /// - Parameter ask: gives the bearer token. `refused` says that the server did not accept the
  ///   last one, so a new one is wanted; nil means that there is none.
  public init(_ ask: @escaping @Sendable (_ refused: Bool) async -> Secret?) { self.ask = ask }

  func token(refused: Bool = false) async -> Secret? { await ask(refused) }
}
