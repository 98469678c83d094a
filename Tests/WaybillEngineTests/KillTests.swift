import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer

/// Real processes that end by a real SIGKILL, and real ones whose memory is measured.
@Suite struct KillTests {
  /// Takes the files in and uploads them, in a process of its own.
  private static func push(_ folder: String, _ url: String, _ names: [String]) async throws {
    let ledger = try await Ledger.open(directory: folder + "/ledger")
    let engine = UploadEngine(
      ledger: ledger, transport: CurlTransport(options: .test), credentials: .accepted)
    let files = names.map { PickedFile(path: Array("\(folder)/pictures/\($0)".utf8)) }
    _ = try await engine.add(files, to: try Destination(url))
    _ = try await engine.run(.drain)
    await ledger.close()
  }

  // D1, A13, B08, B17: whatever the moment.
  @Test func `files pushed by processes that are killed are all committed once`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(faults: "part*:delay=3")
    defer { server.stop() }
    let folder = fixture.folder
    let url = server.baseURL
    let names = (0..<12).map { "\($0).jpg" }
    for (index, name) in names.enumerated() {
      _ = try fixture.picture(name, 150_000 + 7 * index, seed: UInt8(index))
    }
    for round in 0..<10 {
      let delay = UInt32.random(in: 5_000...(40_000 + 25_000 * UInt32(round)))
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          folder = folder as String, url = url as String, names = names as [String],
          delay = delay as UInt32
        ] in
        Thread.detachNewThread {
          usleep(delay)
          kill(getpid(), SIGKILL)
        }
        try await KillTests.push(folder, url, names)
        // Ready before its time: the kill comes all the same.
        try await Task.sleep(for: .seconds(30))
      }
    }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = names.map { PickedFile(path: Array("\(folder)/pictures/\($0)".utf8)) }
    _ = try await engine.add(files, to: try Destination(url))
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.reader.counts()[.committed] == 12)
    #expect(try await fixture.count(.uploadCommitted, in: ledger) == 12)
    #expect(server.photoCount == 12)
    #expect(fixture.stagedFiles == [])
    let report = try await ledger.reader.verify()
    #expect(report.isSound, "\(report.findings)")
    await ledger.close()
  }

  // D08, invariant 23.
  @Test func `a large file needs no more memory than a small one`() async throws {
    let fixture = try EngineFixture()
    let server = try fixture.startServer(partSize: 8 << 20)
    defer { server.stop() }
    let folder = fixture.folder
    let url = server.baseURL
    var peaks: [Int] = []
    for (name, size) in [("small.jpg", 1 << 20), ("large.jpg", 256 << 20)] {
      let path = folder + "/pictures/" + name
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      try #require(truncate(path, off_t(size)) == 0)
      await #expect(processExitsWith: .success) {
        [
          folder = folder as String, url = url as String, name = name as String
        ] in
        try await KillTests.push(folder, url, [name])
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
        try line.filter(\.isNumber).write(
          toFile: "\(folder)/peak", atomically: true, encoding: .utf8)
      }
      let peak = try String(contentsOfFile: folder + "/peak", encoding: .utf8)
      peaks.append(try #require(Int(peak)))
    }
    #expect(server.photoCount == 2)
    #expect(peaks[1] - peaks[0] <= 16 * 1024, "peaks in KiB: \(peaks)")
  }
}
