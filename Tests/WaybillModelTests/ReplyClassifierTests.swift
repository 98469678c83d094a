import Testing
import WaybillModel

private typealias Sample = ReplySamples

/// Replies that claim success: what they state, and when they state nothing.
@Suite struct ReplyClassifierTests {
  // MARK: Statements

  @Test func `an opened session is an offer`() {
    let offer = SessionOffer(
      session: SessionReference("u-1"), partSize: 65_536, partCount: 3, expires: nil,
      received: PartSet([0, 2]))
    #expect(
      Sample.classify(Sample.json(201, Sample.offerText), Sample.open)
        == .statement(.opened(offer)))
  }

  // C08
  @Test func `an expiry is measured against the Date of the reply`() {
    let body =
      #"{"uploadId":"u","partSize":65536,"partCount":3,"expiresAt":"2027-01-15T09:00:00+00:00"}"#
    let offer = SessionOffer(
      session: SessionReference("u"), partSize: 65_536, partCount: 3,
      expires: Sample.now.adding(milliseconds: 3_600_000))
    let dayAhead = Sample.now.adding(milliseconds: 86_400_000)
    let dated = Sample.json(201, body, headers: [Sample.nowHeader])
    let undated = Sample.json(201, body)
    #expect(Sample.classify(undated, Sample.open) == .statement(.opened(offer)))
    #expect(Sample.classify(dated, Sample.open, now: dayAhead) == .statement(.opened(offer)))
    #expect(
      Sample.classify(undated, Sample.open, now: dayAhead) == Sample.wait(.protocolViolation, 201))
  }

  // D01
  @Test func `an empty file has a session without parts`() {
    let body = #"{"uploadId":"u","partSize":65536,"partCount":0,"received":[]}"#
    let offer = SessionOffer(
      session: SessionReference("u"), partSize: 65_536, partCount: 0, expires: nil)
    let verdict = Sample.classify(Sample.json(201, body), .open(byteCount: 0))
    #expect(verdict == .statement(.opened(offer)))
  }

  // D13
  @Test func `an object the server has already proves nothing without its hash`() {
    let full = Sample.classify(Sample.json(200, Sample.objectText), Sample.open)
    #expect(full == .statement(.alreadyStored(Sample.stored(200))))
    for body in [#"{"photoId":"p-1"}"#, #"{"photoId":"p-1","sha256":null,"version":null}"#] {
      let verdict = Sample.classify(Sample.json(200, body), Sample.open)
      #expect(verdict == Sample.wait(.protocolViolation, 200))
    }
  }

  @Test func `a part is held when the server names it`() {
    let body = #"{"received":[1,0],"partCount":3,"more":{"x":[1]}}"#
    #expect(
      Sample.classify(Sample.json(200, body), Sample.part) == .statement(.held(PartSet([0, 1]))))
    #expect(
      Sample.classify(Sample.json(201, Sample.objectText), Sample.part)
        == .statement(.committed(Sample.stored(201))))
  }

  @Test(
    arguments: [
      (#"{"state":"open","received":[],"partCount":3}"#, .open(received: PartSet())),
      (#"{"state":"open","received":[2]}"#, .open(received: PartSet([2]))),
      (#"{"state":"received","received":[0,1,2],"photoId":null}"#, .received),
      (#"{"state":"received"}"#, .received),
      (
        #"{"state":"committed","photoId":"p-1","sha256":"\#(Sample.hashText)","version":3}"#,
        .committed(Sample.stored(200))
      ),
      // B12: nothing more is sent to a session that has expired.
      (#"{"state":"expired","received":[0]}"#, .gone),
    ] as [(String, ServerStatus)])
  func `a status is the server's account`(body: String, expected: ServerStatus) {
    #expect(
      Sample.classify(Sample.json(200, body), Sample.status) == .statement(.status(expected)))
  }

  @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/json;q=1"])
  func `a commit is stated as JSON in any spelling`(type: String) {
    #expect(
      Sample.classify(Sample.json(200, Sample.objectText, type: type), .commit)
        == .statement(.committed(Sample.stored(200))))
  }

  @Test(arguments: [204, 404, 410])
  func `a session that is given up is deleted`(code: Int) {
    #expect(Sample.classify(Sample.json(code, type: nil), .delete) == .statement(.sessionDeleted))
  }

  // MARK: No evidence

  // C04, N6
  @Test(arguments: [
    Sample.page(200), Sample.json(200, type: nil), Sample.json(200), Sample.json(204, type: nil),
    Sample.json(200, Sample.objectText, type: nil),
    Sample.json(200, Sample.objectText, type: "text/plain"),
    Sample.json(200, Sample.objectText, type: "application/jsonp"),
    Sample.json(200, "<html>"), Sample.json(200, "  \n"), Sample.json(200, "[]"),
    Sample.json(200, "ok"), Sample.json(203, Sample.objectText),
    Sample.json(206, Sample.objectText),
  ])
  func `a page, an empty body or another type proves nothing`(reply: HTTPReply) {
    for endpoint in [Sample.open, Sample.part, Sample.status, .commit] {
      #expect(Sample.classify(reply, endpoint) == Sample.wait(.offline, reply.status))
    }
  }

  // N6
  @Test(
    arguments: [
      (Sample.offerText, 201, Sample.open), (Sample.objectText, 200, .commit),
    ] as [(String, Int, ReplyClassifier.Endpoint)])
  func `a body broken off anywhere proves nothing`(
    whole: String, code: Int, endpoint: ReplyClassifier.Endpoint
  ) {
    for length in 0..<whole.utf8.count {
      let cut = Sample.json(code, String(decoding: whole.utf8.prefix(length), as: UTF8.self))
      #expect(Sample.classify(cut, endpoint) == Sample.wait(.offline, code))
    }
  }

  // C03: a redirect is not followed, so no credential goes along.
  @Test(arguments: [300, 301, 302, 303, 304, 307, 308])
  func `a redirect proves nothing and is not followed`(code: Int) {
    let elsewhere = Sample.page(
      code, headers: [HTTPHeader("Location", "https://elsewhere.example/")])
    for endpoint in Sample.everyCall {
      #expect(Sample.classify(elsewhere, endpoint) == Sample.wait(.offline, code))
    }
  }

  @Test func `a session is not deleted by the page of a portal`() {
    #expect(Sample.classify(Sample.page(200), .delete) == Sample.wait(.offline, 200))
  }

  // B06, N1, N14
  @Test(
    arguments: [
      (.offline, Sample.wait(.offline, nil)), (.refused, Sample.wait(.offline, nil)),
      (.untrusted, Sample.wait(.offline, nil)), (.dropped, Sample.wait(.interrupted, nil)),
      (.timedOut, Sample.wait(.interrupted, nil)),
      (.unreadableFile, Sample.wait(.sourceUnreadable, nil)),
      (.cancelled, Sample.wait(.stopped, nil)), (.unusable, .blocked(.refused, status: nil)),
    ] as [(NoReply, Verdict)])
  func `a missing reply has one meaning for every call`(reason: NoReply, verdict: Verdict) {
    for endpoint in Sample.everyCall {
      let found = ReplyClassifier.classify(.noReply(reason), endpoint: endpoint, now: Sample.now)
      #expect(found == verdict)
    }
  }
}
