/// Whether a transfer still moves: while its body leaves, by the bytes that have arrived on the
/// other side, and from the last of them on by how long its reply takes.
///
/// What comes back proves nothing before it is whole: a byte now and then, or one interim reply
/// after the other, would hold a place for ever.
public struct TransferDeadline: Equatable, Sendable {
  /// Fewer bytes than these in `stall`, unless they are the last, count as none: 8 KiB.
  public static let minimumBytes: Int64 = 8192

  private let stall: Duration
  private let reply: Duration
  /// Bytes that had arrived when the transfer last moved, and when that was.
  private var moved: (bytes: Int64, at: Duration) = (0, .zero)
  private var wholeSince: Duration?

  /// Makes the deadline of a transfer that begins.
  ///
  /// - Parameters:
  ///   - stall: how long it may go without moving.
  ///   - reply: how long its reply may take once every byte has arrived.
  public init(stall: Duration, reply: Duration) {
    self.stall = stall
    self.reply = reply
  }

  /// Whether the transfer has taken too long.
  ///
  /// - Parameters:
  ///   - arrived: bytes of the body that have arrived; fewer than before when it is sent anew.
  ///   - count: the length of the body.
  ///   - elapsed: the time since the beginning, never less than before.
  public mutating func isOver(
    arrived: Int64, of count: Int64, after elapsed: Duration
  ) -> Bool {
    guard arrived < count else {
      let since = wholeSince ?? elapsed
      wholeSince = since
      return elapsed - since >= reply
    }
    wholeSince = nil
    let step = min(TransferDeadline.minimumBytes, count - moved.bytes)
    if arrived < moved.bytes || arrived >= moved.bytes + step { moved = (arrived, elapsed) }
    return elapsed - moved.at >= stall
  }

  /// Equal when everything it goes by is.
  public static func == (left: TransferDeadline, right: TransferDeadline) -> Bool {
    left.stall == right.stall && left.reply == right.reply && left.moved == right.moved
      && left.wholeSince == right.wholeSince
  }
}
