internal import WaybillLedger
internal import WaybillModel

/// One reply to one call of tus 1.0, and what it means: endpoint × status × headers.
///
/// As in `ReplyClassifier`, what is not a whole statement of our server proves nothing.
struct TusReply {
  /// The version of the protocol we speak; a server says it in each of its replies.
  static let version = "1.0.0"
  /// The longest life of a session a server may promise, in milliseconds: ten years.
  private static let maximumLifeMilliseconds: Int64 = 3650 * 86_400_000

  let reply: HTTPReply
  let endpoint: ReplyClassifier.Endpoint
  let upload: Upload
  /// The URL sessions are opened at.
  let url: String
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

  private var success: Verdict {
    // A network that wants a sign-in answers everything with 200, but knows nothing of tus.
    let isOurs = endpoint == .commit || reply.header("Tus-Resumable") == TusReply.version
    guard isOurs else { return wait(.offline) }
    return switch (reply.status, endpoint) {
    case (201, .open(let byteCount)): opened(byteCount)
    case (200, .part(let part, let plan)), (204, .part(let part, let plan)): took(part, of: plan)
    case (200, .status(let plan)), (204, .status(let plan)): stands(plan)
    case (200, .commit), (204, .commit): proof
    case (_, .delete): .statement(.sessionDeleted)
    default: wait(.protocolViolation)
    }
  }

  private func opened(_ byteCount: Int64) -> Verdict {
    guard reply.header("Location") != nil else { return wait(.protocolViolation) }
    // Asked again it would name another place for another session: no repeat mends it.
    guard let session = SessionURL(location: reply, url: url) else { return blocked(.refused) }
    guard let plan = TusReply.plan(byteCount) else { return blocked(.tooLarge) }
    return .statement(
      .opened(
        SessionOffer(
          session: session.reference, partSize: plan.partSize, partCount: plan.partCount,
          expires: expiry)))
  }

  /// Parts of the usual length, or of as many 64 KiB as a long file needs.
  private static func plan(_ byteCount: Int64) -> PartPlan? {
    let step = PartPlan.partSizeRange.lowerBound
    let least = (byteCount - 1) / Int64(PartPlan.maximumPartCount) / step * step + step
    return PartPlan(byteCount: byteCount, partSize: max(TusAdapter.partSizeBytes, least))
  }

  /// A date that means nothing is passed over: the server says itself when a session is gone.
  private var expiry: Timestamp? {
    guard let text = reply.header("Upload-Expires"), let moment = HTTPDate.read(text, now: now)
    else { return nil }
    let here = ServerClock.moment(of: reply, now: now) ?? now
    let life = moment.milliseconds(since: here)
    return (1...TusReply.maximumLifeMilliseconds).contains(life) ? moment : nil
  }

  /// The part is taken when the server stands exactly at its end; anywhere else only its status
  /// tells what it has.
  private func took(_ part: PartNumber, of plan: PartPlan) -> Verdict {
    switch offset(upTo: plan.byteCount) {
    case .missing: wait(.offsetMoved)
    case .broken: wait(.protocolViolation)
    case .at(plan.offset(of: part) + plan.byteCount(of: part)):
      .statement(.held(PartSet(all: part.index + 1)))
    case .at: wait(.offsetMoved)
    }
  }

  private func stands(_ plan: PartPlan) -> Verdict {
    if let length = reply.header("Upload-Length"), length != "\(plan.byteCount)" {
      return wait(.protocolViolation)
    }
    return switch offset(upTo: plan.byteCount) {
    case .at(let offset): .statement(.status(.at(offset: offset)))
    case .missing, .broken: wait(.protocolViolation)
    }
  }

  /// What proves that the server has our bytes: it says that it checks SHA-256, and took each of
  /// them under one. It states no hash of the whole.
  private var proof: Verdict {
    let isChecked =
      words("Tus-Extension").contains("checksum")
      && words("Tus-Checksum-Algorithm").contains("sha256")
    guard isChecked, let session = upload.session, let hash = upload.hash,
      upload.parts.indices.allSatisfy({ upload.isChecked(PartNumber($0)) })
    else { return blocked(.unproven) }
    return .statement(
      .committed(
        StoredObject(
          remote: RemoteID(session.reference.text), version: nil, hash: hash,
          status: reply.status)))
  }

  // MARK: 4xx and 5xx

  private var refusal: Verdict {
    switch (reply.status, endpoint) {
    case (401, _): .credentialsRejected(status: reply.status)
    case (403, _): blocked(.accessRevoked)
    case (404, .status), (410, .status): .statement(.status(.gone))
    case (404, .delete), (410, .delete): .statement(.sessionDeleted)
    case (404, .part), (410, .part): wait(.sessionUnknown)
    case (404, .commit), (405, .commit), (410, .commit): blocked(.unproven)
    // Somebody's proxy wants a password: the network, not the server, stands in the way.
    case (407, _): wait(.offline)
    case (408, _), (425, _): wait(.interrupted)
    case (409, .part): wait(.offsetMoved)
    case (409, _): wait(.protocolViolation)
    case (413, _): blocked(.tooLarge)
    // Another request for the session, often an older one of ours, has not ended.
    case (423, _): wait(.inProgress)
    case (429, _): wait(.throttled)
    case (460, .part): wait(.digestMismatch)
    default: blocked(.refused)
    }
  }

  private var trouble: Verdict {
    switch (reply.status, endpoint) {
    case (501, .commit): blocked(.unproven)
    case (507, _): wait(.quota)
    case (511, _): wait(.offline)
    default: wait(.serverUnavailable)
    }
  }

  // MARK: What the reply says

  private enum Offset {
    case missing
    case broken
    case at(Int64)
  }

  /// The one `Upload-Offset`, in digits and not beyond the end of the file.
  private func offset(upTo byteCount: Int64) -> Offset {
    let values = reply.headers.filter { $0.name.lowercased() == "upload-offset" }.map(\.value)
    guard let text = values.first else { return .missing }
    guard values.count == 1, !text.isEmpty,
      text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let offset = Int64(text), offset <= byteCount
    else { return .broken }
    return .at(offset)
  }

  /// The words of a list, over all lines of that name.
  private func words(_ name: String) -> [Substring] {
    let wanted = name.lowercased()
    return reply.headers.filter { $0.name.lowercased() == wanted }.map { $0.value.lowercased() }
      .flatMap { $0.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map { $0 } }
  }

  private func wait(_ failure: FailureKind) -> Verdict {
    .wait(
      failure, status: reply.status,
      askedMilliseconds: RetryAfter.milliseconds(of: reply, now: now))
  }

  private func blocked(_ reason: AttentionReason) -> Verdict {
    .blocked(reason, status: reply.status)
  }
}
