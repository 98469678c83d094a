import Foundation
import Testing
import WaybillModel

@Suite struct VerifyCommandTests {
  /// A ledger that has been closed: everything is in the database.
  private func closedLedger(_ rig: Rig) async throws -> URL {
    _ = try await rig.run("push", try rig.file("a.jpg"), "--to", rig.url)
    return rig.folder.appending(path: "ledger/ledger.sqlite")
  }

  private func change(_ file: URL, _ body: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: file)
    body(&bytes)
    try bytes.write(to: file)
  }

  @Test func `a sound ledger has the stable shape`() async throws {
    let rig = try Rig()
    _ = try await closedLedger(rig)
    let head = try await rig.run("log", "--jsonl").output.split(separator: "\n").count
    let verify = try await rig.run("verify", "--json")
    #expect(verify.status == 0)
    let start = #"{"v":1,"type":"verify","ok":true,"events":\#(head),"head":\#(head),"#
    #expect(verify.output.hasPrefix(start + #""archived":0,"findings":[]"#))
    let text = try await rig.run("verify").output
    #expect(
      text == "sound: \(head) events, head \(head); chain, head mark and derived tables agree\n")
  }

  @Test func `a fast look says that it read no event`() async throws {
    let rig = try Rig()
    _ = try await closedLedger(rig)
    let verify = try await rig.run("verify", "--fast", "--json")
    #expect(verify.status == 0)
    #expect(verify.output.hasSuffix(#""finding_count":0,"depth":"fast"}"# + "\n"))
    let text = try await rig.run("verify", "--fast").output
    #expect(text.contains("what the events say was not read"))
  }

  @Test func `a changed event is found and is exit code 13`() async throws {
    let rig = try Rig()
    let file = try await closedLedger(rig)
    try change(file) { bytes in
      while let range = bytes.range(of: Data("a.jpg".utf8)) {
        bytes.replaceSubrange(range, with: Data("b.jpg".utf8))
      }
    }
    let verify = try await rig.run("verify", "--json")
    #expect(verify.status == 13)
    let document = try JSONValue.read([UInt8](verify.output.utf8.dropLast()))
    #expect(document["ok"] == .bool(false))
    #expect(document["findings"]?.array?.isEmpty == false)
    #expect(try await rig.run("queue").status == 0)
  }

  @Test func `a damaged database is exit code 13 and never advises what was just done`()
    async throws
  {
    let rig = try Rig()
    let file = try await closedLedger(rig)
    try change(file) {
      $0.replaceSubrange(4096..., with: Data(repeating: 0x5a, count: $0.count - 4096))
    }
    let verify = try await rig.run("verify")
    #expect(verify.status == 13)
    #expect(!verify.errors.contains("waybill verify"))
    for command in ["status", "push"] {
      let ended = try await rig.run(command)
      #expect(ended.status == 13)
      #expect(ended.errors.split(separator: "\n").count == 2)
    }
  }

  @Test func `a newer ledger is read and not written`() async throws {
    let rig = try Rig()
    let file = try await closedLedger(rig)
    try change(file) { $0[63] = 99 }  // the last byte of user_version in the header
    #expect(try await rig.run("status").status == 0)
    let push = try await rig.run("push")
    #expect(push.status == 12)
    #expect(push.errors.contains("has format 99"))
  }

  @Test func `what is no ledger is never written to`() async throws {
    let rig = try Rig()
    let file = try rig.file("plain")
    let before = try Data(contentsOf: URL(filePath: file))
    for (command, code) in [("status", 10), ("push", 10), ("verify", 10)] {
      let ended = try await rig.run(command, "--ledger", file)
      #expect(ended.status == Int32(code))
    }
    let add = try await rig.run("add", file, "--to", rig.url, "--ledger", file)
    #expect(add.status == 1)
    #expect(add.errors.contains("plain is not a folder"))
    #expect(try Data(contentsOf: URL(filePath: file)) == before)
    let database = try await closedLedger(rig)
    try change(database) { $0.replaceSubrange(68..<72, with: [0, 0, 0, 0]) }  // application_id
    let foreign = try Data(contentsOf: database)
    for command in ["status", "push"] {
      let ended = try await rig.run(command)
      #expect(ended.status == 10)
      #expect(ended.errors.contains("not a Waybill ledger"))
    }
    #expect(try Data(contentsOf: database) == foreign)
  }
}
