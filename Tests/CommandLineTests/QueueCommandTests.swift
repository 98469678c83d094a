import Foundation
import Testing
import WaybillModel

@Suite struct QueueCommandTests {
  static let hostileNames: [[UInt8]] = [
    [UInt8]("esc\u{1b}[2J\u{1b}[1;1H".utf8), [UInt8]("new\nline".utf8), [UInt8]("tab\tx".utf8),
    [0x72, 0x61, 0x77, 0xff, 0xfe], [UInt8]("bidi\u{202e}gpj.exe".utf8),
    [UInt8](repeating: 0x6e, count: 255), [UInt8]("-rf".utf8), [UInt8]("a%2Fb".utf8),
    [UInt8]("\u{e9}".utf8), [UInt8]("e\u{301}".utf8), [UInt8]("\u{9b}31m".utf8),
    [UInt8]("cr\rover".utf8), [UInt8]("📷.heic".utf8), [UInt8]("quote\"\\".utf8),
  ]

  @Test func `hostile names come back byte for byte and never move the cursor`() async throws {
    let rig = try Rig()
    let paths = try Self.hostileNames.map { try rig.file($0) }
    let push = try await rig.run("push", "--to", rig.url, "--", raw: paths)
    #expect(push.status == 0)
    let rows = try await rig.queue()
    let names = rows.map { row in
      row["name_hex"]?.text ?? row["name"]?.text.map { FileName(bytes: [UInt8]($0.utf8)).hex } ?? ""
    }
    #expect(names == Self.hostileNames.map { FileName(bytes: $0).hex })
    for command in ["queue", "log", "status"] {
      let shown = try await rig.run(command)
      let moves = (push.errors + shown.output).unicodeScalars.filter {
        ($0.properties.generalCategory == .control && $0 != "\n") || $0 == "\u{202e}"
      }
      #expect(moves.isEmpty)
    }
    #expect(try await rig.run("verify").status == 0)
  }

  @Test func `each row has the stable shape`() async throws {
    let rig = try Rig()
    _ = try await rig.run("push", try rig.file("a", bytes: 5), "--to", rig.url)
    _ = try await rig.run("add", try rig.file("b", bytes: 6), "--to", rig.url)
    let rows = try await rig.run("queue", "--jsonl").output.settled.split(separator: "\n")
    let start = #"{"v":1,"type":"upload","upload":"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx","#
    let remote = "p-" + String(repeating: "x", count: 32)
    let ends = [
      #""name":"a","bytes":5,"sent":5,"state":"committed","reason":null,"remote_id":"\#(remote)"}"#,
      #""name":"b","bytes":6,"sent":0,"state":"queued","reason":null,"remote_id":null}"#,
    ]
    #expect(rows.map(String.init) == ends.map { start + $0 })
    let open = try await rig.run("queue", "--open", "--jsonl").output
    #expect(open.split(separator: "\n").count == 1)
  }

  @Test(arguments: [40, 80, 200])
  func `whatever the width, name and state are there`(width: Int) async throws {
    let rig = try Rig()
    _ = try await rig.run(
      "push", try rig.file("a photo with a rather long name.jpg"), "--to", rig.url)
    let shown = try await rig.run("queue", environment: ["COLUMNS": "\(width)"]).output
    try Golden.expect(shown.settled, "cli/queue-\(width).txt")
    #expect(shown.contains("✓ committed"))
    let plain = try await rig.run("queue", "--plain", environment: ["COLUMNS": "\(width)"]).output
    #expect(plain.utf8.allSatisfy { $0 < 0x80 })
  }
}
