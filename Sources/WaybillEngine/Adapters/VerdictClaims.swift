package import WaybillModel

/// The values a pause is reckoned from, so that neither clock nor chance is asked here.
package struct Pace: Equatable, Sendable {
  /// Failures in a row before this one.
  package let setbacks: Int
  /// The moment of the outcome.
  package let now: Timestamp
  /// 64 random bits for the jitter.
  package let random: UInt64

  /// Makes a pace from its values.
  package init(setbacks: Int, now: Timestamp, random: UInt64) {
    self.setbacks = setbacks
    self.now = now
    self.random = random
  }
}

/// What the verdicts of every adapter claim.
extension Verdict {
  /// What a verdict on a part claims, in the order to decide on: the end of the attempt first, so
  /// that a blocked upload has nothing in flight.
  package func observations(
    on transfer: TransferDescription, pace: Pace
  ) -> [UploadObservation] {
    switch self {
    case .statement(.held(let received)): [.partHeld(transfer, received: received)]
    case .statement(.committed(let object)): [.committed(object)]
    case .blocked(let reason, let status):
      [
        .partFailed(transfer, .refused, status: status, notBefore: nil),
        .blocked(reason, status: status),
      ]
    case .credentialsRejected(let status):
      [.partFailed(transfer, .credentials, status: status, notBefore: nil)]
    case .wait(let failure, let status, _):
      [
        .partFailed(
          transfer, failure, status: status, notBefore: nextAttempt(pace: pace))
      ]
    // Answers to other calls: from a part they would break the protocol.
    case .statement, .conflict, .partsMissing, .inProgress:
      [
        .partFailed(
          transfer, .protocolViolation, status: nil,
          notBefore: RetryPolicy.notBefore(
            setbacks: pace.setbacks, asked: nil, now: pace.now, random: pace.random))
      ]
    }
  }

  /// What a verdict on the opening, the status or the commit claims; nil when it claims nothing.
  /// The account of a status goes to `Reconciliation` instead: see `serverStatus`.
  package func observation(on step: DelayedStep, pace: Pace) -> UploadObservation? {
    switch self {
    case .statement(.opened(let offer)): return .opened(offer)
    case .statement(.alreadyStored(let object)): return .alreadyStored(object)
    case .statement(.committed(let object)): return .committed(object)
    case .conflict(let version): return .conflicted(currentVersion: version)
    case .blocked(let reason, let status): return .blocked(reason, status: status)
    // Being out of reach is a condition of all, not a fact about this one.
    case .statement, .credentialsRejected, .partsMissing, .wait(.offline, _, _): return nil
    case .wait(let failure, let status, _):
      return nextAttempt(pace: pace).map {
        .delayed(step, failure, status: status, until: $0)
      }
    case .inProgress(let status, _):
      return nextAttempt(pace: pace).map {
        .delayed(step, .inProgress, status: status, until: $0)
      }
    }
  }

  /// The server's account of the session, for `Reconciliation.compare`; nil when the verdict has
  /// none, and then nothing is known.
  package var serverStatus: ServerStatus? {
    guard case .statement(.status(let status)) = self else { return nil }
    return status
  }

  /// The earliest moment to make the same call again, or to ask for the status where the commit is
  /// under way or the session unknown; nil when the call is not repeated by itself: it is
  /// answered, a person or a new credential is needed, we stopped it, or the status has to be
  /// asked first, at once.
  package func nextAttempt(pace: Pace) -> Timestamp? {
    let asked: Int64?
    switch self {
    case .wait(.stopped, _, nil): return nil
    case .wait(.quota, _, let pause): asked = pause ?? RetryPolicy.quotaMilliseconds
    case .wait(_, _, let pause): asked = pause
    case .inProgress(_, let pause):
      return RetryPolicy.nextLook(after: pace.setbacks, asked: pause, now: pace.now)
    case .statement, .credentialsRejected, .blocked, .conflict, .partsMissing: return nil
    }
    return RetryPolicy.notBefore(
      setbacks: pace.setbacks, asked: asked, now: pace.now, random: pace.random)
  }
}
