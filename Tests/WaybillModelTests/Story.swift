import WaybillModel
import WaybillTesting

/// Short histories that lead to every state an upload can be in.
enum Story: String, CaseIterable {
  case fresh = "no events"
  case exported
  case hashed
  case queued
  case sessionOpen = "session open"
  case inFlight = "part in flight"
  case failed = "part failed, waiting"
  case offline = "part failed, offline"
  case openDelayed = "opening put off"
  case commitDelayed = "commit put off"
  case commitUnderWay = "commit under way"
  case someConfirmed = "some parts confirmed"
  case allConfirmed = "all parts confirmed"
  case received
  case verified
  case committed
  case released = "committed, copy released"
  case conflicted
  case cancelled
  case deduplicated
  case attention = "needs attention"
  case paused
  case lost = "transfer lost"
  case revoked = "part revoked"
  case expired = "session expired"
  case retried
  case emptyFile = "empty file, session open"

  var history: History { History().and(events) }

  private static let last: [UploadEvent] = [
    Samples.sent(2), Samples.failed(2, .serverUnavailable),
  ]

  private var events: [UploadEvent] {
    let opened = Samples.opened()
    let confirmed = opened + [0, 1, 2].flatMap { [Samples.sent($0), Samples.confirmed($0)] }
    let received = confirmed + [.received(Received(byteCount: 20_000_000))]
    let verified = received + [.verified(Verified(hash: Samples.hash))]
    let committed = Committed(
      remote: Samples.remote, version: 5, hash: Samples.hash, status: 200)
    return switch self {
    case .fresh: []
    case .exported: Array(opened.prefix(1))
    case .hashed: Array(opened.prefix(2))
    case .queued: Array(opened.prefix(3))
    case .sessionOpen: opened
    case .inFlight: opened + [Samples.sent(2)]
    case .failed: opened + [0, 1].map { Samples.confirmed($0) } + Story.last
    case .offline:
      opened + [0, 1].map { Samples.confirmed($0) } + [
        Samples.sent(2), Samples.failed(2, .offline),
      ]
    case .openDelayed: Samples.queued() + [Samples.delayed(.open, .throttled)]
    case .commitDelayed: received + [Samples.delayed(.commit, .quota)]
    case .commitUnderWay: received + [Samples.delayed(.commit, .inProgress)]
    case .someConfirmed: opened + [Samples.sent(0), Samples.confirmed(0), Samples.sent(1)]
    case .allConfirmed: confirmed
    case .received: received
    case .verified: verified
    case .committed: verified + [.committed(committed)]
    case .released: verified + [.committed(committed), .copyReleased]
    case .conflicted:
      received + [
        .conflicted(Conflicted(currentVersion: 5)),
        .attentionNeeded(AttentionNeeded(reason: .conflict, status: 409)),
      ]
    case .cancelled: opened + [Samples.sent(2), .cancelled(Cancelled(reason: .user))]
    case .deduplicated:
      Array(opened.prefix(2)) + [
        .deduplicated(Deduplicated(original: .upload(Samples.otherUpload)))
      ]
    case .attention:
      opened + [.attentionNeeded(AttentionNeeded(reason: .accessRevoked, status: 403))]
    case .paused: opened + [.paused]
    case .lost:
      opened + [Samples.sent(2), .transferLost(TransferLost(part: PartNumber(2), attempt: 1))]
    case .revoked:
      received + [.partRevoked(PartRevoked(part: PartNumber(2), byteCount: 0, regression: 1))]
    case .expired: confirmed + [.sessionExpired(SessionExpired(session: Samples.session))]
    case .retried:
      opened + Story.last + [
        .attentionNeeded(AttentionNeeded(reason: .attemptsExhausted)), .retried(Retried(round: 1)),
      ]
    case .emptyFile: Samples.opened(byteCount: 0)
    }
  }
}

extension Samples {
  static func length(_ part: Int) -> Int64 { part == 2 ? 3_222_784 : partSize }

  static func sent(_ part: Int, attempt: Int = 1) -> UploadEvent {
    .partSent(PartSent(part: PartNumber(part), attempt: attempt, byteCount: length(part)))
  }

  static func failed(_ part: Int, _ failure: FailureKind, attempt: Int = 1) -> UploadEvent {
    .partFailed(
      PartFailed(
        part: PartNumber(part), attempt: attempt, failure: failure,
        notBefore: time.adding(milliseconds: 60_000)))
  }

  static func delayed(
    _ step: DelayedStep, _ failure: FailureKind, attempt: Int = 1
  ) -> UploadEvent {
    .delayed(
      Delayed(
        step: step, failure: failure, attempt: attempt,
        until: time.adding(milliseconds: 60_000), status: 503))
  }

  static func confirmed(_ part: Int, byteCount: Int64? = nil) -> UploadEvent {
    .partConfirmed(
      PartConfirmed(part: PartNumber(part), byteCount: byteCount ?? length(part)))
  }

  static func transfer(_ part: Int, attempt: Int = 1, launch: Int64 = 1) -> TransferDescription {
    TransferDescription(
      upload: upload, part: PartNumber(part), attempt: attempt, launch: LaunchGeneration(launch))
  }

  static func held(
    _ part: Int, attempt: Int = 1, server parts: [Int], launch: Int64 = 1
  ) -> UploadObservation {
    .partHeld(transfer(part, attempt: attempt, launch: launch), received: PartSet(parts))
  }
}
