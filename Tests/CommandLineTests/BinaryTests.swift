import Foundation
import Testing
import WaybillModel

@testable import waybill

@Suite struct BinaryTests {
  @Test func `--version names the program and every library`() async throws {
    let ended = try await Binary.run(["--version"])
    let lines = ended.output.split(separator: "\n")
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    #expect(lines.first == "waybill 0.1.0")
    #expect(lines.dropFirst().map { $0.split(separator: " ")[0] }.prefix(2) == ["SQLite", "LZ4"])
    #expect(lines.allSatisfy { $0.split(separator: " ").count == 2 })
  }

  @Test func `--version --json is one document`() async throws {
    let ended = try await Binary.run(["--version", "--json"])
    let document = try JSONValue.read([UInt8](ended.output.utf8.dropLast()))
    #expect(document["waybill"]?.text == "0.1.0")
    #expect(document["libraries"]?["SQLite"]?.text != nil)
  }

  @Test func `bytes that are no UTF-8 come through the real command line`() async throws {
    let ended = try await Binary.run(raw: [[0x68, 0xff, 0x1b, 0x5b, 0x32, 0x4a]])
    #expect(ended.status == 2)
    #expect(
      ended.errors == """
        waybill: there is no command 'h\\xff\\x1b[2J'
          Try 'waybill --help'.

        """)
  }

  @Test func `without a command the help is shown as an error`() async throws {
    let ended = try await Binary.run()
    #expect(ended.status == 2)
    #expect(ended.output == "")
    #expect(ended.errors.hasPrefix("waybill: uploads"))
  }

  @Test func `a reader that goes away is no error and no noise`() async throws {
    let ended = try await Binary.run(["--help"], closesOutput: true)
    #expect(ended == Binary.Ended(status: 0, output: "", errors: ""))
  }

  @Test func `colour is forced, refused and left off a pipe`() async throws {
    let plain = try await Binary.run(["--help"])
    let forced = try await Binary.run(["--help"], environment: ["FORCE_COLOR": "1"])
    let refused = try await Binary.run(
      ["--help"], environment: ["FORCE_COLOR": "1", "NO_COLOR": "1"])
    let dropped = try await Binary.run(
      ["--no-color", "--help"], environment: ["FORCE_COLOR": "1"])
    #expect(!plain.output.contains("\u{1b}"))
    #expect(forced.output.contains("\u{1b}[1mUsage:\u{1b}[0m"))
    #expect(refused.output == plain.output)
    #expect(dropped.output == plain.output)
    #expect(BoardScreen.withoutStyles(forced.output) == plain.output)
  }
}

#if os(Linux)
  @Suite struct FullDiskTests {
    @Test func `a full disk under stdout is an error with its reason`() async throws {
      let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
      let output = Output(Descriptor(number: full.fileDescriptor), flushesLines: false)
      try output.line("buffered")
      let failure = #expect(throws: Failure.self) { try output.flush() }
      #expect(failure?.code == .outputFailed)
      #expect(failure?.exitCode == .error)
      #expect(failure?.message == "cannot write: No space left on device (standard output)")
      try output.flush()
    }
  }
#endif

@Suite struct InterruptTests {
  @Test(.timeLimit(.minutes(1)))
  func `the first interrupt is told and the second ends the program with 130`() async throws {
    await #expect(processExitsWith: .exitCode(130)) {
      let interrupts = try Interrupts.listen()
      kill(getpid(), SIGINT)
      for await _ in interrupts { kill(getpid(), SIGTERM) }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `without a listener the system ends the program`() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      kill(getpid(), SIGTERM)
      for await _ in AsyncStream<Void>.makeStream().stream {}
    }
  }
}
