import Testing
import WaybillModel

private typealias Sample = ReplySamples

/// Replies in the server's name that break the protocol: charged, and never a step forward.
@Suite struct ReplyClassifierDefectTests {
  private static let offer = #"{"uploadId":"u","partSize":65536,"partCount":3"#

  // N5
  @Test(arguments: [
    offer + #","partCount":3}"#, offer + #","x":[[[[[[[[1]]]]]]]]}"#, offer + "} {}",
    #"{"uploadId":"","partSize":65536,"partCount":3}"#,
    #"{"uploadId":"../x","partSize":65536,"partCount":3}"#,
    #"{"uploadId":"\#(String(repeating: "u", count: 129))","partSize":65536,"partCount":3}"#,
    #"{"uploadId":7,"partSize":65536,"partCount":3}"#, #"{"partSize":65536,"partCount":3}"#,
    #"{"uploadId":"u","partCount":3}"#, #"{"uploadId":"u","partSize":65536}"#,
    #"{"uploadId":"u","partSize":65535,"partCount":3}"#,
    #"{"uploadId":"u","partSize":67108865,"partCount":1}"#,
    #"{"uploadId":"u","partSize":0,"partCount":3}"#,
    #"{"uploadId":"u","partSize":-65536,"partCount":3}"#,
    #"{"uploadId":"u","partSize":65536.0,"partCount":3}"#,
    #"{"uploadId":"u","partSize":6.5536e4,"partCount":3}"#,
    #"{"uploadId":"u","partSize":9223372036854775808,"partCount":3}"#,
    #"{"uploadId":"u","partSize":65536,"partCount":2}"#,
    #"{"uploadId":"u","partSize":65536,"partCount":4}"#,
    #"{"uploadId":"u","partSize":65536,"partCount":-3}"#,
    offer + #","received":[3]}"#, offer + #","received":[0,0]}"#, offer + #","received":"0-2"}"#,
    offer + #","expiresAt":"2027-01-15T07:59:59Z"}"#,
    offer + #","expiresAt":"2037-02-01T00:00:00Z"}"#,
    offer + #","expiresAt":"soon"}"#, offer + #","expiresAt":1800003600}"#,
  ])
  func `an offer outside the bounds opens nothing`(body: String) {
    #expect(
      Sample.classify(Sample.json(201, body), Sample.open) == Sample.wait(.protocolViolation, 201))
  }

  // B11, N5
  @Test(arguments: [
    "[3]", "[9001]", "[-1]", #"["1"]"#, "[1.0]", "[1e0]", "[5,5]", "[1,1]",
    "[9223372036854775808]", "[0,1,2,0]", "{}", "1", #""""#, "[null]", "[]", "[0,2]", "null",
  ])
  func `a part is not held by numbers that cannot be`(received: String) {
    let reply = Sample.json(200, #"{"received":\#(received)}"#)
    #expect(Sample.classify(reply, Sample.part) == Sample.wait(.protocolViolation, 200))
  }

  @Test(arguments: [
    #"{"received":[1],"partCount":4}"#, #"{"received":[1],"partCount":"3"}"#, "{}",
  ])
  func `a part is not held in another session`(body: String) {
    #expect(
      Sample.classify(Sample.json(200, body), Sample.part) == Sample.wait(.protocolViolation, 200))
  }

  // N5
  @Test(arguments: [
    #"{"state":"open"}"#, #"{"state":"open","received":[3]}"#, #"{"received":[]}"#,
    #"{"state":"received","received":[0,1]}"#, #"{"state":"sleeping","received":[]}"#,
    #"{"state":7}"#, #"{"state":"committed","photoId":"p"}"#, #"{"state":"committed"}"#,
    #"{"state":"committed","photoId":"p","sha256":"\#(Sample.hashText)","received":[9]}"#,
  ])
  func `an account that contradicts itself is none`(body: String) {
    #expect(
      Sample.classify(Sample.json(200, body), Sample.status)
        == Sample.wait(.protocolViolation, 200))
  }

  // N7: without the server's hash nothing is committed.
  @Test(arguments: [
    #"{"photoId":"p-1","version":3}"#, #"{"photoId":"p-1","sha256":null}"#,
    #"{"photoId":"p-1","sha256":"abab"}"#, #"{"photoId":"p-1","sha256":7}"#,
    #"{"sha256":"\#(Sample.hashText)"}"#, #"{"photoId":"p 1","sha256":"\#(Sample.hashText)"}"#,
    #"{"photoId":"p-1","sha256":"\#(Sample.hashText)","version":-1}"#,
    #"{"photoId":"p-1","sha256":"\#(Sample.hashText)","version":"3"}"#, "{}",
  ])
  func `a commit without id and hash binds nothing`(body: String) {
    #expect(
      Sample.classify(Sample.json(200, body), .commit) == Sample.wait(.protocolViolation, 200))
    #expect(
      Sample.classify(Sample.json(201, body), Sample.part) == Sample.wait(.protocolViolation, 201))
  }

  // N6
  @Test func `a reply longer than is kept is not read`() {
    var cut = Sample.json(200, Sample.objectText)
    cut.isTruncated = true
    #expect(Sample.classify(cut, .commit) == Sample.wait(.protocolViolation, 200))
    var padded = Sample.json(200, Sample.objectText)
    padded.body += [UInt8](repeating: 0x20, count: HTTPReply.maximumBodyBytes)
    #expect(Sample.classify(padded, .commit) == Sample.wait(.protocolViolation, 200))
  }

  @Test(arguments: [-1, 0, 100, 103, 199, 600, 999])
  func `a code that is no final status is charged`(code: Int) {
    for endpoint in Sample.everyCall {
      let verdict = Sample.classify(Sample.json(code, Sample.objectText), endpoint)
      #expect(verdict == Sample.wait(.protocolViolation, code))
    }
  }

  @Test(
    arguments: [
      (201, Sample.objectText, Sample.status), (201, Sample.objectText, .commit),
      (200, Sample.offerText, Sample.open), (201, Sample.objectText, Sample.open),
    ] as [(Int, String, ReplyClassifier.Endpoint)])
  func `the words of another call state nothing`(
    code: Int, body: String, endpoint: ReplyClassifier.Endpoint
  ) {
    let verdict = Sample.classify(Sample.json(code, body), endpoint)
    #expect(verdict == Sample.wait(.protocolViolation, code))
  }

  @Test(arguments: [0x00, 0x22, 0x2d, 0x30, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0xff] as [UInt8])
  func `one wrong byte anywhere is read or refused, and never more`(byte: UInt8) {
    let whole = [UInt8](Sample.offerText.utf8)
    for index in whole.indices {
      var changed = Sample.json(201)
      changed.body = whole
      changed.body[index] = byte
      switch Sample.classify(changed, Sample.open) {
      case .statement(.opened(let offer)): #expect(offer.partCount == 3)
      case .wait(.offline, 201, nil), .wait(.protocolViolation, 201, nil): break
      case let other: Issue.record("byte \(byte) at \(index) made \(other)")
      }
    }
  }
}
