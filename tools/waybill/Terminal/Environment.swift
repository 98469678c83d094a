#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The environment variables, as values.
struct Environment: Sendable {
  private let lookUp: @Sendable (String) -> RawArgument?

  /// Variables that are given; the rest is unset.
  init(_ values: [String: String]) { lookUp = { name in values[name].map { RawArgument($0) } } }

  private init(lookUp: @escaping @Sendable (String) -> RawArgument?) { self.lookUp = lookUp }

  /// The variables of this process.
  static let ofProcess = Environment(lookUp: { name in
    getenv(name).map { RawArgument(cString: $0) }
  })

  /// The bytes of a variable; nil when it is unset or empty, which means the same here.
  func bytes(_ name: String) -> RawArgument? {
    lookUp(name).flatMap { $0.bytes.isEmpty ? nil : $0 }
  }

  #if os(Linux)
    /// The absolute path of this program's file.
    static var programPath: String? {
      guard let path = realpath("/proc/self/exe", nil) else { return nil }
      defer { free(path) }
      return String(cString: path)
    }
  #endif

  /// The text of a variable; nil when it is unset, empty or not UTF-8.
  subscript(name: String) -> String? { bytes(name)?.text }
}

extension Environment {
  /// The token, where no file is named.
  var token: RawArgument? { bytes("WAYBILL_TOKEN") }

  /// Where the ledger is when `--ledger` does not say: `$WAYBILL_LEDGER`, else `waybill/default`
  /// under `$XDG_STATE_HOME`, else under `~/.local/state`. Nil when not even a home is known.
  var ledgerPath: RawArgument? {
    if let path = bytes("WAYBILL_LEDGER") { return path }
    // The XDG Base Directory Specification has relative paths ignored.
    if let state = bytes("XDG_STATE_HOME"), state.bytes.first == UInt8(ascii: "/") {
      return RawArgument(bytes: state.bytes + "/waybill/default".utf8)
    }
    return bytes("HOME").map { RawArgument(bytes: $0.bytes + "/.local/state/waybill/default".utf8) }
  }
}
