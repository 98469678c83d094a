#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel

  /// Faults that people met with clients of servers that own the offset, over real sockets.
  @Suite(.timeLimit(.minutes(4)))
  struct TusFieldCaseTests {
    private struct Pushed {
      let upload: Upload
      let events: [RecordedEvent]
      let ending: UploadEngine.Ending?

      func kinds(_ name: String) -> [RecordedEvent] { events.filter { $0.kindName == name } }
    }

    private static let part = Int(TusAdapter.partSizeBytes)
    private let fixture: EngineFixture

    init() throws { fixture = try EngineFixture() }

    private func push(
      _ size: Int, to server: TusServer, haste: Int64 = 1
    ) async throws -> Pushed {
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger, haste: haste)
      let summary = try await engine.add(
        [try fixture.picture("a.jpg", size)], to: try server.destination)
      let id = try #require(summary.queued.first?.upload)
      let ending = try await within { try await engine.run(.drain) }
      let pushed = Pushed(
        upload: try await ledger.upload(id), events: try await fixture.events(ledger, of: id),
        ending: ending)
      let report = try await ledger.reader.verify()
      #expect(report.isSound, "\(report.findings)")
      await ledger.close()
      return pushed
    }

    private func bytes() throws -> [UInt8] {
      [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.folder + "/pictures/a.jpg")))
    }

    private static func refuse(_ line: String) -> String {
      TusServer.status(line, "Content-Length: 0")
    }

    // MARK: An upload without faults

    @Test(arguments: [0, 9000, 2 * part + 77])
    func `every part arrives once, in order and under its digest, and the whole is committed`(
      size: Int
    ) async throws {
      let server = try TusServer()
      defer { server.stop() }
      let pushed = try await push(size, to: server)
      #expect(pushed.ending == .finished)
      #expect(pushed.upload.stateWord == .committed)
      #expect(try server.sessions.map(\.bytes) == [bytes()])
      #expect(
        server.sessions.map(\.metadata) == [
          "filename YS5qcGc=,filetype YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt"
        ])
      let patches = server.requests("PATCH")
      #expect(
        patches.map(\.offset)
          == (0..<(size + Self.part - 1) / Self.part).map { Int64($0 * Self.part) })
      #expect(patches.allSatisfy { $0.headers["upload-checksum"]?.hasPrefix("sha256 ") ?? false })
      #expect(pushed.kinds("part.confirmed").count == patches.count)
      #expect(pushed.kinds("part.failed").isEmpty)
    }

    // MARK: Offsets

    // B01: a stale resume gets 409, and the item is wedged until it is removed by hand.
    @Test func `what a server 4 MiB behind no longer holds is revoked, and resumed there`()
      async throws
    {
      let half = Self.part / 2
      let server = try TusServer { request, session in
        guard request.method == "PATCH", request.number == 2 else { return nil }
        session?.bytes.removeLast(half)
        return nil
      }
      defer { server.stop() }
      let pushed = try await push(Self.part + 5000, to: server)
      #expect(pushed.upload.stateWord == .committed)
      let revoked = pushed.kinds("part.revoked")
      #expect(revoked.map(\.compensates) == [pushed.kinds("part.confirmed").first?.position])
      #expect(revoked.first?.fields.bytes == Int64(half))
      #expect(
        server.requests("PATCH").map(\.offset)
          == [0, Int64(Self.part), Int64(half), Int64(Self.part)])
      #expect(try server.sessions.map(\.bytes) == [bytes()])
      #expect(pushed.upload.parts.allSatisfy { $0.failures == 0 })
    }

    // B02: 409 after many switches between foreground and background.
    @Test func `the loser of a race for one range has not failed, and sends nothing twice`()
      async throws
    {
      let server = try TusServer { request, session in
        guard request.method == "PATCH", request.number == 1 else { return nil }
        // Another request for the range was first.
        session?.bytes = request.body
        return Self.refuse("409 Conflict")
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server)
      #expect(pushed.upload.stateWord == .committed)
      #expect(pushed.upload.parts.map(\.failures) == [0])
      #expect(pushed.kinds("upload.attention_needed").isEmpty)
      #expect(server.requests("PATCH").count == 1)
    }

    @Test func `a session another request holds is waited for`() async throws {
      let server = try TusServer { request, _ in
        request.method == "PATCH" && request.number <= 2 ? Self.refuse("423 Locked") : nil
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server, haste: 20)
      #expect(pushed.upload.stateWord == .committed)
      #expect(pushed.upload.parts.map(\.failures) == [0])
    }

    // B09: a reply without an offset was taken for progress.
    @Test func `a part taken without a word of the offset is no evidence`() async throws {
      let server = try TusServer { request, _ in
        request.method == "PATCH" && request.number == 1
          ? TusServer.status("204 No Content") : nil
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server)
      #expect(pushed.upload.stateWord == .committed)
      #expect(server.requests("PATCH").map(\.offset) == [0, 0])
      // Once for the part, once before the proof.
      #expect(server.requests("HEAD").count == 2)
      #expect(pushed.kinds("part.confirmed").count == 1)
    }

    // B09.
    @Test func `a status without an offset is asked again`() async throws {
      let server = try TusServer { request, _ in
        switch (request.method, request.number) {
        case ("PATCH", 1): Self.refuse("409 Conflict")
        case ("HEAD", 1...2): TusServer.status("200 OK")
        default: nil
        }
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server, haste: 20)
      #expect(pushed.upload.stateWord == .committed)
      #expect(server.requests("HEAD").count == 4)
    }

    // B11: an offset beyond the length; an overflow that crashed.
    @Test(
      arguments: ["9001", "-1", "1e3", "5, 5", "9223372036854775808", "", "0x10", "+5", "5.0"],
      ["HEAD", "PATCH"])
    func `an offset that cannot be ends with a person, never with a trap`(
      offset: String, method: String
    ) async throws {
      let server = try TusServer { request, _ in
        switch request.method {
        case method: TusServer.status("200 OK", "Upload-Offset: \(offset)", "Content-Length: 0")
        case "PATCH": Self.refuse("409 Conflict")
        default: nil
        }
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server, haste: 100)
      #expect(pushed.ending == .finished)
      #expect(pushed.upload.attention?.reason == .protocolViolation)
      #expect(pushed.upload.confirmedBytes == 0)
      #expect(server.requests(method).count == RetryPolicy.maximumAttempts)
    }

    // MARK: Sessions

    // B04: "Gone" for ever. B22: an error of the old session ends the new one.
    @Test(arguments: ["410 Gone", "404 Not Found"])
    func `a session that is gone is closed once, and never asked for again`(
      refusal: String
    ) async throws {
      let server = try TusServer { request, _ in
        request.path.hasSuffix("-1") ? Self.refuse(refusal) : nil
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server)
      #expect(pushed.ending == .finished)
      #expect(pushed.upload.stateWord == .committed)
      #expect(pushed.kinds("session.expired").count == 1)
      #expect(pushed.kinds("session.opened").count == 2)
      #expect(pushed.kinds("upload.attention_needed").isEmpty)
      let paths = server.requests.map(\.path)
      let last = try #require(paths.lastIndex { $0.hasSuffix("-1") })
      #expect(server.requests[last].method == "HEAD")
      #expect(!paths[(last + 1)...].contains { $0.hasSuffix("-1") })
    }

    // B04.
    @Test func `a server that forgets every session is not asked for ever`() async throws {
      let server = try TusServer { request, _ in
        ["PATCH", "HEAD"].contains(request.method) ? Self.refuse("410 Gone") : nil
      }
      defer { server.stop() }
      let pushed = try await push(9000, to: server, haste: 50)
      #expect(pushed.upload.attention?.reason == .serverInconsistent)
      #expect(server.requests("POST").count <= 5)
    }
  }
#endif
