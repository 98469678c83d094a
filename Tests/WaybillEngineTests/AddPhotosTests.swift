import Foundation
import Testing
import WaybillEngine
import WaybillLedger
import WaybillModel
import WaybillServer
import WaybillSystem

/// What becomes of the files a person picks.
@Suite struct AddPhotosTests {
  private let fixture: EngineFixture
  private let destination: Destination

  init() throws {
    fixture = try EngineFixture()
    destination = try Destination("http://127.0.0.1:9")
  }

  private func codes(_ summary: AddSummary) -> [StagingError.Code] {
    summary.unavailable.map(\.error.code)
  }

  @Test func `the same bytes under other names are one upload`() async throws {
    let server = try fixture.startServer()
    defer { server.stop() }
    let destination = try Destination(server.baseURL)
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let first = try fixture.picture("a.jpg", 1000)
    let twin = try fixture.picture("b.jpg", 1000)
    // In one batch.
    let summary = try await engine.add([first, twin, first], to: destination)
    #expect(summary.queued.count == 1)
    #expect(summary.alreadyQueued.count == 2)
    let id = try #require(summary.queued.first?.upload)
    #expect(summary.alreadyQueued.allSatisfy { $0.upload == id })
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(fixture.stagedFiles == [])
    // After the commit, by another engine: no byte of it is sent again.
    let sent = server.counts.bodyBytes
    let next = fixture.engine(ledger)
    let again = try await next.add([twin, first], to: destination)
    #expect(again.alreadyUploaded.map(\.upload) == [id, id])
    #expect(try await within { try await next.run(.drain) } == .finished)
    #expect(server.counts.bodyBytes == sent)
    #expect(server.photoCount == 1)
    #expect(fixture.stagedFiles == [])
    await ledger.close()
  }

  @Test func `bytes that were given up are queued anew`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("a.jpg", 1000)
    let first = try await engine.add([file], to: destination)
    let id = try #require(first.queued.first?.upload)
    try await fixture.order(.cancel(.user), id, in: ledger)
    let second = try await engine.add([file], to: destination)
    #expect(second.queued.count == 1)
    #expect(second.queued.first?.upload != id)
    await ledger.close()
  }

  // N2 on our side: a quick double pick.
  @Test func `two additions at once of the same files meet as duplicates`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<20).map { try fixture.picture("\($0).jpg", 10, seed: UInt8($0)) }
    async let one = engine.add(files, to: destination)
    async let two = engine.add(files, to: destination)
    async let three = engine.add(files.reversed(), to: destination)
    let all = try await [one, two, three]
    #expect(all.reduce(0) { $0 + $1.queued.count } == 20)
    #expect(all.reduce(0) { $0 + $1.alreadyQueued.count } == 40)
    #expect(try await ledger.reader.verify().isSound)
    await ledger.close()
  }

  // D11 of the engine: a launch sweeps what nobody needs, not what is being taken in.
  @Test func `a run that begins while files are taken in deletes none of their copies`()
    async throws
  {
    let server = try fixture.startServer()
    defer { server.stop() }
    let destination = try Destination(server.baseURL)
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<30).map { try fixture.picture("\($0).jpg", 200_000, seed: UInt8($0)) }
    let adding = Task { try await engine.add(files, to: destination) }
    while !adding.isCancelled {
      _ = try await within { try await engine.run(.drain) }
      let staged = try await ledger.reader.counts()
      if staged.uploads.values.reduce(0, +) == 30 { break }
    }
    #expect(try await adding.value.queued.count == 30)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(try await ledger.reader.counts()[.committed] == 30)
    #expect(fixture.stagedFiles == [])
    await ledger.close()
  }

  // L3.
  @Test func `what is no readable file is named and the others are taken`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let base = fixture.folder + "/pictures/"
    let good = try fixture.picture("good.jpg", 10)
    mkfifo(base + "pipe", 0o600)
    symlink(base + "good.jpg", base + "link")
    symlink(base + "nowhere", base + "dangling")
    let paths = ["pipe", "link", "dangling", "", "missing.jpg", "good.jpg/x", "nul\u{0}.jpg"]
    var files = paths.map { PickedFile(path: Array((base + $0).utf8)) }
    files.append(PickedFile(path: []))
    files.append(PickedFile(path: Array("/dev/null".utf8)))
    files.append(good)
    let summary = try await engine.add(files, to: destination)
    #expect(summary.queued.count == 1)
    #expect(
      codes(summary) == [
        .notARegularFile, .notARegularFile, .notARegularFile, .notARegularFile, .missing, .missing,
        .missing, .missing, .notARegularFile,
      ])
    for (_, error) in summary.unavailable {
      #expect(!error.description.contains(base))
      #expect(!error.description.contains("\n"))
    }
    #expect(fixture.stagedFiles.count == 1)
    await ledger.close()
  }

  @Test(.enabled(if: geteuid() != 0, "whoever may read everything is refused nothing"))
  func `a file that may not be read is named and the others are taken`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let closed = try fixture.picture("closed.jpg", 10)
    chmod(fixture.folder + "/pictures/closed.jpg", 0)
    let summary = try await engine.add(
      [closed, try fixture.picture("open.jpg", 10, seed: 2)], to: destination)
    #expect(codes(summary) == [.notPermitted])
    #expect(summary.queued.count == 1)
    await ledger.close()
  }

  @Test func `a file that grows while it is read is refused`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("log.jpg", 4_000_000)
    let path = fixture.folder + "/pictures/log.jpg"
    let isOver = Locked(false)
    let begun = Locked(0)
    let grown = Task.detached {
      let descriptor = open(path, O_WRONLY | O_APPEND)
      defer { close(descriptor) }
      let block = [UInt8](repeating: 7, count: 4096)
      for round in 0..<200_000 where !isOver.withLock({ $0 }) {
        begun.withLock { $0 = round }
        _ = write(descriptor, block, block.count)
        usleep(100)
      }
    }
    try await eventually { begun.withLock { $0 } > 2 }
    let summary = try await engine.add([file], to: destination)
    isOver.withLock { $0 = true }
    #expect(codes(summary) == [.changedWhileReading])
    await grown.value
    #expect(fixture.stagedFiles == [])
    await ledger.close()
  }

  // L4, D02, D03, M14.
  @Test func `names are kept byte for byte and twins with other bytes are two uploads`()
    async throws
  {
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let names: [[UInt8]] = [
      Array("🏔️ summit.jpg".utf8), Array("a\nb.jpg".utf8), Array("a\r\nX-Evil: 1.jpg".utf8),
      Array("tab\there.jpg".utf8), Array("-rf".utf8), Array("a%2Fb".utf8), Array("..x".utf8),
      [0x66, 0xff, 0x2e, 0x6a], Array("caf\u{e9}.jpg".utf8), Array("cafe\u{301}.jpg".utf8),
      Array("\u{1b}[31m\u{202e}gpj.exe".utf8), Array(repeating: 0x61, count: 255),
    ]
    var files: [PickedFile] = []
    for (index, name) in names.enumerated() {
      let path = Array((fixture.folder + "/pictures/").utf8) + name
      let descriptor = open((path + [0]).map { CChar(bitPattern: $0) }, O_CREAT | O_WRONLY, 0o600)
      try #require(descriptor >= 0)
      _ = write(descriptor, [UInt8(index)], 1)
      close(descriptor)
      files.append(PickedFile(path: path))
    }
    let summary = try await engine.add(files, to: try Destination(server.baseURL))
    #expect(summary.queued.count == names.count)
    #expect(try await within { try await engine.run(.drain) } == .finished)
    let rows = try await ledger.reader.queue().rows
    #expect(rows.map(\.fileName.bytes) == names)
    #expect(server.photoCount == names.count)
    await ledger.close()
  }

  @Test func `cancelling the caller stops the rest and keeps what is queued`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let files = try (0..<50).map { try fixture.picture("\($0).jpg", 1000, seed: UInt8($0)) }
    let task = Locked<Task<AddSummary, any Error>?>(nil)
    let destination = destination
    task.withLock { task in
      task = Task {
        try await engine.add(files, to: destination) { count in
          if count == 7 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
    }
    let summary = try await task.withLock { $0 }?.value
    #expect(summary?.queued.count == 7)
    #expect(try await ledger.reader.counts()[.queued] == 7)
    #expect(fixture.stagedFiles.count == 7)
    await ledger.close()
  }

  // L1: the copy is ours, the original may go.
  @Test func `an original deleted after it was added still commits`() async throws {
    let server = try fixture.startServer()
    defer { server.stop() }
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("a.jpg", 100_000)
    _ = try await engine.add([file], to: try Destination(server.baseURL))
    unlink(fixture.folder + "/pictures/a.jpg")
    #expect(try await within { try await engine.run(.drain) } == .finished)
    #expect(server.photoCount == 1)
    await ledger.close()
  }

  // F01 in small: nothing in the path of one file grows with those before it.
  @Test func `adding two hundred names of the same few bytes stays quick`() async throws {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    let file = try fixture.picture("a.jpg", 1)
    let files = (0..<200).map { PickedFile(path: file.path, name: FileName("\($0).jpg")) }
    let summary = try await engine.add(files, to: destination)
    #expect(summary.queued.count == 1)
    #expect(summary.alreadyQueued.count == 199)
    let again = Set(summary.alreadyQueued.map(\.upload))
    #expect(again.count == 1)
    await ledger.close()
  }

  @Test func `picks go in their order, then backups with the newest first, urgent before all`()
    async throws
  {
    let ledger = try await fixture.openLedger()
    let engine = fixture.engine(ledger)
    var ids: [String: UploadID] = [:]
    for (name, source) in [
      ("old", ExportSource.backup), ("first", .picker), ("new", .backup), ("second", .file),
      ("urgent", .picker),
    ] {
      let picture = try fixture.picture(name, 1000, seed: UInt8(ids.count))
      let summary = try await engine.add(
        [PickedFile(path: picture.path, source: source)], to: destination,
        priority: name == "urgent" ? .urgent : .normal)
      ids[name] = try #require(summary.queued.first?.upload)
    }
    let order = try await ledger.work(now: SystemClock.now, limit: 10).map(\.id)
    #expect(order == ["urgent", "first", "second", "new", "old"].compactMap { ids[$0] })
    #expect(try await ledger.reader.verify().isSound)
    await ledger.close()
  }
}
