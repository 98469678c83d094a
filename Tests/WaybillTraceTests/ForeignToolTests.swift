import Foundation
import Testing
import WaybillModel
import WaybillTesting
import WaybillTrace

/// Programs nobody here wrote read our traces.
struct ForeignToolTests {
  let temporary = TemporaryLedger()

  private func shell(_ script: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", "set -euo pipefail; \(script)"]
    process.currentDirectoryURL = URL(fileURLWithPath: temporary.folder)
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let text = String(decoding: output, as: UTF8.self)
    try #require(process.terminationStatus == 0, "\(script): \(text)")
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func put(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(temporary.folder)/\(name)"))
  }

  @Test(arguments: [0, 3, 12])
  func `lz4 and jq count the same events`(level: Int) throws {
    var events = interleaved(uploads: 9, events: 2400)
    var fields = EventFields()
    fields.name = Array(0...255)
    fields.payload = "{\"a\":\"\\u0000\u{2028}\u{1}\"}"
    events.append(
      events[0].moved(
        to: 2401,
        revision: 1 + events.filter { $0.upload == events[0].upload }.map(\.revision.value).max()!,
        fields: fields))
    try put(try pack(events, level: level).bytes, "a.lz4")
    try put(try pack(interleaved(uploads: 2, events: 100)).bytes, "b.lz4")
    _ = try shell("cat a.lz4 b.lz4 > both.lz4; lz4 -t a.lz4; lz4 -t both.lz4")
    #expect(try shell("lz4 -dc a.lz4 | wc -l") == "2403")
    #expect(try shell("lz4 -dc a.lz4 | jq -s length") == "2403")
    #expect(try shell("lz4 -dc both.lz4 | jq -s 'map(select(.position)) | length'") == "2501")
    #expect(try shell("lz4 -dc a.lz4 | jq -s 'map(.position // 0) | add'") == "2883601")
    #expect(
      try shell("lz4 -dc a.lz4 | jq -r 'select(.position == 2401) | .payload' | wc -c") == "19")
  }

  @Test func `what lz4 packs anew is read and told apart`() throws {
    let events = interleaved(uploads: 9, events: 2400)
    try put(try pack(events).bytes, "a.lz4")
    _ = try shell("lz4 -dc a.lz4 | lz4 -9 > b.lz4")
    let reading = Reading(try TraceInputFile(path: "\(temporary.folder)/b.lz4").source)
    #expect(reading.damage == nil)
    #expect(reading.events == events)
    #expect(reading.remarks.map(\.code) == [.missingIndex])
  }

  @Test func `lz4 sees our damage as we do`() throws {
    let packed = try pack(interleaved(uploads: 9, events: 2400))
    try put(Array(packed.bytes[..<(FoundIndex(packed.bytes)!.start - 4)]), "cut.lz4")
    #expect(try shell("! lz4 -t cut.lz4").contains("Unfinished stream"))
  }
}
