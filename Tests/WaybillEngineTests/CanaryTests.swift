#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer
  import WaybillSystem
  import WaybillTesting

  /// Secrets planted wherever one can come from, looked for in everything we write.
  @Suite(.timeLimit(.minutes(4)))
  struct CanaryTests {
    private let fixture: EngineFixture
    private static let token = Canary(EngineFixture.token)
    private static let folder = Canary("canary-folder-Zq7")
    private static let body = Canary("canary <body> \"Zq7\"/é")
    private static let cookie = Canary("canary-cookie-Zq7")
    private static let location = Canary("canary-location-Zq7")
    private static let problem = Canary("canary-problem-Zq7")
    private static let session = Canary("canary-session-Zq7-0123456789")
    private static let all = [token, folder, body, cookie, location, problem]

    init() throws { fixture = try EngineFixture() }

    @Test(arguments: Canary.Form.allCases)
    func `a canary is found in every form`(form: Canary.Form) {
      let canary = Self.body
      #expect(canary.forms(in: [1, 2] + canary.needle(form) + [3]).contains(form))
      #expect(canary.forms(in: [UInt8]("nothing of the kind".utf8)) == [])
    }

    @Test func `base 64 hides no canary, wherever it begins`() {
      for lead in 0..<9 {
        let hidden = Data([UInt8](repeating: 0xa5, count: lead) + Self.token.text.utf8 + [0x5a, 1])
        let text = [UInt8](hidden.base64EncodedString().utf8)
        #expect(!Self.token.forms(in: text).isEmpty, "behind \(lead)")
      }
    }

    // X07: tokens, paths, cookies, addresses and raw replies never reach a disk.
    @Test func `no secret reaches ledger, log, names of copies, agent, errors or segments`()
      async throws
    {
      let (errors, files) = try await live(named: "picture")
      #expect(errors.count == 5 && !errors.contains("nothing went wrong"))
      let written = files + [("errors", [UInt8](errors.joined(separator: "\n").utf8))]
      for canary in Self.all { #expect(found(canary, in: written) == [], "\(canary.text)") }
    }

    // The same with the secrets in a name, which the log keeps: what finds nothing above finds
    // them here, in the write-ahead log, in the database and in a compressed segment.
    @Test func `what is not kept out is found`() async throws {
      let name = Self.all.map(\.text).joined(separator: "+").replacing("/", with: ":")
      let written = try await live(named: name).files
      for canary in Self.all where !canary.text.contains("/") {
        let places = found(canary, in: written)
        #expect(places.contains { $0.hasPrefix("ledger/ledger.sqlite:") }, "\(canary.text)")
        #expect(places.contains { $0.hasPrefix("ledger/ledger.sqlite-wal:") }, "\(canary.text)")
        #expect(places.contains { $0.hasPrefix("ledger/archive/") }, "\(canary.text)")
      }
    }

    // The URL of a session is its key. The server shows it wherever it can.
    @Test func `the URL of a session is in its own file while it lives, and nowhere afterwards`()
      async throws
    {
      let isBusy = Locked(true)
      let server = try talkativeServer { isBusy.withLock { $0 } }
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let rig = try AgentRig(at: AgentPlace(folder: fixture.folder + "/agent"))
      let transport = try await rig.connect(session: ledger.directory)
      let engine = fixture.engine(ledger, transport: transport, patience: 1500)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", 9000)], to: try server.destination)
      let id = try #require(summary.queued.first?.upload)
      var errors = ["\(try await within { try await engine.run(.drain) }, default: "none")"]
      let before = found(Self.session, in: try written())
      #expect(Set(before.map { $0.prefix { $0 != ":" } }) == ["ledger/sessions/\(id)"])

      isBusy.withLock { $0 = false }
      errors.append("\(try await within { try await engine.run(.drain) }, default: "none")")
      #expect(try await ledger.upload(id).stateWord == .committed)
      _ = try await Archive(ledger: ledger, app: "test").archive(RetentionPolicy(ageSeconds: 0))
      errors.append("\(engine) \(try await ledger.reader.events(EventQuery()))")
      var after = try written()
      await ledger.close()
      errors.append(await text { _ = try await ledger.upload(UploadID(high: 1, low: 1)) })
      await transport.shutDown()
      await rig.stop()
      after += try written() + [("errors", [UInt8](errors.joined(separator: "\n").utf8))]
      #expect(after.contains { $0.place.hasPrefix("ledger/archive/") })
      #expect(found(Self.session, in: after) == [])
    }

    /// A tus server that is busy for a while and says in each refusal where the session is.
    private func talkativeServer(isBusy: @escaping @Sendable () -> Bool) throws -> TusServer {
      var options = TusServer.Options()
      options.secret = Self.session.text
      return try TusServer(options) { request, _ in
        guard request.method == "PATCH", isBusy() else { return nil }
        let body = #"{"type":"about:blank","instance":"\#(request.path)"}"#
        return TusServer.status(
          "503 Busy at \(request.path)", "Location: \(request.path)", "Retry-After: 1",
          "Content-Type: application/problem+json", "Content-Length: \(body.utf8.count + 2)")
          + "\r\n" + body
      }
    }

    // MARK: A life full of secrets

    private typealias Files = [(place: String, bytes: [UInt8])]

    /// Lives through refusals, redirects, pages, an agent and an archive; gives the text of every
    /// error on the way, and every file as it was before and after the ledgers were closed.
    private func live(named name: String) async throws -> (errors: [String], files: Files) {
      let hostile = try hostileServer()
      defer { hostile.stop() }
      let server = try fixture.startServer(faults: "part#1-2:delay=300,commit#1:503")
      defer { server.stop() }
      var errors: [String] = []

      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger, patience: 2000)
      let files = [
        try secretPicture("\(name)-1.jpg", 200_000), try secretPicture("\(name)-2.jpg", 9),
      ]
      let missing = PickedFile(path: [UInt8]("\(fixture.folder)/\(Self.folder.text)/none.jpg".utf8))
      let summary = try await engine.add(files + [missing], to: try Destination(server.baseURL))
      errors += summary.unavailable.map(\.error.description)
      #expect(try await within { try await engine.run(.drain) } == .finished)
      _ = try await Archive(ledger: ledger, app: "test").archive(RetentionPolicy(ageSeconds: 0))
      _ = try await engine.add(
        [try secretPicture("\(name)-3.jpg", 70_000)], to: try Destination(server.baseURL))
      errors.append(
        await text { _ = try await engine.add(files, to: try Destination(hostile.url)) })

      let foreign = try await Ledger.open(directory: fixture.folder + "/hostile")
      let rig = try AgentRig(at: AgentPlace(folder: fixture.folder + "/agent"))
      let transport = try await rig.connect(session: foreign.directory)
      let second = fixture.engine(foreign, transport: transport, patience: 1500)
      _ = try await second.add([files[0]], to: try Destination(hostile.url))
      let ending = try await within { try await second.run(.drain) }
      errors.append("\(ending.map { "\($0)" } ?? "none") \(second)")
      errors.append("\(Secret(Self.token.text)) \(CredentialProvider.accepted)")
      let before = try written()
      await ledger.close()
      await foreign.close()
      errors.append(await text { _ = try await foreign.upload(UploadID(high: 1, low: 1)) })
      await transport.shutDown()
      await rig.stop()
      return (errors, before + (try written()))
    }

    /// Answers with one refusal after the other, each full of secrets.
    private func hostileServer() throws -> NastyServer {
      let secrets = "Set-Cookie: session=\(Self.cookie.text)\r\n"
      let page = "<html>\(Self.body.text)</html>"
      let problem = #"{"type":"x:\#(Self.problem.text)","detail":"\#(Self.problem.text)"}"#
      let session = #"{"uploadId":"s-1","partSize":65536,"partCount":4}"#
      let json = "Content-Type: application/json\r\n"
      return try NastyServer { peer in
        var count = 0
        while let seen = peer.readRequest() {
          guard seen.path != "/v1/uploads" else {
            guard peer.reply("201 Created", session, headers: json) else { return }
            continue
          }
          count += 1
          let isAnswered =
            switch count % 4 {
            case 0:
              peer.reply(
                "307 Moved", "",
                headers: "Location: http://127.0.0.1:9/\(Self.location.text)\r\n\(secrets)")
            case 1:
              peer.reply(
                "503 Busy", problem, headers: json + secrets)
            case 2: peer.reply("200 OK", page, headers: "Content-Type: text/html\r\n\(secrets)")
            default: peer.reply("500 Oops \(Self.problem.text)", page, headers: secrets)
            }
          guard isAnswered else { return }
        }
      }
    }

    private func secretPicture(_ name: String, _ count: Int) throws -> PickedFile {
      let folder = "\(fixture.folder)/pictures/\(Self.folder.text)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      return try fixture.picture("\(Self.folder.text)/\(name)", count)
    }

    private func text(_ work: () async throws -> Void) async -> String {
      do {
        try await work()
        return "nothing went wrong"
      } catch {
        return "\(error)"
      }
    }

    // MARK: Everything we write

    /// Every file of both ledgers and of the agent, with its name; segments decompressed by `lz4`.
    private func written() throws -> Files {
      var files: Files = []
      for folder in ["ledger", "hostile", "agent"] {
        let root = "\(fixture.folder)/\(folder)"
        for case let name as String in try #require(FileManager.default.enumerator(atPath: root)) {
          let path = "\(root)/\(name)"
          files.append(("name of \(folder)/\(name)", [UInt8](name.utf8)))
          guard let data = FileManager.default.contents(atPath: path) else { continue }
          let isPacked = name.hasSuffix(".lz4")
          // A copy holds what a person picked; its name is what we wrote.
          if name.hasPrefix("staged/") { continue }
          files.append(("\(folder)/\(name)", isPacked ? try unpacked(path) : [UInt8](data)))
        }
      }
      return files
    }

    private func unpacked(_ path: String) throws -> [UInt8] {
      let lz4 = Process()
      lz4.executableURL = URL(fileURLWithPath: "/usr/bin/lz4")
      lz4.arguments = ["-dc", path]
      let pipe = Pipe()
      lz4.standardOutput = pipe
      try lz4.run()
      let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
      lz4.waitUntilExit()
      try #require(lz4.terminationStatus == 0)
      return [UInt8](bytes)
    }

    private func found(_ canary: Canary, in files: Files) -> [String] {
      files.flatMap { file in
        canary.forms(in: file.bytes).map { "\(file.place): \($0.rawValue)" }
      }
    }
  }
#endif
