import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

/// Traces as files: who may read them, what they replace, what is left after a failure.
struct TraceFileTests {
  let temporary = TemporaryLedger()

  private let name = "segment\(TraceFormat.fileExtension)"
  private var path: String { "\(temporary.folder)/\(name)" }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: temporary.folder).sorted()
  }

  private func write(_ events: [RecordedEvent], to file: TraceFile) throws -> TraceReceipt {
    let header = TraceHeader(
      app: "test 1.0", ledgerFormat: 1, first: events.first?.position, last: events.last?.position)
    let writer = TraceWriter(header: header, to: file.sink)
    for event in events {
      try writer.append(event, chainBefore: event.position.value == 1 ? .zero : nil)
    }
    return try writer.finish()
  }

  @Test func `a published trace is whole, for its owner alone, and alone in its folder`() throws {
    let events = interleaved(uploads: 4, events: 1200)
    let file = try TraceFile(folder: temporary.folder)
    let receipt = try write(events, to: file)
    #expect(try names() == [(file.temporaryPath as NSString).lastPathComponent])
    #expect(TraceVerification(try TraceInputFile(path: file.temporaryPath).source).isWhole)
    try file.publish(as: name)
    #expect(try names() == [name])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(attributes[.size] as? Int == Int(receipt.byteCount))
    let verification = TraceVerification(try TraceInputFile(path: path).source)
    #expect(verification.receipts == [receipt])
    #expect(verification.isWhole)
  }

  @Test func `a name that is taken is left alone`() throws {
    try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
    let file = try TraceFile(folder: temporary.folder)
    _ = try write(interleaved(uploads: 1, events: 3), to: file)
    let error = #expect(throws: TraceError.self) { try file.publish(as: name) }
    #expect(error?.code == .exists)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
  }

  @Test func `a link in the place of the name is not followed`() throws {
    let target = temporary.folder + "/target"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let file = try TraceFile(folder: temporary.folder)
    _ = try write([], to: file)
    #expect(throws: TraceError.self) { try file.publish(as: name) }
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test func `a trace that is not published leaves nothing behind`() throws {
    do {
      let file = try TraceFile(folder: temporary.folder)
      _ = try write(interleaved(uploads: 1, events: 3), to: file)
      #expect(try names().count == 1)
    }
    #expect(try names() == [])
  }

  @Test func `a folder that is not there or not ours is named`() throws {
    func code(_ folder: String) -> TraceError.Code? {
      do throws(TraceError) {
        _ = try TraceFile(folder: folder)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(temporary.folder + "/none") == .notFound)
    #expect(code("/proc") != nil)
    #expect(throws: TraceError.self) { try TraceInputFile(path: path) }
  }

  @Test func `a folder is no trace, and reading one is named`() throws {
    let source = try TraceInputFile(path: temporary.folder).source
    #expect(TraceVerification(source).finding?.code == .inputOutput)
  }

  @Test func `a name as long as names may be is published`() throws {
    let name = String(repeating: "n", count: 255)
    let file = try TraceFile(folder: temporary.folder)
    _ = try write([], to: file)
    try file.publish(as: name)
    #expect(try names() == [name])
  }

  @Test func `a trace is read from a pipe as from a file`() throws {
    let events = interleaved(uploads: 4, events: 3000)
    let packed = try pack(events)
    let pipe = Pipe()
    let feeder = Thread {
      try? pipe.fileHandleForWriting.write(contentsOf: Data(packed.bytes))
      try? pipe.fileHandleForWriting.close()
    }
    feeder.start()
    let reading = Reading(.descriptor(pipe.fileHandleForReading.fileDescriptor))
    #expect(reading.isWhole)
    #expect(reading.events == events)
    #expect(reading.receipts == [packed.receipt])
  }
}
