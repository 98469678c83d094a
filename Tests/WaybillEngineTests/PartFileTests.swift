#if os(Linux)
  import Foundation
  import Testing
  import WaybillEngine
  import WaybillLedger
  import WaybillModel
  import WaybillServer
  import WaybillSystem

  @Suite struct PartFileTests {
    @Test func `a transport that sends whole files gets one for each part, 32 MiB ahead`()
      async throws
    {
      let fixture = try EngineFixture()
      let server = try fixture.startServer(partSize: 12 << 20)
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let transport = WholeFileTransport(staging: fixture.folder + "/ledger/staged")
      let engine = fixture.engine(ledger, transport: transport)
      let files = [
        try fixture.picture("large.mov", 60 << 20), try fixture.picture("small.jpg", 100, seed: 3),
      ]
      _ = try await engine.add(files, to: try Destination(server.baseURL))
      #expect(try await engine.run(.drain) == .finished)
      #expect(server.photoCount == 2)
      let seen = transport.seen
      #expect(seen.slices.allSatisfy { $0.offset == 0 })
      #expect(seen.slices.filter { $0.path.contains("~") }.count == 5)
      #expect(seen.mostBytes > 0 && seen.mostBytes <= 32 << 20)
      #expect(fixture.stagedFiles == [])
      await ledger.close()
    }

    @Test func `part files of a killed launch are removed, copies are kept`() async throws {
      let fixture = try EngineFixture()
      let server = try fixture.startServer()
      defer { server.stop() }
      let ledger = try await fixture.openLedger()
      let engine = fixture.engine(ledger)
      let summary = try await engine.add(
        [try fixture.picture("one.jpg", 200_000)], to: try Destination("http://127.0.0.1:1"))
      let upload = try #require(summary.queued.first?.upload)
      let orphan = fixture.folder + "/ledger/staged/\(upload)~1"
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: orphan))
      _ = try await engine.run(.drain)
      #expect(fixture.stagedFiles == ["\(upload)"])
      await ledger.close()
    }
  }

  /// libcurl behind the manners of a system-owned session: whole files only.
  private final class WholeFileTransport: Transport {
    struct Seen: Sendable {
      var slices: [FileSlice] = []
      var mostBytes: Int64 = 0
    }

    private let base = CurlTransport(options: .test)
    private let staging: String
    private let record = Locked(Seen())
    let sendsSlices = false
    var events: AsyncStream<TransportEvent> { base.events }
    var seen: Seen { record.withLock { $0 } }

    init(staging: String) { self.staging = staging }

    func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: staging)) ?? []
      let bytes = names.filter { $0.contains("~") }.reduce(Int64(0)) { sum, name in
        var status = stat()
        return sum + (stat("\(staging)/\(name)", &status) == 0 ? Int64(status.st_size) : 0)
      }
      record.withLock { seen in
        if case .file(let slice) = request.body { seen.slices.append(slice) }
        seen.mostBytes = max(seen.mostBytes, bytes)
      }
      await base.start(description, request)
    }

    func call(_ request: HTTPRequest) async -> HTTPOutcome { await base.call(request) }
    func liveTransfers() async -> [TransferDescription] { await base.liveTransfers() }
    func cancel(_ description: TransferDescription) async { await base.cancel(description) }
    func shutDown() async { await base.shutDown() }
  }
#endif
