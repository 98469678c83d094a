import WaybillModel

/// Calls, replies and verdicts in few words, for the tables of the classifier's tests.
enum ReplySamples {
  /// 2027-01-15T08:00:00Z
  static let now = Timestamp(seconds: 1_800_000_000)
  static let nowHeader = HTTPHeader("Date", "Fri, 15 Jan 2027 08:00:00 GMT")

  /// Two parts of 64 KiB and one of ten bytes.
  static let plan: PartPlan = {
    guard let plan = PartPlan(byteCount: 131_082, partSize: 65_536) else {
      preconditionFailure("the sizes of the sample plan are within bounds")
    }
    return plan
  }()

  static let open = ReplyClassifier.Endpoint.open(byteCount: 131_082)
  static let part = ReplyClassifier.Endpoint.part(PartNumber(1), of: plan)
  static let status = ReplyClassifier.Endpoint.status(of: plan)
  static let everyCall: [ReplyClassifier.Endpoint] = [open, part, status, .commit, .delete]

  static let hashText = String(repeating: "ab", count: 32)
  static let hash = ContentHash([UInt8](repeating: 0xab, count: 32))
  static let offerText =
    #"{"uploadId":"u-1","partSize":65536,"partCount":3,"expiresAt":null,"received":[0,2]}"#
  static let objectText = #"{"photoId":"p-1","sha256":"\#(hashText)","version":3}"#

  static func json(
    _ status: Int, _ body: String = "", type: String? = "application/json",
    headers: [HTTPHeader] = []
  ) -> HTTPReply {
    let typed = type.map { [HTTPHeader("Content-Type", $0)] } ?? []
    return HTTPReply(status: status, headers: typed + headers, body: [UInt8](body.utf8))
  }

  static func page(_ status: Int, headers: [HTTPHeader] = []) -> HTTPReply {
    json(status, "<html>", type: "text/html", headers: headers)
  }

  static func problem(
    _ status: Int, _ type: String, _ rest: String = "",
    mediaType: String = "application/problem+json"
  ) -> HTTPReply {
    json(status, #"{"type":"\#(type)","title":"t"\#(rest)}"#, type: mediaType)
  }

  static func classify(
    _ reply: HTTPReply, _ endpoint: ReplyClassifier.Endpoint, now: Timestamp = now
  ) -> Verdict {
    ReplyClassifier.classify(.reply(reply), endpoint: endpoint, now: now)
  }

  static func wait(_ failure: FailureKind, _ status: Int?, asked: Int64? = nil) -> Verdict {
    .wait(failure, status: status, askedMilliseconds: asked)
  }

  static func stored(
    _ status: Int, version: Int64? = 3, hash: ContentHash? = hash
  ) -> StoredObject {
    StoredObject(remote: RemoteID("p-1"), version: version, hash: hash, status: status)
  }
}
