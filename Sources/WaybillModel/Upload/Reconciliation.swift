/// Compares what the ledger says of one upload with the transport and the server, and gives the
/// events that correct or complete the record. Pure; asked twice with the same answers, it gives
/// nothing the second time.
public enum Reconciliation {
  /// How often the server may go back on what it confirmed before a person is asked.
  public static let maximumRegressions = 3
  /// How many sessions in a row may expire without a byte confirmed before a person is asked.
  public static let maximumBarrenSessions = 3

  /// The events for parts that were sent and that the transport knows nothing of.
  ///
  /// - Parameters:
  ///   - upload: the upload as its events left it.
  ///   - live: the transfers the transport has, also those of earlier launches.
  public static func compare(
    _ upload: Upload, with live: Set<TransferDescription>
  ) -> [ProposedEvent] {
    guard upload.ending == nil else { return [] }
    return upload.parts.indices.compactMap { index in
      let part = PartNumber(index)
      guard let flight = upload.parts[index].flight,
        !live.contains(upload.description(of: flight, part: part))
      else { return nil }
      return ProposedEvent(
        .transferLost(TransferLost(part: part, attempt: flight.attempt)), cause: .reconciliation,
        compensates: flight.position)
    }
  }

  /// The events for the server's own account of the session.
  public static func compare(_ upload: Upload, with status: ServerStatus) -> [ProposedEvent] {
    if case .committed(let object) = status {
      return upload.stored(object, cause: .reconciliation)
    }
    guard upload.ending == nil, let session = upload.session else { return [] }
    switch status {
    case .committed: return []
    case .gone: return expired(upload, session)
    case .received: return holds(PartSet(all: session.plan.partCount), upload, session)
    case .open(let received): return holds(received, upload, session)
    }
  }

  private static func expired(
    _ upload: Upload, _ session: Upload.Session
  ) -> [ProposedEvent] {
    let event = ProposedEvent(
      .sessionExpired(SessionExpired(session: session.reference)), cause: .reconciliation,
      compensates: session.opened)
    guard upload.isSessionBarren, upload.barrenSessions + 1 >= maximumBarrenSessions else {
      return [event]
    }
    return [event] + upload.blocked(.serverInconsistent, nil, cause: .reconciliation)
  }

  private static func holds(
    _ held: PartSet, _ upload: Upload, _ session: Upload.Session
  ) -> [ProposedEvent] {
    var events: [ProposedEvent] = []
    var hasRegressed = false
    for index in 0..<session.plan.partCount {
      let part = PartNumber(index)
      switch (held.contains(part), upload.parts[index].confirmedAt) {
      case (true, _) where !upload.isConfirmed(part):
        let confirmed = PartConfirmed(part: part, byteCount: session.plan.byteCount(of: part))
        events.append(ProposedEvent(.partConfirmed(confirmed), cause: .reconciliation))
      case (false, let position?):
        hasRegressed = true
        let revoked = PartRevoked(
          part: part, byteCount: 0, regression: upload.regressions + 1)
        events.append(
          ProposedEvent(
            .partRevoked(revoked), cause: .reconciliation, compensates: position))
      default: break
      }
    }
    if hasRegressed {
      if let verified = upload.verified {
        events.insert(
          ProposedEvent(.verificationRevoked, cause: .reconciliation, compensates: verified), at: 0)
      }
      if upload.regressions + 1 >= maximumRegressions {
        events += upload.blocked(.serverInconsistent, nil, cause: .reconciliation)
      }
    } else if upload.received == nil, held.coversAll(session.plan.partCount) {
      events.append(
        ProposedEvent(
          .received(Received(byteCount: upload.byteCount)), cause: .reconciliation))
    }
    return events
  }
}
