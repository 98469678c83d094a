/// What a person has to be told once about files they picked: those that are not in the queue now
/// because of this pick.
public struct PickNotice: Equatable, Sendable {
  /// Files whose bytes are available everywhere already.
  public var alreadyUploaded: Int
  /// Files whose bytes are in the queue already.
  public var alreadyQueued: Int
  /// Files that could not be read.
  public var unreadable: Int
  /// Files for whose copy this device has no room.
  public var withoutRoom: Int
  /// Files that a stop came before.
  public var notLookedAt: Int

  /// Makes a notice from its counts.
  public init(
    alreadyUploaded: Int = 0, alreadyQueued: Int = 0, unreadable: Int = 0, withoutRoom: Int = 0,
    notLookedAt: Int = 0
  ) {
    self.alreadyUploaded = alreadyUploaded
    self.alreadyQueued = alreadyQueued
    self.unreadable = unreadable
    self.withoutRoom = withoutRoom
    self.notLookedAt = notLookedAt
  }

  /// Whether there is nothing to tell.
  public var isEmpty: Bool { phrases.isEmpty }

  /// What to tell, one phrase a line.
  public var phrases: [Phrase] {
    let lines: [(Int, String, String)] = [
      (alreadyUploaded, "notice.already_uploaded", "%1$@ already uploaded, skipped"),
      (alreadyQueued, "notice.already_queued", "%1$@ already in the queue, skipped"),
      (unreadable, "notice.unreadable", "%1$@ could not be read"),
      (withoutRoom, "notice.without_room", "%1$@ not added: this device has no room left"),
      (notLookedAt, "notice.not_looked_at", "%1$@ not added: it was stopped before"),
    ]
    return lines.filter { $0.0 > 0 }.map { Phrase($0.1, $0.2, .count(Int64($0.0))) }
  }

  /// Both notices in one.
  public static func + (left: PickNotice, right: PickNotice) -> PickNotice {
    PickNotice(
      alreadyUploaded: left.alreadyUploaded + right.alreadyUploaded,
      alreadyQueued: left.alreadyQueued + right.alreadyQueued,
      unreadable: left.unreadable + right.unreadable,
      withoutRoom: left.withoutRoom + right.withoutRoom,
      notLookedAt: left.notLookedAt + right.notLookedAt)
  }
}
