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
  public init(ofDestination text: String) {
    let known = AdapterKind.allCases.first { kind in
      let prefix = kind.prefix.utf8
      return !prefix.isEmpty
        && text.utf8.prefix(prefix.count).elementsEqual(prefix) { AdapterKind.lower($0) == $1 }
    }
    self = known ?? .parts
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
