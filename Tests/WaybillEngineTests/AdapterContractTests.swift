import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillTesting

/// What every adapter owes its engine, asked of each of them.
struct AdapterContractTests {
  private static let url = "https://photos.example.org/base"
  private static let now = Timestamp(seconds: 1_800_000_000)

  /// An adapter with its upload, which has an open session.
  private struct Rig {
    let adapter: any TransferAdapter
    let upload: Upload
    let reference: SessionReference

    init(_ kind: AdapterKind, name: FileName = FileName("a.heic")) throws {
      let destination = try Destination(kind.prefix + url)
      let session = try #require(SessionURL("\(url)/s-1"))
      adapter = kind.adapter(for: destination, session: session)
      reference = kind == .parts ? SessionReference("s-1") : session.reference
      upload =
        SampleUpload.opened(session: reference.text, name: name, at: destination.text).upload
    }

    var requests: [(call: String, request: HTTPRequest?)] {
      [("open", adapter.open(upload))]
        + (0..<3).map { ("part \($0)", part($0)) }
        + [
          ("status", adapter.status(upload)), ("commit", adapter.commit(upload)),
          ("delete", adapter.delete(reference)),
        ]
    }

    func part(_ index: Int) -> HTTPRequest? {
      adapter.part(PartNumber(index), of: upload, at: "/staged/x", digest: SampleUpload.hash)
    }
  }

  // MARK: Requests

  @Test(arguments: AdapterKind.allCases)
  func `its requests are the recorded ones`(kind: AdapterKind) throws {
    let text = try Rig(kind).requests.map { call, request in
      "# \(call)\n\(try #require(request).transcript)"
    }
    Golden.check(
      text.joined(separator: "\n"), against: "Tests/Golden/transcripts/\(kind).http")
  }

  @Test(arguments: AdapterKind.allCases)
  func `the same upload gives the same requests`(kind: AdapterKind) throws {
    let first = try Rig(kind).requests.map(\.request)
    #expect(try Rig(kind).requests.map(\.request) == first)
  }

  @Test(arguments: AdapterKind.allCases)
  func `no request carries a credential, and each goes to the destination`(
    kind: AdapterKind
  ) throws {
    for (call, request) in try Rig(kind).requests {
      let request = try #require(request, "\(call)")
      #expect(request.url.hasPrefix(Self.url), "\(call)")
      let names = request.headers.map { $0.name.lowercased() }
      #expect(!names.contains { ["authorization", "cookie"].contains($0) }, "\(call)")
    }
  }

  // D03
  @Test(
    arguments: AdapterKind.allCases,
    [
      FileName(bytes: [UInt8]("a\r\nX-Evil: 1.jpg\"".utf8) + [0xff]), FileName(bytes: []),
      FileName(bytes: [0, 0x0a, 0x80]), FileName("ü,k v;\u{202e}.jpg"),
    ])
  func `a name breaks no line and adds no header`(kind: AdapterKind, name: FileName) throws {
    let plain = try #require(try Rig(kind).adapter.open(Rig(kind).upload))
    let open = try #require(try Rig(kind, name: name).requests.first?.request)
    #expect(open.headers.map(\.name) == plain.headers.map(\.name))
    #expect(open.url == plain.url)
    for header in open.headers {
      #expect(header.value.utf8.allSatisfy { (0x20...0x7e).contains($0) })
    }
  }

  @Test(arguments: AdapterKind.allCases)
  func `nothing is asked that cannot be asked yet`(kind: AdapterKind) throws {
    let rig = try Rig(kind)
    let fresh = Upload(id: SampleUpload.id)
    #expect(rig.adapter.open(fresh) == nil)
    #expect(rig.adapter.open(SampleUpload.staged().upload) == nil)
    #expect(rig.adapter.status(fresh) == nil && rig.adapter.commit(fresh) == nil)
    for index in [-1, 3, Int.max] { #expect(rig.part(index) == nil, "part \(index)") }
  }

  // MARK: Verdicts

  private static let replies: [HTTPReply] = {
    let bodies: [(String, [UInt8])] = [
      ("application/json", []), ("application/json", [UInt8](#"{"received":[0,1,2]}"#.utf8)),
      ("application/json", [UInt8](#"{"state":"open","received":[]}"#.utf8)),
      ("text/html", [UInt8]("<html>".utf8)), ("", [0xff, 0, 0x7b]),
    ]
    let offsets = [nil, "0", "131082", "131083", "-1", "", "9223372036854775808", "1, 1"]
    return (100...599).flatMap { status in
      bodies.flatMap { type, body in
        offsets.map { offset in
          HTTPReply(
            status: status,
            headers: [HTTPHeader("Content-Type", type), HTTPHeader("Tus-Resumable", "1.0.0")]
              + (offset.map { [HTTPHeader("Upload-Offset", $0)] } ?? []),
            body: body)
        }
      }
    }
  }()

  private static func endpoints(_ upload: Upload) -> [ReplyClassifier.Endpoint] {
    guard let plan = upload.session?.plan else { return [] }
    return [
      .open(byteCount: upload.byteCount), .part(PartNumber(0), of: plan),
      .part(PartNumber(2), of: plan), .status(of: plan), .commit, .delete,
    ]
  }

  @Test(arguments: AdapterKind.allCases)
  func `every reply has a verdict, and only a success states progress`(kind: AdapterKind) throws {
    let rig = try Rig(kind)
    for endpoint in Self.endpoints(rig.upload) {
      for reply in Self.replies {
        let verdict = rig.adapter.verdict(
          on: .reply(reply), of: endpoint, for: rig.upload, now: Self.now)
        guard case .statement(let statement) = verdict else { continue }
        let isRefusal = statement == .status(.gone) || statement == .sessionDeleted
        #expect((200...299).contains(reply.status) || isRefusal, "\(reply) \(endpoint)")
      }
    }
  }

  // Nothing of the upload is confirmed, so nothing can be proved of it.
  @Test(arguments: AdapterKind.allCases)
  func `no reply without a hash of ours or a proof commits`(kind: AdapterKind) throws {
    let rig = try Rig(kind)
    for endpoint in Self.endpoints(rig.upload) {
      for reply in Self.replies {
        let verdict = rig.adapter.verdict(
          on: .reply(reply), of: endpoint, for: rig.upload, now: Self.now)
        if case .statement(.committed) = verdict { Issue.record("\(reply) \(endpoint)") }
      }
    }
  }

  @Test(arguments: AdapterKind.allCases)
  func `no reply is no evidence`(kind: AdapterKind) throws {
    let rig = try Rig(kind)
    for endpoint in Self.endpoints(rig.upload) {
      for reason in NoReply.allCases {
        let verdict = rig.adapter.verdict(
          on: .noReply(reason), of: endpoint, for: rig.upload, now: Self.now)
        if case .statement = verdict { Issue.record("\(reason) \(endpoint)") }
      }
    }
  }

  // A network that wants a sign-in answers everything with its page.
  @Test(arguments: AdapterKind.allCases)
  func `a page in the server's place is being offline`(kind: AdapterKind) throws {
    let rig = try Rig(kind)
    let page = HTTPReply(
      status: 200, headers: [HTTPHeader("Content-Type", "text/html")], body: [0x3c])
    for endpoint in Self.endpoints(rig.upload).dropLast() where endpoint != .commit {
      let verdict = rig.adapter.verdict(
        on: .reply(page), of: endpoint, for: rig.upload, now: Self.now)
      #expect(verdict == .wait(.offline, status: 200, askedMilliseconds: nil), "\(endpoint)")
    }
  }
}

extension HTTPRequest {
  /// The request as it would stand on the wire, the body of a part by its place in the file.
  fileprivate var transcript: String {
    var lines = ["\(method.rawValue) \(url)"] + headers.map { "\($0.name): \($0.value)" }
    switch body {
    case .none: break
    case .bytes(let bytes): lines += ["", String(decoding: bytes, as: UTF8.self)]
    case .file(let slice):
      lines += ["", "(\(slice.count) bytes of \(slice.path) from \(slice.offset))"]
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
