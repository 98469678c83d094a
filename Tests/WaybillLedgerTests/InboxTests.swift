import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// Commands that other processes drop: each taken once, whatever else lies there.
struct InboxTests {
  let temporary = TemporaryLedger()
  private var inbox: Inbox { Inbox(ledgerDirectory: temporary.directory) }
  private var folder: String { temporary.directory + "/inbox" }

  private func id(_ number: UInt64) -> EventID {
    EventID(high: 0x0193_7a00_0000_7000, low: 0x8000_0000_0000_0000 | number)
  }

  @Test func `a command is taken exactly once, also when its file comes back`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    try inbox.drop(.pause(life.id), id: id(1))
    let file = "\(folder)/\(id(1)).json"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(try mode(file) == 0o600)
    let taken = try await ledger.takeInbox()
    #expect(taken.map(\.0) == [.pause(life.id)])
    #expect(size(file) == nil)
    try inbox.drop(.resume(life.id), id: id(2))
    try await ledger.takeInbox()
    try bytes.write(to: URL(fileURLWithPath: file))
    try await ledger.takeInbox()
    #expect(try await ledger.upload(life.id).paused == nil)
    #expect(try await ledger.upload(life.id).revision == StreamRevision(5))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    await ledger.close()
  }

  @Test func `commands are taken in the order of their ids, however many`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    for number: UInt64 in 0..<300 {
      try inbox.drop(number.isMultiple(of: 2) ? .pause(life.id) : .resume(life.id), id: id(number))
    }
    var taken = 0
    while case let batch = try await ledger.takeInbox(), !batch.isEmpty { taken += batch.count }
    #expect(taken == 300)
    #expect(try await ledger.upload(life.id).revision == StreamRevision(303))
    await ledger.close()
  }

  @Test func `a refused command is answered and does not stop the next`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1)
    try await life.append(to: ledger)
    let open = UploadLife(2, to: .queued)
    try await open.append(to: ledger)
    try inbox.drop(.cancel(UploadLife(9).id), id: id(1))
    try inbox.drop(.cancel(life.id), id: id(2))
    try inbox.drop(.cancel(open.id), id: id(3))
    let taken = try await ledger.takeInbox()
    #expect(taken.map(\.1) == [.unknownUpload, .ended, nil])
    await ledger.close()
  }

  @Test func `a command is granted while the engine appends to the same upload`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    for number: UInt64 in 0..<100 {
      try inbox.drop(number.isMultiple(of: 2) ? .pause(life.id) : .resume(life.id), id: id(number))
    }
    let noise = Task {
      while !Task.isCancelled {
        let note = Noted(claim: .lateSession)
        try await ledger.append(
          [ProposedEvent(.noted(note), cause: .server)], to: life.id, expecting: .any)
      }
    }
    var taken = 0
    while taken < 100 { taken += try await ledger.takeInbox().count }
    noise.cancel()
    _ = try await noise.value
    #expect(taken == 100)
    await ledger.close()
  }

  @Test func `garbage, huge files, pipes and links do not stop a command`() async throws {
    let ledger = try await temporary.open()
    let life = UploadLife(1, to: .queued)
    try await life.append(to: ledger)
    func put(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    try put("!empty.json", "")
    try put("!text.json", "hello")
    try put("!deep.json", String(repeating: "[", count: 4096))
    try put("!huge.json", String(repeating: " ", count: 10_000_000))
    try put("!other.json", #"{"v":1,"id":"x","command":"cancel","upload":"y"}"#)
    try put("!unfinished.tmp", "x")
    mkfifo(folder + "/!pipe.json", 0o600)
    mkdir(folder + "/!folder.json", 0o700)
    symlink("/dev/zero", folder + "/!link.json")
    symlink(temporary.database, folder + "/!database.json")
    for number in 0..<400 {
      try put("!" + String(format: "%0249d", number) + ".json", "garbage with a long name")
    }
    try inbox.drop(.cancel(life.id), id: id(1))
    let taken = try await ledger.takeInbox()
    #expect(taken.map(\.0) == [.cancel(life.id)])
    #expect(size(folder + "/!text.json.refused") == 5)
    #expect(size(folder + "/!unfinished.tmp") == 1)
    await ledger.close()
    #expect(try await temporary.findings() == [])
  }
}
