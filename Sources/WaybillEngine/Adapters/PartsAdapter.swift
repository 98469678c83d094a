public import WaybillModel

/// Our own protocol of parts as pure functions: what to send next as a request, and what a verdict
/// on its outcome claims.
///
/// No request carries a credential; the shell adds it at send time, for this destination only.
public struct PartsAdapter: Hashable, Sendable {
  /// The service the requests go to.
  public let destination: Destination

  /// Makes the adapter for one service.
  public init(destination: Destination) { self.destination = destination }
}

// MARK: Requests

extension PartsAdapter {
  /// Opens a session; nil until the upload has a copy, a hash and an intent.
  ///
  /// Every attempt carries the same key, so that a lost reply cannot lead to a second session.
  public func open(_ upload: Upload) -> HTTPRequest? {
    guard let copy = upload.copy, let hash = upload.hash, let intent = upload.intent else {
      return nil
    }
    let document = JSONValue.object([
      JSONValue.Member("sha256", .text(hash.description)),
      JSONValue.Member("byteCount", .integer(copy.byteCount)),
      JSONValue.Member("fileName", .text(copy.name.repaired)),
      JSONValue.Member("commit", .text("explicit")),
    ])
    return post(to: "\(destination.text)/v1/uploads", document, key: intent.operation)
  }

  /// Carries one part; nil without a session or for a part it does not have.
  ///
  /// - Parameters:
  ///   - part: which.
  ///   - upload: its upload.
  ///   - path: the staged copy, one of our own files.
  ///   - digest: the SHA-256 of the part's bytes, taken from the copy.
  public func part(
    _ part: PartNumber, of upload: Upload, at path: String, digest: ContentHash
  ) -> HTTPRequest? {
    guard let session = upload.session, (0..<session.plan.partCount).contains(part.index) else {
      return nil
    }
    let plan = session.plan
    let slice = FileSlice(
      path: path, offset: plan.offset(of: part), count: plan.byteCount(of: part))
    return HTTPRequest(
      method: .put, url: "\(url(of: session.reference))/parts/\(part.index)",
      headers: [
        HTTPHeader("Content-Type", "application/octet-stream"),
        HTTPHeader("Content-Digest", "sha-256=:\(digest.base64):"),
      ], body: .file(slice))
  }

  /// Asks what the server holds; nil without a session.
  public func status(_ upload: Upload) -> HTTPRequest? {
    upload.session.map { HTTPRequest(method: .get, url: url(of: $0.reference)) }
  }

  /// Binds the object to its record; nil without a session and an intent.
  public func commit(_ upload: Upload) -> HTTPRequest? {
    guard let session = upload.session, let intent = upload.intent else { return nil }
    let base = intent.baseVersion.map { JSONValue.Member("baseVersion", .integer($0)) }
    return post(
      to: "\(url(of: session.reference))/commit", .object(base.map { [$0] } ?? []),
      key: intent.operation)
  }

  /// Gives a session up; the server may drop its bytes.
  public func delete(_ session: SessionReference) -> HTTPRequest {
    HTTPRequest(method: .delete, url: url(of: session))
  }

  private func url(of session: SessionReference) -> String {
    "\(destination.text)/v1/uploads/\(PartsAdapter.escaped(session.text))"
  }

  private func post(
    to url: String, _ document: JSONValue, key: IdempotencyKey
  ) -> HTTPRequest {
    HTTPRequest(
      method: .post, url: url,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Idempotency-Key", PartsAdapter.escaped(key.text)),
      ], body: .bytes([UInt8](document.serialized.utf8)))
  }

  /// The text itself if it is a name of the protocol. A damaged or foreign ledger may hold another,
  /// which must neither leave its place in the URL nor begin a new header line.
  private static func escaped(_ name: String) -> String {
    var out = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        out += byte < 0x10 ? "%0" : "%"
        out += String(byte, radix: 16, uppercase: true)
      }
    }
    return out
  }
}

// MARK: Claims

extension PartsAdapter {
  /// The values a pause is reckoned from, so that neither clock nor chance is asked here.
  public struct Pace: Equatable, Sendable {
    /// Failures in a row before this one.
    public let setbacks: Int
    /// The moment of the outcome.
    public let now: Timestamp
    /// 64 random bits for the jitter.
    public let random: UInt64

    /// Makes a pace from its values.
    public init(setbacks: Int, now: Timestamp, random: UInt64) {
      self.setbacks = setbacks
      self.now = now
      self.random = random
    }
  }

  /// What a verdict on a part claims, in the order to decide on: the end of the attempt first, so
  /// that a blocked upload has nothing in flight.
  public static func observations(
    of verdict: Verdict, on transfer: TransferDescription, pace: Pace
  ) -> [UploadObservation] {
    switch verdict {
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
          transfer, failure, status: status, notBefore: nextAttempt(after: verdict, pace: pace))
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
  public static func observation(
    of verdict: Verdict, on step: DelayedStep, pace: Pace
  ) -> UploadObservation? {
    switch verdict {
    case .statement(.opened(let offer)): return .opened(offer)
    case .statement(.alreadyStored(let object)): return .alreadyStored(object)
    case .statement(.committed(let object)): return .committed(object)
    case .conflict(let version): return .conflicted(currentVersion: version)
    case .blocked(let reason, let status): return .blocked(reason, status: status)
    // Being out of reach is a condition of all, not a fact about this one.
    case .statement, .credentialsRejected, .partsMissing, .wait(.offline, _, _): return nil
    case .wait(let failure, let status, _):
      return nextAttempt(after: verdict, pace: pace).map {
        .delayed(step, failure, status: status, until: $0)
      }
    case .inProgress(let status, _):
      return nextAttempt(after: verdict, pace: pace).map {
        .delayed(step, .inProgress, status: status, until: $0)
      }
    }
  }

  /// The server's account of the session, for `Reconciliation.compare`; nil when the verdict has
  /// none, and then nothing is known.
  public static func serverStatus(of verdict: Verdict) -> ServerStatus? {
    guard case .statement(.status(let status)) = verdict else { return nil }
    return status
  }

  /// The earliest moment to make the same call again, or to ask for the status where the commit is
  /// under way or the session unknown; nil when the call is not repeated by itself: it is
  /// answered, a person or a new credential is needed, we stopped it, or the status has to be
  /// asked first, at once.
  public static func nextAttempt(after verdict: Verdict, pace: Pace) -> Timestamp? {
    let asked: Int64?
    switch verdict {
    case .wait(.stopped, _, _): return nil
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
