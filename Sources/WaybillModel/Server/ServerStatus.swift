/// What the server offers when it opens a session.
public struct SessionOffer: Equatable, Sendable {
  /// The server's name for the session.
  public let session: SessionReference
  /// The length of each part but the last, in bytes.
  public let partSize: Int64
  /// How many parts it expects; 0 for an empty file.
  public let partCount: Int
  /// When the session ends by itself, where the server says so.
  public let expires: Timestamp?
  /// The parts it holds already.
  public let received: PartSet

  /// Makes an offer from its values.
  public init(
    session: SessionReference, partSize: Int64, partCount: Int, expires: Timestamp?,
    received: PartSet = PartSet()
  ) {
    self.session = session
    self.partSize = partSize
    self.partCount = partCount
    self.expires = expires
    self.received = received
  }
}

/// An object the server says it has bound to its record.
public struct StoredObject: Equatable, Sendable {
  /// The server's name for it.
  public let remote: RemoteID
  /// The version of the record, where stated.
  public let version: Int64?
  /// The hash the server computed, where stated.
  public let hash: ContentHash?
  /// The status code of the reply.
  public let status: Int

  /// Makes the statement from its values.
  public init(remote: RemoteID, version: Int64?, hash: ContentHash?, status: Int) {
    self.remote = remote
    self.version = version
    self.hash = hash
    self.status = status
  }
}

/// The server's own account of one session.
public enum ServerStatus: Equatable, Sendable {
  /// It holds these parts and waits for the rest.
  case open(received: PartSet)
  /// It holds the bytes before this offset, and nothing behind them.
  case at(offset: Int64)
  /// It holds every byte and waits for the commit.
  case received
  /// It has bound the object to its record.
  case committed(StoredObject)
  /// It does not know the session (any more).
  case gone
}
