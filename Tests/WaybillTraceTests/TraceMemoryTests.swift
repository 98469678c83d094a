import Foundation
import Testing
import WaybillModel
import WaybillTesting
import WaybillTrace

/// The memory of a process that writes and reads a trace, by the kernel's own high-water mark.
struct TraceMemoryTests {
  private static let variable = "WAYBILL_TRACE_EVENTS"
  private static let mark = "peak: "

  /// Played by a child process only, so that no other test counts.
  @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
  func `a child writes and reads a trace and says its peak`() throws {
    let count = Int(ProcessInfo.processInfo.environment[Self.variable] ?? "") ?? 0
    let temporary = TemporaryLedger()
    let file = try TraceFile(folder: temporary.folder)
    let header = TraceHeader(
      app: "test 1.0", ledgerFormat: 1, first: GlobalPosition(1), last: GlobalPosition(Int64(count))
    )
    let writer = TraceWriter(header: header, to: file.sink)
    for position in 1...Int64(count) {
      let upload = UploadLife(UInt64(position % 100), to: .exported).id
      let event = sample(
        position: position, upload: upload, revision: (position - 1) / 100 + 1, .paused)
      try writer.append(event, chainBefore: position == 1 ? .zero : nil)
    }
    let receipt = try writer.finish()
    let verification = TraceVerification(try TraceInputFile(path: file.temporaryPath).source)
    #expect(verification.isWhole)
    #expect(verification.receipts == [receipt])
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    print(Self.mark + (peak?.filter(\.isNumber) ?? ""))
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
  func `a trace twenty times as long takes no more memory`() throws {
    let short = try peak(events: 3000)
    let long = try peak(events: 60_000)
    // The longer one has 18 MB of lines more; an index entry for a frame is all that may stay.
    #expect(long < short + 2048, "\(short) KiB for 3,000 events, \(long) KiB for 60,000")
  }

  private func peak(events: Int) throws -> Int {
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = [
      "--testing-library", "swift-testing", "--filter", "a child writes and reads a trace",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(
      [Self.variable: String(events)]) { $1 }
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
    let said = lines.first { $0.hasPrefix(Self.mark) }
    let number = said.flatMap { Int($0.dropFirst(Self.mark.count)) }
    return try #require(number, "the child said \(lines.suffix(5))")
  }
}
