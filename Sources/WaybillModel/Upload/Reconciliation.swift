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
    case .received: return holds(upload, session) { session.plan.byteCount(of: $0) }
    case .open(let received):
      return holds(upload, session) { received.contains($0) ? session.plan.byteCount(of: $0) : 0 }
    case .at(let offset):
      return holds(upload, session) { part in
        min(max(offset - session.plan.offset(of: part), 0), session.plan.byteCount(of: part))
      }
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

  /// - Parameter held: how many bytes of a part the server holds, never more than it has.
  private static func holds(
    _ upload: Upload, _ session: Upload.Session, _ held: (PartNumber) -> Int64
  ) -> [ProposedEvent] {
    var events: [ProposedEvent] = []
    var hasRegressed = false
    var holdsAll = true
    for index in 0..<session.plan.partCount {
      let part = PartNumber(index)
      let byteCount = held(part)
      let known = upload.parts[index].confirmed
      if byteCount < session.plan.byteCount(of: part) { holdsAll = false }
      if byteCount > known {
        let confirmed = PartConfirmed(part: part, byteCount: byteCount)
        events.append(ProposedEvent(.partConfirmed(confirmed), cause: .reconciliation))
      } else if byteCount < known, let position = upload.parts[index].confirmedAt {
        hasRegressed = true
        let revoked = PartRevoked(
          part: part, byteCount: byteCount, regression: upload.regressions + 1)
        events.append(
          ProposedEvent(
            .partRevoked(revoked), cause: .reconciliation, compensates: position))
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
    } else if upload.received == nil, holdsAll {
      events.append(
        ProposedEvent(
          .received(Received(byteCount: upload.byteCount)), cause: .reconciliation))
    }
    return events
  }
}
