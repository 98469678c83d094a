import Testing
import WaybillEngine
import WaybillModel

/// An upload of 131,082 bytes, brought by events to the point where its session is open.
struct SampleUpload {
  static let id = UploadID(high: 1, low: 2)
  static let hash = ContentHash.zero
  static let hashText = String(repeating: "0", count: 64)
  private(set) var upload = Upload(id: id)

  mutating func record(_ events: UploadEvent...) {
    for event in events {
      upload.evolve(
        RecordedEvent(
          position: upload.lastPosition.next, id: EventID(high: 0, low: 0), upload: Self.id,
          revision: upload.revision.next, kindName: event.kind.rawValue, version: event.version,
          time: Timestamp(seconds: 1), causeName: "command", launch: LaunchGeneration(1),
          compensates: nil, observation: nil, fields: event.fields))
    }
  }

  static func staged(name: FileName = FileName("a.heic")) -> SampleUpload {
    var sample = SampleUpload()
    sample.record(
      .exported(
        Exported(file: StagedFileID(id), name: name, byteCount: 131_082, source: .file)),
      .hashed(Hashed(hash: hash)))
    return sample
  }

  static func queued(
    name: FileName = FileName("a.heic"), key: String = "op-1", baseVersion: Int64? = nil,
    at destination: String = "https://photos.example.org"
  ) -> SampleUpload {
    var sample = staged(name: name)
    let intent = Intent(
      destination: destination, operation: IdempotencyKey(key),
      baseVersion: baseVersion)
    sample.record(.queued(Queued(intent: intent)))
    return sample
  }

  static func opened(
    session: String = "u-1", name: FileName = FileName("a.heic"), baseVersion: Int64? = nil,
    at destination: String = "https://photos.example.org"
  ) -> SampleUpload {
    var sample = queued(name: name, baseVersion: baseVersion, at: destination)
    let offer = SessionOffer(
      session: SessionReference(session), partSize: 65_536, partCount: 3, expires: nil)
    sample.record(.sessionOpened(SessionOpened(offer: offer)))
    return sample
  }
}

private func adapter() throws -> PartsAdapter {
  PartsAdapter(destination: try Destination("https://photos.example.org/base/"))
}

private func bytes(of request: HTTPRequest) throws -> [UInt8] {
  var found: [UInt8]?
  if case .bytes(let bytes) = request.body { found = bytes }
  return try #require(found)
}

private func document(_ request: HTTPRequest) throws -> JSONValue {
  try JSONValue.read(bytes(of: request))
}

@Suite struct PartsAdapterTests {
  // MARK: Requests

  @Test func `an opening promises hash, length and name under the key of the operation`() throws {
    let request = try #require(try adapter().open(SampleUpload.queued().upload))
    #expect(request.method == .post)
    #expect(request.url == "https://photos.example.org/base/v1/uploads")
    #expect(
      request.headers == [
        HTTPHeader("Content-Type", "application/json"), HTTPHeader("Idempotency-Key", "op-1"),
      ])
    #expect(
      try document(request)
        == .object([
          .init("sha256", .text(SampleUpload.hashText)), .init("byteCount", .integer(131_082)),
          .init("fileName", .text("a.heic")), .init("commit", .text("explicit")),
        ]))
  }

  // B08, N1
  @Test func `every opening of an upload is the same request`() throws {
    let upload = SampleUpload.queued().upload
    #expect(try adapter().open(upload) == adapter().open(upload))
  }

  // D03
  @Test func `a name never becomes a header`() throws {
    let name = FileName(bytes: [UInt8]("a\r\nX-Evil: 1.jpg\"".utf8) + [0xff])
    let request = try #require(try adapter().open(SampleUpload.queued(name: name).upload))
    #expect(request.headers.allSatisfy { !$0.value.contains("Evil") })
    #expect(try document(request)["fileName"] == .text("a\r\nX-Evil: 1.jpg\"\u{fffd}"))
    #expect(try bytes(of: request).allSatisfy { $0 >= 0x20 })
  }

  @Test func `nothing is opened before the intent is durable`() throws {
    #expect(try adapter().open(SampleUpload.staged().upload) == nil)
    #expect(try adapter().open(Upload(id: SampleUpload.id)) == nil)
  }

  @Test(
    arguments: [(0, 0, 65_536), (1, 65_536, 65_536), (2, 131_072, 10)] as [(Int, Int64, Int64)])
  func `a part carries its slice and its digest`(index: Int, offset: Int64, count: Int64) throws {
    let request = try #require(
      try adapter().part(
        PartNumber(index), of: SampleUpload.opened().upload, at: "/staged/x",
        digest: SampleUpload.hash))
    #expect(request.method == .put)
    #expect(request.url == "https://photos.example.org/base/v1/uploads/u-1/parts/\(index)")
    let digest = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
    #expect(
      request.headers == [
        HTTPHeader("Content-Type", "application/octet-stream"),
        HTTPHeader("Content-Digest", digest),
      ])
    #expect(request.body == .file(FileSlice(path: "/staged/x", offset: offset, count: count)))
  }

  @Test(arguments: [-1, 3, Int.max])
  func `a part outside the plan is not sent`(index: Int) throws {
    let request = try adapter().part(
      PartNumber(index), of: SampleUpload.opened().upload, at: "/x", digest: SampleUpload.hash)
    #expect(request == nil)
  }

  @Test func `without a session there is no part, status or commit`() throws {
    let upload = SampleUpload.queued().upload
    let adapter = try adapter()
    #expect(adapter.part(PartNumber(0), of: upload, at: "/x", digest: SampleUpload.hash) == nil)
    #expect(adapter.status(upload) == nil)
    #expect(adapter.commit(upload) == nil)
  }

  @Test func `status and deletion carry nothing`() throws {
    let session = "https://photos.example.org/base/v1/uploads/u-1"
    let status = try adapter().status(SampleUpload.opened().upload)
    #expect(status == HTTPRequest(method: .get, url: session))
    let deletion = try adapter().delete(SessionReference("u-1"))
    #expect(deletion == HTTPRequest(method: .delete, url: session))
  }

  // N2, N10
  @Test(arguments: [(nil, "{}"), (4, #"{"baseVersion":4}"#)] as [(Int64?, String)])
  func `a commit carries the key and the version it builds on`(
    version: Int64?, body: String
  ) throws {
    let request = try #require(
      try adapter().commit(SampleUpload.opened(baseVersion: version).upload))
    #expect(request.method == .post)
    #expect(request.url == "https://photos.example.org/base/v1/uploads/u-1/commit")
    #expect(
      request.headers == [
        HTTPHeader("Content-Type", "application/json"), HTTPHeader("Idempotency-Key", "op-1"),
      ])
    #expect(request.body == .bytes([UInt8](body.utf8)))
  }

  @Test func `names from a damaged ledger stay in their place`() throws {
    let status = try adapter().status(SampleUpload.opened(session: "../x?y\n").upload)
    #expect(status?.url == "https://photos.example.org/base/v1/uploads/%2E%2E%2Fx%3Fy%0A")
    let open = try adapter().open(SampleUpload.queued(key: "a\r\nX: 1").upload)
    #expect(open?.headers.last == HTTPHeader("Idempotency-Key", "a%0D%0AX%3A%201"))
  }

  // MARK: Claims

  private static let transfer = TransferDescription(
    upload: SampleUpload.id, part: PartNumber(1), attempt: 2, launch: LaunchGeneration(3))
  private static let now = Timestamp(seconds: 1_800_000_000)
  private static let pace = Pace(setbacks: 3, now: now, random: 1234)
  private static let object = StoredObject(
    remote: RemoteID("p"), version: 1, hash: SampleUpload.hash, status: 200)

  private func failed(
    _ failure: FailureKind, _ status: Int?, after milliseconds: Int64?
  ) -> UploadObservation {
    .partFailed(
      Self.transfer, failure, status: status,
      notBefore: milliseconds.map { Self.now.adding(milliseconds: $0) })
  }

  private func claims(_ verdict: Verdict) -> [UploadObservation] {
    verdict.observations(on: Self.transfer, pace: Self.pace)
  }

  @Test func `a part that is held or completes the photo is a claim of its own`() {
    let held = PartSet([1])
    #expect(
      claims(.statement(.held(held))) == [.partHeld(Self.transfer, received: held)])
    #expect(claims(.statement(.committed(Self.object))) == [.committed(Self.object)])
  }

  @Test func `a failed part waits by the policy or as the server asked`() {
    #expect(
      claims(.wait(.interrupted, status: nil, askedMilliseconds: nil))
        == [failed(.interrupted, nil, after: 1235)])
    #expect(
      claims(.wait(.throttled, status: 429, askedMilliseconds: 30_000))
        == [failed(.throttled, 429, after: 30_000)])
    #expect(
      claims(.wait(.throttled, status: 429, askedMilliseconds: 0))
        == [failed(.throttled, 429, after: 1000)])
  }

  // C07
  @Test func `a full account is asked slowly`() {
    #expect(
      claims(.wait(.quota, status: 507, askedMilliseconds: nil))
        == [failed(.quota, 507, after: RetryPolicy.quotaMilliseconds)])
  }

  // C10, B13
  @Test func `a rejected credential ends the attempt and charges none`() {
    #expect(
      claims(.credentialsRejected(status: 401)) == [failed(.credentials, 401, after: nil)])
    #expect(!FailureKind.credentials.chargesAttempt)
  }

  @Test func `a part we stopped is not scheduled`() {
    #expect(
      claims(.wait(.stopped, status: nil, askedMilliseconds: nil))
        == [failed(.stopped, nil, after: nil)])
  }

  // N11: with the attempt ended, a retry may send the part again.
  @Test func `a blocked part leaves nothing in flight`() throws {
    var sample = SampleUpload.opened()
    sample.record(.partSent(PartSent(part: PartNumber(1), attempt: 1, byteCount: 65_536)))
    let flight = try #require(sample.upload.flights.first)
    let verdict = Verdict.blocked(.tooLarge, status: 413)
    let claims = verdict.observations(on: flight, pace: Self.pace)
    for claim in claims {
      for proposed in sample.upload.decide(claim) { sample.record(proposed.event) }
    }
    #expect(sample.upload.attention?.reason == .tooLarge)
    #expect(sample.upload.flights.isEmpty)
  }

  @Test(
    arguments: [
      .statement(.sessionDeleted), .conflict(currentVersion: 1), .partsMissing,
      .inProgress(status: 202, askedMilliseconds: 5),
    ] as [Verdict])
  func `an answer to another call fails the part`(verdict: Verdict) {
    #expect(claims(verdict) == [failed(.protocolViolation, nil, after: 1235)])
  }

  @Test(
    arguments: [
      (.statement(.alreadyStored(object)), .alreadyStored(object)),
      (.statement(.committed(object)), .committed(object)),
      (.conflict(currentVersion: 7), .conflicted(currentVersion: 7)),
      (.blocked(.refused, status: 404), .blocked(.refused, status: 404)),
      (.statement(.status(.received)), nil), (.statement(.sessionDeleted), nil),
      (.wait(.offline, status: nil, askedMilliseconds: nil), nil),
      (.wait(.offline, status: 200, askedMilliseconds: nil), nil),
      (.wait(.stopped, status: nil, askedMilliseconds: nil), nil),
      (.credentialsRejected(status: 401), nil), (.partsMissing, nil),
    ] as [(Verdict, UploadObservation?)])
  func `a call claims what the server stated and nothing else`(
    verdict: Verdict, claim: UploadObservation?
  ) {
    #expect(verdict.observation(on: .commit, pace: Self.pace) == claim)
  }

  @Test(
    arguments: [
      (
        .wait(.serverUnavailable, status: 503, askedMilliseconds: nil), .serverUnavailable, 503,
        1235
      ),
      (.wait(.throttled, status: 429, askedMilliseconds: 90_000), .throttled, 429, 90_000),
      (.wait(.quota, status: 507, askedMilliseconds: nil), .quota, 507, 600_000),
      (.wait(.interrupted, status: nil, askedMilliseconds: nil), .interrupted, nil, 1235),
      (.inProgress(status: 504, askedMilliseconds: nil), .inProgress, 504, 8000),
    ] as [(Verdict, FailureKind, Int?, Int64)])
  func `a call that came to nothing claims until when it is put off`(
    verdict: Verdict, failure: FailureKind, status: Int?, milliseconds: Int64
  ) {
    #expect(
      verdict.observation(on: .commit, pace: Self.pace)
        == .delayed(
          .commit, failure, status: status, until: Self.now.adding(milliseconds: milliseconds)))
  }

  @Test func `only a status is an account of the session`() {
    #expect(Verdict.statement(.status(.gone)).serverStatus == .gone)
    #expect(Verdict.statement(.committed(Self.object)).serverStatus == nil)
    #expect(Verdict.wait(.offline, status: nil, askedMilliseconds: nil).serverStatus == nil)
  }

  // B19
  @Test(
    arguments: [
      (.inProgress(status: 423, askedMilliseconds: nil), 8 * RetryPolicy.pollMilliseconds),
      (.inProgress(status: 423, askedMilliseconds: 7000), 7000),
      (.wait(.serverUnavailable, status: 503, askedMilliseconds: Int64.max), 3_600_000),
      (.wait(.offline, status: nil, askedMilliseconds: nil), 1235),
      (.partsMissing, nil), (.conflict(currentVersion: 1), nil),
      (.blocked(.refused, status: 400), nil), (.credentialsRejected(status: 401), nil),
      (.statement(.sessionDeleted), nil),
    ] as [(Verdict, Int64?)])
  func `the next attempt is scheduled only where one follows by itself`(
    verdict: Verdict, milliseconds: Int64?
  ) {
    let next = verdict.nextAttempt(pace: Self.pace)
    #expect(next?.milliseconds(since: Self.now) == milliseconds)
  }
}
