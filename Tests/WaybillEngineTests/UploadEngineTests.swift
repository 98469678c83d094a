import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

@Suite struct UploadEngineTests {
  @Test func `files of every shape are committed once and their copies let go`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let destination = try Destination(server.baseURL)
    let files = [
      try fixture.picture("empty.jpg", 0), try fixture.picture("small.jpg", 10),
      try fixture.picture("one part.jpg", 65_536), try fixture.picture("and one.jpg", 65_537),
      try fixture.picture("many.jpg", 1_000_000, seed: 9),
    ]
    let summary = try await engine.add(files, to: destination)
    #expect(summary.queued.count == 5)
    #expect(try await engine.run(.drain) == .finished)
    let counts = try await ledger.reader.counts()
    #expect(counts[.committed] == 5)
    #expect(server.photoCount == 5)
    #expect(fixture.stagedFiles == [])
    let report = try await ledger.reader.verify()
    #expect(report.isSound, "\(report.findings)")
    await ledger.close()
  }
}
