/// The next thing to perform for an upload. Performed only after the events that announce it are
/// durable.
public enum Step: Hashable, Sendable {
  /// Hash the copy where needed and make the intent durable.
  case finishSaving
  /// Ask the server for a session.
  case open
  /// Ask the server what it holds.
  case askStatus
  /// Send one part.
  case send(PartNumber)
  /// Ask the server to bind the object to its record.
  case commit
  /// Delete the local copy of an upload that has ended.
  case releaseCopy
}

/// Decides what to perform next, from the folded uploads and from what is going on.
public enum Planner {
  /// How much may go on at once.
  public struct Limits: Equatable, Sendable {
    /// Parts in flight, over all uploads.
    public var transfers: Int
    /// Small calls in flight, over all uploads.
    public var calls: Int
    /// Bytes of part files on disk, where parts are sent from files of their own. One part may be
    /// larger than that by itself.
    public var partFileBytes: Int64

    /// Four of each and 32 MiB of part files by default.
    public init(transfers: Int = 4, calls: Int = 4, partFileBytes: Int64 = 33_554_432) {
      self.transfers = transfers
      self.calls = calls
      self.partFileBytes = partFileBytes
    }

    /// One of each: enough to find out whether the server can be reached again.
    public static let probe = Limits(transfers: 1, calls: 1)
  }

  /// What one upload can do now.
  public enum Move: Equatable, Sendable {
    /// These steps, in this order, as far as there is room.
    case perform([Step])
    /// Nothing until that moment.
    case wait(until: Timestamp)
    /// Nothing until something happens.
    case rest
  }

  /// What one upload can do now.
  ///
  /// - Parameters:
  ///   - upload: the folded upload.
  ///   - activity: what goes on for it.
  ///   - launch: this launch; a session of an earlier one is asked about first.
  ///   - now: the current time.
  public static func move(
    _ upload: Upload, _ activity: Activity, launch: LaunchGeneration, now: Timestamp
  ) -> Move {
    if activity.isBusy || activity.leftAt == upload.revision { return .rest }
    if upload.ending != nil {
      let isReleased = upload.copy == nil || upload.copyReleased != nil
      return isReleased ? .rest : .perform([.releaseCopy])
    }
    if upload.attention != nil || upload.paused != nil || upload.copy == nil { return .rest }
    if let until = upload.delay?.until, RetryPolicy.isHeld(until: until, now: now) {
      return .wait(until: until)
    }
    guard upload.intent != nil else { return .perform([.finishSaving]) }
    guard let session = upload.session else { return .perform([.open]) }
    if mustAsk(upload, session, activity, launch: launch, now: now) {
      return .perform([.askStatus])
    }
    if upload.received != nil { return .perform([.commit]) }
    if upload.allPartsConfirmed { return .perform([.askStatus]) }
    return sends(upload, except: activity.preparing, now: now)
  }

  private static func mustAsk(
    _ upload: Upload, _ session: Upload.Session, _ activity: Activity, launch: LaunchGeneration,
    now: Timestamp
  ) -> Bool {
    if activity.mustAsk { return true }
    if session.launch != launch, activity.asked == nil { return true }
    // What such a server is asked for the proof says nothing of the upload: its status does.
    if upload.isSequential, upload.received != nil, activity.asked != upload.revision {
      return true
    }
    if let retried = upload.retried, (activity.asked ?? .none) < retried { return true }
    let asked = activity.asked ?? .none
    if asked != upload.revision, let expires = session.expires, expires <= now { return true }
    let isSequential = upload.isSequential
    return upload.parts.contains { part in
      part.isOutcomeOpen(isSequential: isSequential) && part.failed > asked
        && !(part.notBefore.map { RetryPolicy.isHeld(until: $0, now: now) } ?? false)
    }
  }

  private static func sends(
    _ upload: Upload, except preparing: Set<PartNumber>, now: Timestamp
  ) -> Move {
    var steps: [Step] = []
    var earliest: Timestamp?
    let isSequential = upload.isSequential
    for index in upload.parts.indices where !upload.isConfirmed(PartNumber(index)) {
      // The server takes the next bytes only, and they come with one part at a time.
      if isSequential, PartNumber(index) != upload.firstUnconfirmed || !preparing.isEmpty { break }
      let part = upload.parts[index]
      if part.flight != nil || preparing.contains(PartNumber(index)) { continue }
      if let notBefore = part.notBefore, RetryPolicy.isHeld(until: notBefore, now: now) {
        earliest = min(earliest ?? notBefore, notBefore)
      } else {
        steps.append(.send(PartNumber(index)))
      }
    }
    if !steps.isEmpty { return .perform(steps) }
    return earliest.map { .wait(until: $0) } ?? .rest
  }

  /// What to start now, and when to look again if nothing happens before.
  public struct Schedule: Equatable, Sendable {
    /// Steps to start, each with its upload, in order.
    public var steps: [(upload: UploadID, step: Step)] = []
    /// The first moment at which a waiting upload can go on.
    public var wake: Timestamp?

    /// Equal when the same steps start in the same order and the same moment is waited for.
    public static func == (left: Schedule, right: Schedule) -> Bool {
      left.wake == right.wake
        && left.steps.elementsEqual(right.steps) { $0.upload == $1.upload && $0.step == $1.step }
    }
  }

  /// Fills the free places with the first steps of uploads in their order. An upload that waits
  /// takes no place, so it never holds the ones behind it.
  ///
  /// - Parameters:
  ///   - uploads: the uploads in the order of doing, each with what goes on for it.
  ///   - transfers: parts in flight now.
  ///   - calls: small calls in flight now.
  ///   - partFileBytes: bytes of part files now; nil where parts are sent as slices of the copy.
  ///   - limits: how much may go on at once.
  ///   - launch: this launch.
  ///   - now: the current time.
  public static func schedule(
    _ uploads: [(upload: Upload, activity: Activity)], transfers: Int, calls: Int,
    partFileBytes: Int64? = nil, limits: Limits, launch: LaunchGeneration, now: Timestamp
  ) -> Schedule {
    var schedule = Schedule()
    var transfers = transfers
    var calls = calls
    var fileBytes = partFileBytes ?? 0
    for (upload, activity) in uploads {
      switch move(upload, activity, launch: launch, now: now) {
      case .rest: continue
      case .wait(let until): schedule.wake = min(schedule.wake ?? until, until)
      case .perform(let steps):
        for step in steps {
          if case .send(let part) = step {
            let bytes = partFileBytes == nil ? 0 : upload.partFileBytes(of: part)
            let fits = fileBytes == 0 || fileBytes + bytes <= limits.partFileBytes
            guard transfers < limits.transfers, fits else { break }
            transfers += 1
            fileBytes += bytes
          } else {
            guard calls < limits.calls else { break }
            calls += 1
          }
          schedule.steps.append((upload.id, step))
        }
      }
    }
    return schedule
  }
}

extension Upload {
  /// Its place among uploads of one priority: first what a person picked, in the order of picking,
  /// then what is backed up, the newest first, since that is what a person looks for.
  public var place: Int64 {
    copy?.source == .backup ? Int64.max - firstPosition.value : firstPosition.value
  }

  /// Bytes a file of its own takes for one part: none for the only part, which is the copy itself.
  public func partFileBytes(of part: PartNumber) -> Int64 {
    guard let plan = session?.plan, plan.partCount > 1 else { return 0 }
    return plan.byteCount(of: part)
  }
}
