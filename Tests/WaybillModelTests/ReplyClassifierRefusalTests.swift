import Testing
import WaybillModel

private typealias Sample = ReplySamples

/// Replies that refuse: which may be tried again, which are for a person, which ask for the status.
@Suite struct ReplyClassifierRefusalTests {
  private static let problems = "https://waybill.dev/problems/"

  // B04, B05, B22, N3
  @Test(arguments: [404, 410])
  func `an unknown session is a matter of the status alone`(code: Int) {
    let reply = Sample.page(code)
    #expect(Sample.classify(reply, Sample.open) == .blocked(.refused, status: code))
    #expect(Sample.classify(reply, Sample.status) == .statement(.status(.gone)))
    #expect(Sample.classify(reply, Sample.part) == Sample.wait(.sessionUnknown, code))
    #expect(Sample.classify(reply, .commit) == Sample.wait(.sessionUnknown, code))
  }

  // B13, C10, N8
  @Test(arguments: Sample.everyCall)
  func `a rejected credential blames no upload`(endpoint: ReplyClassifier.Endpoint) {
    #expect(Sample.classify(Sample.page(401), endpoint) == .credentialsRejected(status: 401))
  }

  // N9
  @Test(arguments: Sample.everyCall)
  func `access that was taken away is for a person`(endpoint: ReplyClassifier.Endpoint) {
    #expect(
      Sample.classify(Sample.page(403), endpoint) == .blocked(.accessRevoked, status: 403))
  }

  // C08
  @Test func `a 403 about the clock takes no access away`() {
    let named = Sample.problem(403, "urn:problems:clock-skew")
    #expect(Sample.classify(named, Sample.part) == Sample.wait(.serverUnavailable, 403))
  }

  // C08
  @Test(
    arguments: [
      (-86_400_000, true), (-300_000, true), (-299_000, false), (0, false), (299_000, false),
      (300_000, true), (86_400_000, true),
    ] as [(Int64, Bool)])
  func `a 403 to a clock far off takes no access away`(ahead: Int64, isForgiven: Bool) {
    let reply = Sample.page(403, headers: [Sample.nowHeader])
    let verdict = Sample.classify(
      reply, Sample.open, now: Sample.now.adding(milliseconds: ahead))
    let revoked = Verdict.blocked(.accessRevoked, status: 403)
    #expect(verdict == (isForgiven ? Sample.wait(.serverUnavailable, 403) : revoked))
  }

  // C13, N10
  @Test(
    arguments: [
      (Sample.problem(409, "about:blank", #","currentVersion":7"#), .conflict(currentVersion: 7)),
      (
        Sample.problem(409, "x", #","currentVersion":0"#, mediaType: "application/json"),
        .conflict(currentVersion: 0)
      ),
      (Sample.problem(409, problems + "parts-missing", #","missing":[1]"#), .partsMissing),
      (
        Sample.problem(409, "about:blank", #","currentVersion":-1"#),
        Sample.wait(.protocolViolation, 409)
      ),
      (
        Sample.problem(409, "about:blank", #","currentVersion":"7""#),
        Sample.wait(.protocolViolation, 409)
      ),
      (
        Sample.problem(409, problems + "part-in-progress"),
        Sample.wait(.protocolViolation, 409)
      ),
    ] as [(HTTPReply, Verdict)])
  func `409 on a commit is told apart by its body`(reply: HTTPReply, verdict: Verdict) {
    #expect(Sample.classify(reply, .commit) == verdict)
  }

  // B02, C13
  @Test(
    arguments: [
      (problems + "part-in-progress", Sample.wait(.inProgress, 409)),
      ("https://waybill.dev/problems#part-differs", .blocked(.sourceChanged, status: 409)),
      ("urn:waybill:already-committed", Sample.wait(.sessionUnknown, 409)),
      (problems + "parts-missing", Sample.wait(.protocolViolation, 409)),
      ("", Sample.wait(.protocolViolation, 409)),
    ] as [(String, Verdict)])
  func `409 on a part is told apart by its type`(type: String, verdict: Verdict) {
    let reply = Sample.problem(409, type, #","currentVersion":7"#)
    #expect(Sample.classify(reply, Sample.part) == verdict)
  }

  // C13
  @Test(arguments: Sample.everyCall)
  func `an unknown 409 is charged, so that it ends`(endpoint: ReplyClassifier.Endpoint) {
    #expect(Sample.classify(Sample.page(409), endpoint) == Sample.wait(.protocolViolation, 409))
    #expect(FailureKind.protocolViolation.chargesAttempt)
  }

  // N11, B14
  @Test(arguments: [400, 402, 405, 406, 411, 412, 414, 415, 416, 417, 422, 426, 428, 431, 451, 499])
  func `what no repeat mends is not repeated`(code: Int) {
    for endpoint in Sample.everyCall {
      #expect(
        Sample.classify(Sample.page(code), endpoint) == .blocked(.refused, status: code))
    }
  }

  // N11
  @Test(arguments: Sample.everyCall)
  func `a file that is too large is not sent again`(endpoint: ReplyClassifier.Endpoint) {
    #expect(Sample.classify(Sample.page(413), endpoint) == .blocked(.tooLarge, status: 413))
  }

  @Test(arguments: ["digest-mismatch", "wrong-length"])
  func `bytes damaged on the way are sent again`(word: String) {
    let reply = Sample.problem(400, Self.problems + word)
    #expect(Sample.classify(reply, Sample.part) == Sample.wait(.digestMismatch, 400))
    #expect(Sample.classify(reply, .commit) == .blocked(.refused, status: 400))
  }

  // N7
  @Test func `422 is a wrong hash on a commit only`() {
    let mismatch = Sample.problem(422, Self.problems + "hash-mismatch")
    #expect(Sample.classify(mismatch, .commit) == .blocked(.hashMismatch, status: 422))
    #expect(Sample.classify(mismatch, Sample.part) == .blocked(.refused, status: 422))
    let reused = Sample.problem(422, Self.problems + "idempotency-key-reused")
    #expect(Sample.classify(reused, .commit) == .blocked(.refused, status: 422))
  }

  // MARK: Not now

  private static let pause = [HTTPHeader("Retry-After", "30")]

  // N11, C01, C05, C11
  @Test(
    arguments: [
      (408, .interrupted), (425, .interrupted), (429, .throttled), (500, .serverUnavailable),
      (501, .serverUnavailable), (502, .serverUnavailable), (503, .serverUnavailable),
      (599, .serverUnavailable), (407, .offline), (511, .offline),
    ] as [(Int, FailureKind)])
  func `the call is made again after the pause asked for`(code: Int, failure: FailureKind) {
    for endpoint in Sample.everyCall {
      #expect(Sample.classify(Sample.page(code), endpoint) == Sample.wait(failure, code))
      let asking = Sample.page(code, headers: Self.pause)
      #expect(Sample.classify(asking, endpoint) == Sample.wait(failure, code, asked: 30_000))
    }
  }

  // C07
  @Test(arguments: Sample.everyCall)
  func `a full account charges no attempt`(endpoint: ReplyClassifier.Endpoint) {
    #expect(Sample.classify(Sample.page(507), endpoint) == Sample.wait(.quota, 507))
    #expect(!FailureKind.quota.chargesAttempt)
  }

  // B19, B20
  @Test(arguments: [202, 423, 504])
  func `a slow commit is still under way`(code: Int) {
    #expect(
      Sample.classify(Sample.page(code), .commit)
        == .inProgress(status: code, askedMilliseconds: nil))
    #expect(
      Sample.classify(Sample.page(code, headers: Self.pause), .commit)
        == .inProgress(status: code, askedMilliseconds: 30_000))
    for endpoint in [Sample.open, Sample.part, Sample.status] {
      #expect(
        Sample.classify(Sample.page(code), endpoint)
          == Sample.wait(code == 202 ? .offline : .serverUnavailable, code))
    }
  }

  // C01
  @Test func `the pause is measured against the server's clock`() {
    let busy = Sample.page(
      429,
      headers: [
        HTTPHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        HTTPHeader("Retry-After", "Sunday, 06-Nov-94 08:50:07 GMT"),
      ])
    #expect(Sample.classify(busy, Sample.part) == Sample.wait(.throttled, 429, asked: 30_000))
    let junk = Sample.page(429, headers: [HTTPHeader("Retry-After", "-1")])
    #expect(Sample.classify(junk, Sample.part) == Sample.wait(.throttled, 429))
  }
}
