public import Testing
public import WaybillModel

/// Begins a specification: these events have happened.
///
/// `given(events).when(command).then(events)`; what does not hold is reported where `then` stands.
public func given(_ events: UploadEvent...) -> History { History().and(events) }

/// Begins a specification: these events have happened.
public func given(_ events: [UploadEvent]) -> History { History().and(events) }

extension History {
  /// What a command is answered with.
  public func when(_ command: UploadCommand) -> Decision {
    do throws(Rejection) {
      return Decision(history: self, answer: .success(try upload.decide(command)))
    } catch {
      return Decision(history: self, answer: .failure(error))
    }
  }

  /// What a claim amounts to.
  public func when(_ observation: UploadObservation) -> Decision {
    Decision(history: self, answer: .success(upload.decide(observation)))
  }

  /// What reconciliation with the transport gives, which has these transfers and no others.
  public func when(transportHas live: Set<TransferDescription>) -> Decision {
    Decision(history: self, answer: .success(Reconciliation.compare(upload, with: live)))
  }

  /// What reconciliation with the server's account of the session gives.
  public func when(serverSays status: ServerStatus) -> Decision {
    Decision(history: self, answer: .success(Reconciliation.compare(upload, with: status)))
  }
}

/// What was decided in one state, to be compared with what should have been.
public struct Decision: Sendable {
  /// The history it was decided on.
  public let history: History
  /// The proposed events, or the refusal.
  public let answer: Result<[ProposedEvent], Rejection>

  /// Expects exactly these events in this order.
  ///
  /// - Returns: the history with the events recorded, to go on from.
  @discardableResult
  public func then(
    _ expected: UploadEvent..., at location: SourceLocation = #_sourceLocation
  ) -> History {
    check(expected, location)
  }

  /// Expects that nothing is to be recorded.
  @discardableResult
  public func thenNothing(at location: SourceLocation = #_sourceLocation) -> History {
    check([], location)
  }

  /// Expects that the command is refused for this reason.
  public func thenRejected(
    _ expected: Rejection, at location: SourceLocation = #_sourceLocation
  ) {
    guard case .failure(expected) = answer else {
      Issue.record("expected the refusal \(expected), got \(answer)", sourceLocation: location)
      return
    }
  }

  private func check(_ expected: [UploadEvent], _ location: SourceLocation) -> History {
    var next = history
    switch answer {
    case .success(let proposals):
      if proposals.map(\.event) != expected {
        let got = proposals.map { "\($0.event)" }.joined(separator: "\n  ")
        let want = expected.map { "\($0)" }.joined(separator: "\n  ")
        Issue.record("expected\n  \(want)\ngot\n  \(got)", sourceLocation: location)
      }
      next.record(proposals)
    case .failure(let rejection):
      Issue.record("expected events, got the refusal \(rejection)", sourceLocation: location)
    }
    return next
  }
}
