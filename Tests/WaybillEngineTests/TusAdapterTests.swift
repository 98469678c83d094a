import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel

/// What is special about tus 1.0; what it shares with others is in `AdapterContractTests`.
@Suite struct TusAdapterTests {
  private static let base = "https://files.example.org/up/files"
  private static let sessionURL = SessionURL("https://files.example.org/up/files/7f3a")
  private static let now = Timestamp(seconds: 1_800_000_000)
  private static let text = "tus+\(base)"

  private func adapter() throws -> TusAdapter {
    TusAdapter(destination: try Destination(Self.text), session: Self.sessionURL)
  }

  private func opened() throws -> SampleUpload {
    SampleUpload.opened(
      session: try #require(Self.sessionURL).reference.text, at: Self.text)
  }

  /// An upload with an open session whose parts were all sent and taken, the first one after a
  /// piece of so many bytes.
  private func whole(piece: Int64 = 0) throws -> SampleUpload {
    var sample = try opened()
    for index in 0..<3 {
      let part = PartNumber(index)
      let length: Int64 = index == 2 ? 10 : 65_536
      if index == 0, piece > 0 {
        sample.record(.partConfirmed(PartConfirmed(part: part, byteCount: piece)))
      }
      sample.record(
        .partSent(PartSent(part: part, attempt: 1, byteCount: length)),
        .partConfirmed(PartConfirmed(part: part, byteCount: length)))
    }
    return sample
  }

  private func verdict(
    _ status: Int, _ headers: [(String, String)], _ endpoint: ReplyClassifier.Endpoint,
    of upload: Upload, speaks: Bool = true
  ) throws -> Verdict {
    let version = speaks ? [HTTPHeader("Tus-Resumable", "1.0.0")] : []
    let reply = HTTPReply(
      status: status, headers: version + headers.map { HTTPHeader($0.0, $0.1) })
    return try adapter().verdict(on: .reply(reply), of: endpoint, for: upload, now: Self.now)
  }

  // MARK: Requests

  @Test func `a part begins behind what the server holds of it`() throws {
    var sample = try opened()
    sample.record(.partConfirmed(PartConfirmed(part: PartNumber(0), byteCount: 1000)))
    let request = try #require(
      try adapter().part(
        PartNumber(0), of: sample.upload, at: "/staged/x", digest: SampleUpload.hash))
    #expect(request.headers.contains(HTTPHeader("Upload-Offset", "1000")))
    #expect(request.body == .file(FileSlice(path: "/staged/x", offset: 1000, count: 64_536)))
  }

  @Test func `a session whose URL is another one's is not spoken to`() throws {
    let upload = SampleUpload.opened(session: "other", at: Self.text).upload
    #expect(try adapter().status(upload) == nil)
    #expect(
      try adapter().part(PartNumber(0), of: upload, at: "/x", digest: SampleUpload.hash) == nil)
    #expect(try adapter().delete(SessionReference("other")) == nil)
  }

  @Test func `a URL shows itself to nobody who does not ask for it`() throws {
    let url = try #require(Self.sessionURL)
    var dumped = ""
    dump(url, to: &dumped)
    for text in ["\(url)", String(reflecting: url), dumped] { #expect(!text.contains("7f3a")) }
    #expect(url.reference.text.utf8.count == 32)
    #expect(url.reveal { $0 } == "\(Self.base)/7f3a")
  }

  // MARK: Locations

  @Test(
    arguments: [
      ("/x/1", "https://files.example.org/x/1"), ("1?a=b", "https://files.example.org/up/1?a=b"),
      ("./1", "https://files.example.org/up/1"), ("../1", "https://files.example.org/1"),
      ("../../../1", "https://files.example.org/1"),
      ("/a/./b/../c", "https://files.example.org/a/c"),
      ("?s=1", "https://files.example.org/up/files?s=1"),
      ("//files.example.org/1", "https://files.example.org/1"),
      ("HTTPS://Files.Example.org:443/1", "https://files.example.org/1"),
      ("https://files.example.org?x", "https://files.example.org/?x"),
      ("/a:b", "https://files.example.org/a:b"),
    ])
  func `a location is resolved as a browser would`(location: String, url: String) throws {
    let reply = HTTPReply(status: 201, headers: [HTTPHeader("Location", location)])
    let session = try adapter().sessionURL(openedBy: .reply(reply))
    #expect(session?.reveal { $0 } == url)
  }

  @Test(
    arguments: [
      "http://files.example.org/1", "https://files.example.org:8443/1", "https://evil.example/1",
      "//evil.example/1", "https://files.example.org@evil.example/1",
      "https://files.example.org.evil.example/1", "https:/1", "https:1", "file:///etc/passwd",
      "mailto:x", "", "/a b", "/a\u{0}", "/ü", "/a#b", "\\\\evil.example\\1", "/\\evil.example",
    ])
  func `a location of another origin, or none, is refused`(location: String) throws {
    let reply = HTTPReply(status: 201, headers: [HTTPHeader("Location", location)])
    #expect(try adapter().sessionURL(openedBy: .reply(reply)) == nil)
    let verdict = try verdict(
      201, [("Location", location)], .open(byteCount: 9), of: opened().upload)
    #expect(verdict == .blocked(.refused, status: 201))
  }

  // MARK: Opening

  @Test(
    arguments: [
      (0, 8_388_608, 0), (1, 8_388_608, 1), (20_000_000, 8_388_608, 3),
      (83_886_080_000, 8_388_608, 10_000), (83_886_080_001, 8_454_144, 9923),
    ] as [(Int64, Int64, Int)])
  func `the parts are 8 MiB long, or as long as a long file needs`(
    byteCount: Int64, partSize: Int64, count: Int
  ) throws {
    let verdict = try verdict(
      201, [("Location", "/1")], .open(byteCount: byteCount), of: opened().upload)
    guard case .statement(.opened(let offer)) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(offer.partSize == partSize && offer.partCount == count)
  }

  @Test func `a file beyond all parts is too large`() throws {
    let verdict = try verdict(
      201, [("Location", "/1")], .open(byteCount: .max), of: opened().upload)
    #expect(verdict == .blocked(.tooLarge, status: 201))
  }

  @Test(
    arguments: [
      ("Fri, 15 Jan 2027 09:00:00 GMT", Timestamp(seconds: 1_800_003_600)),
      ("Friday, 15-Jan-27 09:00:00 GMT", Timestamp(seconds: 1_800_003_600)),
      ("Fri, 15 Jan 2010 09:00:00 GMT", nil), ("Fri, 15 Jan 2099 09:00:00 GMT", nil),
      ("soon", nil),
    ] as [(String, Timestamp?)])
  func `a session ends when the server says, if it says anything sensible`(
    text: String, expires: Timestamp?
  ) throws {
    let verdict = try verdict(
      201, [("Location", "/1"), ("Upload-Expires", text)], .open(byteCount: 9),
      of: opened().upload)
    guard case .statement(.opened(let offer)) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(offer.expires == expires)
  }

  // MARK: Offsets

  @Test(
    arguments: [
      ("65536", .statement(.held(PartSet([0])))), ("65535", .wait(.offsetMoved)),
      ("0", .wait(.offsetMoved)), ("65537", .wait(.offsetMoved)), (nil, .wait(.offsetMoved)),
      ("131083", .wait(.protocolViolation)), ("", .wait(.protocolViolation)),
      ("+65536", .wait(.protocolViolation)), ("65536 ", .wait(.protocolViolation)),
    ] as [(String?, Verdict)])
  func `a part is held only when the server stands at its end`(
    offset: String?, expected: Verdict
  ) throws {
    let upload = try opened().upload
    let plan = try #require(upload.session?.plan)
    let verdict = try verdict(
      204, offset.map { [("Upload-Offset", $0)] } ?? [], .part(PartNumber(0), of: plan),
      of: upload)
    #expect(verdict == expected.answering(204))
  }

  @Test func `two offsets are none`() throws {
    let upload = try opened().upload
    let plan = try #require(upload.session?.plan)
    let twice = [("Upload-Offset", "5"), ("upload-offset", "5")]
    #expect(
      try verdict(200, twice, .status(of: plan), of: upload)
        == Verdict.wait(.protocolViolation).answering(200))
  }

  @Test func `the status of a file of another length is not ours`() throws {
    let upload = try opened().upload
    let plan = try #require(upload.session?.plan)
    let headers = [("Upload-Offset", "5"), ("Upload-Length", "131083")]
    #expect(
      try verdict(200, headers, .status(of: plan), of: upload)
        == Verdict.wait(.protocolViolation).answering(200))
  }

  // MARK: Proof

  @Test(
    arguments: [
      ("creation, checksum ,expiration", "md5, SHA256", true), ("checksum", "sha256", true),
      ("checksum", "sha1", false), ("creation", "sha256", false),
      ("checksum-trailer", "sha256", false),
      ("", "", false),
    ])
  func `a server that says that it checks SHA-256 has proved what it took`(
    extensions: String, algorithms: String, isProof: Bool
  ) throws {
    let headers = [("Tus-Extension", extensions), ("Tus-Checksum-Algorithm", algorithms)]
    for speaks in [true, false] {
      let verdict = try verdict(204, headers, .commit, of: whole().upload, speaks: speaks)
      let reference = try #require(Self.sessionURL).reference.text
      let object = StoredObject(
        remote: RemoteID(reference), version: nil, hash: SampleUpload.hash, status: 204)
      #expect(
        verdict
          == (isProof ? .statement(.committed(object)) : .blocked(.unproven, status: 204)))
    }
  }

  @Test func `nothing is proved while a part is missing, or was taken in pieces`() throws {
    let headers = [("Tus-Extension", "checksum"), ("Tus-Checksum-Algorithm", "sha256")]
    for upload in [try opened().upload, try whole(piece: 1000).upload] {
      #expect(
        try verdict(200, headers, .commit, of: upload) == .blocked(.unproven, status: 200))
    }
  }
}

extension Verdict {
  fileprivate static func wait(_ failure: FailureKind) -> Verdict {
    .wait(failure, status: nil, askedMilliseconds: nil)
  }

  /// The verdict on a reply of that status.
  fileprivate func answering(_ status: Int) -> Verdict {
    guard case .wait(let failure, _, let asked) = self else { return self }
    return .wait(failure, status: status, askedMilliseconds: asked)
  }
}
