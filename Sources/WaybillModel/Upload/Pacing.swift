/// What the replies to all uploads say together, so that the trouble of one never holds up the
/// others: whether the server is in reach, whether it takes the credential, who may send now, and
/// since when nothing has moved on.
///
/// A verdict about one upload may be everybody's trouble: a network that wants a sign-in, a server
/// that is down, a credential that has run out. It is taken for that when several uploads have it
/// and none gets through. Then one at a time is tried, another one each time, and nobody is charged
/// for what everybody has. The first that gets through ends it, and whoever goes on having trouble
/// has it alone.
public struct Pacing: Equatable, Sendable {
  /// Uploads that are in trouble before it is taken for everybody's.
  public static let maximumOwnTroubles = 3
  /// The pause before another upload is tried that has not been tried since anybody got through,
  /// in milliseconds. Only for those that have does the pause grow: so many that are in trouble
  /// hold up the one that is not by so many of these.
  public static let probeMilliseconds: Int64 = 50
  /// How long a run stays for a commit that the server says is under way, in milliseconds.
  public static let commitPatienceMilliseconds: Int64 = 300_000

  /// What a verdict comes to.
  public struct Ruling: Equatable, Sendable {
    /// The verdict on the upload, in the light of what the others were told.
    public var verdict: Verdict
    /// Whether a new credential has to be asked for.
    public var renewsCredential = false
    /// Other uploads that are now known to be refused for a reason of their own.
    public var refused: [UploadID] = []
  }

  /// Why nothing moves on.
  public enum Stall: Equatable, Sendable {
    /// The server is out of reach.
    case offline
    /// The server answers, but is busy, full or failing.
    case serverUnavailable
    /// The server does not accept the credential.
    case credentialsRejected
  }

  private enum Kind: Equatable { case unreached, foreign, failing, refused }

  private struct Trouble: Equatable {
    var kind: Kind
    var setbacks = 0
    var pausedUntil: Timestamp
  }

  /// Whether the server is in reach and takes the credential, as far as is known.
  public private(set) var conditions = Conditions()
  /// Whether the server takes the credential.
  public private(set) var credential = CredentialTrust()
  /// What everybody has; nil while somebody gets through.
  private var trouble: Trouble?
  /// How often each upload was in trouble since anybody got through.
  private var troubled: [UploadID: Int] = [:]
  /// Uploads that were in trouble while others got through, until they do themselves.
  private var offenders: Set<UploadID> = []
  /// Two of the uploads that have got through since the beginning: enough to know whether another
  /// one than this has.
  private var through: [UploadID] = []
  private var stalledSince = Timestamp(microseconds: 0)
  private var hasFailed = false
  private var isCommitUnderWay = false

  /// Knows nothing yet.
  public init() {}

  // MARK: Beginning and moving on

  /// A run begins under conditions the ledger knows of.
  public mutating func begin(_ known: Conditions, at now: Timestamp) {
    conditions = known
    if conditions.credentials == .rejected { conditions.credentials = .unknown }
    credential.change()
    trouble =
      known.network == .offline ? Trouble(kind: .unreached, pausedUntil: now) : nil
    troubled = [:]
    offenders = []
    through = []
    isCommitUnderWay = false
    moveOn(at: now)
  }

  /// An upload has come further.
  public mutating func moveOn(at now: Timestamp) {
    stalledSince = now
    hasFailed = false
    isCommitUnderWay = false
  }

  /// Something outside has changed: the next try may be made at once.
  public mutating func lookAgain() { trouble?.pausedUntil = Timestamp(microseconds: 0) }

  /// The request for a new credential has ended, with one or without.
  public mutating func renewCredential() { credential.renew() }

  /// There is no credential to send.
  public mutating func rejectCredential() {
    credential.reject()
    conditions.credentials = .rejected
  }

  /// Somebody says that there is another credential.
  public mutating func changeCredential() {
    credential.change()
    if trouble?.kind == .refused { trouble = nil }
    conditions.credentials = .unknown
  }

  /// Says how many uploads have something left to do.
  public mutating func settle(workLeft: Int64) {
    credential.settle(workLeft: workLeft)
    if credential.isRejected { conditions.credentials = .rejected }
  }
}

// MARK: What a verdict comes to

extension Pacing {
  /// Takes a verdict on one request.
  ///
  /// - Parameters:
  ///   - verdict: what the outcome means by itself.
  ///   - request: the request.
  ///   - round: the round of the credential it was sent with.
  ///   - now: the moment of the outcome, on a clock that only grows.
  ///   - random: 64 random bits for the jitter.
  public mutating func take(
    _ verdict: Verdict, of request: CredentialTrust.Request, round: Int, at now: Timestamp,
    random: UInt64
  ) -> Ruling {
    var ruling = Ruling(verdict: verdict)
    switch Sign(verdict) {
    case .none: break
    case .through:
      if case .inProgress = verdict { isCommitUnderWay = true }
      ruling.refused = credential.accept(request, round: round)
      if trouble?.kind != .refused || credential.isAccepted { getThrough(request.upload) }
    case .refused(let status):
      if trouble?.kind != .refused { getThrough(request.upload) }
      conditions.network = .online
      switch credential.refuse(request, round: round) {
      case .renew: ruling.renewsCredential = true
      case .wait: break
      case .doubt: _ = suffer(.refused, request.upload, at: now, random)
      case .own: ruling.verdict = .blocked(.accessRevoked, status: status)
      }
    case .trouble(let kind):
      if !hasFailed { stalledSince = now }
      hasFailed = true
      let isShared = suffer(kind, request.upload, at: now, random)
      if case .wait(.offline, let status?, let asked) = verdict, !isShared {
        ruling.verdict = .wait(.notOurServer, status: status, askedMilliseconds: asked)
      }
    }
    if credential.isRejected {
      conditions.credentials = .rejected
    } else if credential.isAccepted {
      conditions.credentials = .accepted
    }
    return ruling
  }

  private mutating func getThrough(_ upload: UploadID) {
    offenders.formUnion(troubled.keys)
    offenders.remove(upload)
    troubled = [:]
    trouble = nil
    if through.count < 2, !through.contains(upload) { through.append(upload) }
    conditions.network = .online
  }

  /// Counts a trouble of one upload, and says whether everybody has it.
  private mutating func suffer(
    _ kind: Kind, _ upload: UploadID, at now: Timestamp, _ random: UInt64
  ) -> Bool {
    let isFirst = troubled[upload] == nil
    troubled[upload, default: 0] += 1
    guard trouble != nil || isShared(kind, upload) else {
      conditions.network = .online
      return false
    }
    var shared = trouble ?? Trouble(kind: kind, pausedUntil: now)
    shared.kind = kind
    // What was on its way together fails together: that is one setback, not several.
    if !RetryPolicy.isHeld(until: shared.pausedUntil, now: now) {
      if isFirst, kind != .unreached {
        shared.pausedUntil = now.adding(milliseconds: Pacing.probeMilliseconds)
      } else {
        shared.pausedUntil = RetryPolicy.notBefore(
          setbacks: shared.setbacks, asked: nil, now: now, random: random)
        shared.setbacks += 1
      }
    }
    trouble = shared
    conditions.network = kind == .unreached || kind == .foreign ? .offline : .online
    return true
  }

  private func isShared(_ kind: Kind, _ upload: UploadID) -> Bool {
    switch kind {
    case .unreached, .refused: return true
    case .foreign where !offenders.contains(upload) && !through.contains { $0 != upload }:
      return true
    case .foreign, .failing:
      return troubled.keys.count { !offenders.contains($0) } >= Pacing.maximumOwnTroubles
    }
  }

  /// What a verdict says beyond its own upload.
  private enum Sign {
    /// Nothing.
    case none
    /// The server heard the request, accepted the credential and answered in its own words.
    case through
    /// The server did not accept the credential.
    case refused(status: Int)
    /// The request did not get through.
    case trouble(Kind)

    init(_ verdict: Verdict) {
      switch verdict {
      case .statement, .conflict, .partsMissing, .inProgress: self = .through
      case .blocked(_, let status): self = status == nil ? .none : .through
      case .credentialsRejected(let status): self = .refused(status: status)
      case .wait(.offline, let status, _): self = .trouble(status == nil ? .unreached : .foreign)
      case .wait(.interrupted, _, _), .wait(.serverUnavailable, _, _), .wait(.throttled, _, _):
        self = .trouble(.failing)
      case .wait(.stopped, _, _), .wait(.sourceUnreadable, _, _): self = .none
      case .wait: self = .through
      }
    }
  }
}

// MARK: Who may send

extension Pacing {
  /// Whether nothing that carries a credential may be sent.
  public var isHeld: Bool { credential.isRejected || credential.isRenewing }

  /// How much may go on at once.
  ///
  /// - Returns: the limits for now, and when to look again where nothing may go on at all.
  public func admission(
    _ limits: Planner.Limits, at now: Timestamp
  ) -> (limits: Planner.Limits, until: Timestamp?) {
    guard let trouble else { return (limits, nil) }
    guard RetryPolicy.isHeld(until: trouble.pausedUntil, now: now) else { return (.probe, nil) }
    return (Planner.Limits(transfers: 0, calls: 0), trouble.pausedUntil)
  }

  /// The uploads in the order in which they are tried: as they come, but while everybody is in
  /// trouble those first that were tried least.
  public func order(_ uploads: [Upload]) -> [Upload] {
    guard trouble != nil else { return uploads }
    return uploads.enumerated().sorted { left, right in
      let tries = (troubled[left.element.id] ?? 0, troubled[right.element.id] ?? 0)
      return tries.0 == tries.1 ? left.offset < right.offset : tries.0 < tries.1
    }.map(\.element)
  }

  /// Why nothing has moved on for as long as a run has patience; nil while it has.
  public func stall(at now: Timestamp, patience milliseconds: Int64) -> Stall? {
    let patience =
      isCommitUnderWay ? max(milliseconds, Pacing.commitPatienceMilliseconds) : milliseconds
    guard now.milliseconds(since: stalledSince) >= patience else { return nil }
    if credential.isDoubted { return .credentialsRejected }
    return conditions.network == .offline ? .offline : .serverUnavailable
  }
}
