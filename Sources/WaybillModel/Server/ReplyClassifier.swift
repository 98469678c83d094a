/// The one table that says what an outcome of our own protocol's calls means: endpoint × status ×
/// body × headers.
///
/// It errs to the side of "nothing proved": only a whole, well-formed JSON statement within the
/// protocol's bounds moves an upload on. Redirects are never followed.
public enum ReplyClassifier {
  /// A difference of the clocks from which a 403 is taken for a refused clock, in milliseconds.
  public static let maximumSkewMilliseconds: Int64 = 300_000

  /// The call that was made, with what its reply is measured against.
  public enum Endpoint: Equatable, Sendable {
    /// Opens a session for a file of so many bytes.
    case open(byteCount: Int64)
    /// Carries one part.
    case part(PartNumber, of: PartPlan)
    /// Asks what the server holds.
    case status(of: PartPlan)
    /// Binds the object to its record.
    case commit
    /// Gives the session up.
    case delete
  }

  /// What one outcome means.
  ///
  /// - Parameters:
  ///   - outcome: the reply, or why none came.
  ///   - endpoint: the call it belongs to.
  ///   - now: the local moment of the outcome; a reply's own `Date` goes before it.
  public static func classify(
    _ outcome: HTTPOutcome, endpoint: Endpoint, now: Timestamp
  ) -> Verdict {
    switch outcome {
    case .reply(let reply): Exchange(reply: reply, endpoint: endpoint, now: now).verdict
    case .noReply(let reason): verdict(on: reason)
    }
  }

  /// What it means that no reply came, in any protocol.
  package static func verdict(on reason: NoReply) -> Verdict {
    switch reason {
    case .offline, .refused, .untrusted:
      .wait(.offline, status: nil, askedMilliseconds: nil)
    case .dropped, .timedOut: .wait(.interrupted, status: nil, askedMilliseconds: nil)
    case .unreadableFile: .wait(.sourceUnreadable, status: nil, askedMilliseconds: nil)
    case .cancelled: .wait(.stopped, status: nil, askedMilliseconds: nil)
    case .notTaken: .wait(.stopped, status: nil, askedMilliseconds: 1000)
    case .unusable: .blocked(.refused, status: nil)
    }
  }
}

/// One reply to one call.
private struct Exchange {
  let reply: HTTPReply
  let endpoint: ReplyClassifier.Endpoint
  let now: Timestamp

  var verdict: Verdict {
    switch reply.status {
    case 200...299: success
    case 300...399: wait(.offline)
    case 400...499: refusal
    case 500...599: trouble
    default: wait(.protocolViolation)
    }
  }

  // MARK: 2xx

  /// A success that says nothing of ours was written by something between us and the server, such
  /// as a network that wants a sign-in: that is being offline, and no attempt is charged for it.
  private var success: Verdict {
    switch (reply.status, endpoint) {
    case (204, .delete): return .statement(.sessionDeleted)
    case (202, .commit): return .inProgress(status: reply.status, askedMilliseconds: asked)
    case (_, .delete): return wait(.offline)
    case (200, _), (201, _): break
    default: return wait(.offline)
    }
    do {
      return .statement(try statement(StatementReader(reply)))
    } catch {
      switch error {
      case .provesNothing: return wait(.offline)
      case .breaksProtocol: return wait(.protocolViolation)
      }
    }
  }

  private func statement(_ reader: StatementReader) throws(StatementDefect) -> ServerStatement {
    switch (reply.status, endpoint) {
    case (201, .open(let byteCount)):
      return .opened(try reader.offer(byteCount: byteCount, at: serverNow))
    case (200, .open): return .alreadyStored(try reader.object())
    case (200, .part(let part, let plan)): return .held(try reader.held(part, of: plan))
    case (201, .part), (200, .commit): return .committed(try reader.object())
    case (200, .status(let plan)): return .status(try reader.account(plan))
    default: throw .breaksProtocol
    }
  }

  // MARK: 4xx

  private var refusal: Verdict {
    switch (reply.status, endpoint) {
    case (401, _): .credentialsRejected(status: reply.status)
    case (403, _):
      isClockRefused ? wait(.serverUnavailable) : blocked(.accessRevoked)
    case (404, .open), (410, .open): blocked(.refused)
    case (404, .status), (410, .status): .statement(.status(.gone))
    case (404, .delete), (410, .delete): .statement(.sessionDeleted)
    case (404, _), (410, _): wait(.sessionUnknown)
    // Somebody's proxy wants a password: the network, not the server, stands in the way.
    case (407, _): wait(.offline)
    case (408, _), (425, _): wait(.interrupted)
    case (429, _): wait(.throttled)
    case (409, _): disagreement
    case (413, _): blocked(.tooLarge)
    case (423, .commit): .inProgress(status: reply.status, askedMilliseconds: asked)
    case (423, _): wait(.serverUnavailable)
    case (400, .part) where ["digest-mismatch", "wrong-length"].contains(problem):
      wait(.digestMismatch)
    case (422, .commit) where problem == "hash-mismatch": blocked(.hashMismatch)
    default: blocked(.refused)
    }
  }

  /// 409 has a meaning for each endpoint and body; without one we know it is a broken protocol,
  /// which is charged, so that it cannot go round for ever.
  private var disagreement: Verdict {
    switch (endpoint, problem) {
    case (.commit, "parts-missing"): return .partsMissing
    case (.part, "part-in-progress"): return wait(.inProgress)
    case (.part, "part-differs"): return blocked(.sourceChanged)
    // The session has come to its end without us: only its status tells how.
    case (.part, "already-committed"): return wait(.sessionUnknown)
    case (.commit, _):
      guard let version = problemDocument?["currentVersion"]?.integer, version >= 0 else {
        return wait(.protocolViolation)
      }
      return .conflict(currentVersion: version)
    default: return wait(.protocolViolation)
    }
  }

  private var isClockRefused: Bool {
    if problem == "clock-skew" { return true }
    let skew = ServerClock.skewMilliseconds(of: reply, now: now) ?? 0
    return skew.magnitude >= ReplyClassifier.maximumSkewMilliseconds.magnitude
  }

  // MARK: 5xx

  private var trouble: Verdict {
    switch (reply.status, endpoint) {
    case (504, .commit): .inProgress(status: reply.status, askedMilliseconds: asked)
    case (507, _): wait(.quota)
    // A network that asks for a sign-in of its own (RFC 6585 section 6).
    case (511, _): wait(.offline)
    default: wait(.serverUnavailable)
    }
  }

  // MARK: What the reply says

  private func wait(_ failure: FailureKind) -> Verdict {
    .wait(failure, status: reply.status, askedMilliseconds: asked)
  }

  private func blocked(_ reason: AttentionReason) -> Verdict {
    .blocked(reason, status: reply.status)
  }

  private var asked: Int64? { RetryAfter.milliseconds(of: reply, now: now) }

  private var serverNow: Timestamp { ServerClock.moment(of: reply, now: now) ?? now }

  /// The problem details (RFC 9457) of a refusal, where it has any that can be read.
  private var problemDocument: JSONValue? {
    let types = ["application/problem+json", "application/json"]
    guard types.contains(StatementReader.mediaType(of: reply)), !reply.isTruncated,
      reply.body.count <= HTTPReply.maximumBodyBytes
    else { return nil }
    return try? JSONValue.read(reply.body)
  }

  /// The last word of the problem's type, which is a URI.
  private var problem: String? {
    let type = problemDocument?["type"]?.text
    return type?.split(whereSeparator: { "/:#".contains($0) }).last.map(String.init)
  }
}
