/// The protocol an upload is sent by, told by the text of its destination alone, so that nothing
/// else has to be stored.
public enum AdapterKind: Hashable, Sendable, CaseIterable {
  /// Our own protocol of parts: a plain `https://…`.
  case parts
  /// The resumable upload protocol tus 1.0: `tus+https://…`.
  case tus

  /// What stands in front of the URL in the text of a destination.
  public var prefix: String {
    switch self {
    case .parts: ""
    case .tus: "tus+"
    }
  }

  /// Whether the server owns one offset: then the parts are sent one after the other, and each
  /// begins behind the bytes of it that the server holds.
  public var isSequential: Bool {
    switch self {
    case .parts: false
    case .tus: true
    }
  }

  /// Reads the beginning of a destination, in any case; a prefix nobody knows belongs to no adapter
  /// and makes the text no destination.
  public init(ofDestination text: some StringProtocol) {
    let known = AdapterKind.allCases.first { kind in
      !kind.prefix.isEmpty && text.prefix(kind.prefix.count).lowercased() == kind.prefix
    }
    self = known ?? .parts
  }
}
