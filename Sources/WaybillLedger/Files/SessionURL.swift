internal import WaybillHash
package import WaybillModel

/// The URL of a server's session. Whoever has it can write to the session, so it is handled like a
/// credential: it has no readable description and nothing for a debugger's dump to find.
package struct SessionURL: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The longest one taken, in bytes.
  package static let maximumByteCount = 2048

  /// What stands for it in the log: the first 32 digits of its SHA-256, which lead nobody back.
  package let reference: SessionReference
  private let text: String

  /// Wraps a URL; nil for one that is empty, too long, or has a byte no URL has.
  package init?(_ text: String) {
    guard (1...SessionURL.maximumByteCount).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    self.text = text
    let hash = SHA256.hash([UInt8](text.utf8)).description
    reference = SessionReference(String(hash.prefix(32)))
  }

  /// Calls `body` with the URL, for the request that goes there or the file that keeps it.
  package func reveal<T>(_ body: (String) -> T) -> T { body(text) }

  package var description: String { "(session URL)" }
  package var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
