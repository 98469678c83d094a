import Foundation
import Testing
import WaybillModel

@Suite struct PushCommandTests {
  @Test func `the same files again send nothing and are said to be there`() async throws {
    let rig = try Rig()
    let files = try [rig.file("a.jpg"), rig.file("b.jpg")]
    let first = try await rig.run("push", files[0], files[1], "--to", rig.url)
    #expect(first.status == 0)
    #expect(first.output == "2 files queued\n2 uploads committed\n")
    let second = try await rig.run("push", files[0], files[1], "--to", rig.url)
    #expect(
      second
        == Binary.Ended(
          status: 0,
          output: """
            2 files already uploaded, skipped
            nothing to send; everything is committed, 2.0 kB

            """, errors: ""))
    rig.environment["WAYBILL_LEDGER"] = rig.path("other")
    let other = try await rig.document("push", files[0], "--to", rig.url)
    #expect(other["found_on_server"]?.integer == 1)
    #expect(other["committed"]?.integer == 0)
  }

  @Test func `files that cannot be taken have a line each and the others go on`() async throws {
    let rig = try Rig()
    let files = FileManager.default
    try files.createDirectory(atPath: rig.path("folder"), withIntermediateDirectories: true)
    try files.createSymbolicLink(
      atPath: rig.path("link"), withDestinationPath: try rig.file("good.jpg"))
    _ = try rig.pipe("pipe")
    let names = ["folder", "link", "pipe", "missing", "good.jpg"]
    let push = try await rig.run(
      "push", "--to", rig.url, "--", raw: names.map { [UInt8](rig.path($0).utf8) })
    #expect(push.status == 1)
    let warnings = push.errors.split(separator: "\n").filter { $0.hasPrefix("waybill: warning") }
    #expect(warnings.count == 4)
    for (name, words) in [
      ("folder", "it is a folder; use --recursive"), ("link", "it is a symbolic link"),
      ("pipe", "it is a pipe"), ("missing", "No such file"),
    ] {
      #expect(warnings.contains { $0.contains("/\(name) was not taken: ") && $0.contains(words) })
    }
    #expect(push.output == "1 file queued\n4 files not taken\n1 upload committed\n")
  }

  @Test func `a wrong token leaves the queue as it is, and the right one ends it`() async throws {
    let rig = try Rig()
    let file = try rig.file("a.jpg")
    let wrong = try await rig.run(
      "push", file, "--to", rig.url, environment: ["WAYBILL_TOKEN": "another"])
    #expect(wrong.status == 1)
    #expect(
      wrong.errors.hasSuffix(
        """
        waybill: the server does not accept the credential (\(rig.url))
          What is queued stays. Give a valid token, then run 'waybill push'.

        """))
    #expect(!wrong.errors.contains("another"))
    let status = try await rig.run("status")
    #expect(status.output.contains("everything waits: the server did not accept the credential"))
    #expect(try await rig.run("push").output == "1 upload committed\n")
  }

  @Test func `a server out of reach is named after the patience, and nothing is lost`() async throws
  {
    let rig = try Rig()
    let push = try await rig.run(
      "push", try rig.file("a.jpg"), "--to", "http://127.0.0.1:1", "--patience", "1s")
    #expect(push.status == 1)
    #expect(push.errors.contains("the server cannot be reached (http://127.0.0.1:1)"))
    #expect(try await rig.queue()[0]["reason"]?.text == "offline")
  }

  @Test func `without files and ledger it says how to begin`() async throws {
    let rig = try Rig()
    let push = try await rig.run("push")
    #expect(push.status == 10)
    #expect(
      push.errors == """
        waybill: no file is named, and there is no ledger at \(rig.path("ledger"))
          Name files and --to URL to begin, or the ledger to go on with by --ledger.

        """)
    #expect(try await rig.run("push", try rig.file("a")).status == 2)
  }

  @Test func `a second push is told who owns the ledger`() async throws {
    let rig = try Rig(faults: "open*:delay=60000")
    let first = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    try await rig.wait(for: 1, "queued")
    let second = try await rig.run("push")
    #expect(second.status == 11)
    #expect(second.errors.contains("in use by process \(first.child) (waybill"))
    first.send(SIGTERM)
    #expect(first.end().status == 130)
  }

  @Test func `Ctrl-C ends with 130 and says how to go on, and the next push commits`() async throws
  {
    let rig = try Rig(faults: "part#1:delay=3000")
    let push = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    #expect(push.waitForError("a.jpg: "))
    push.send(SIGINT)
    let ended = push.end()
    #expect(ended.status == 130)
    #expect(ended.output.hasPrefix("1 file queued\n1 upload not committed yet, 0 B of 1.0 kB"))
    #expect(
      ended.errors.hasSuffix(
        "waybill: stopped; what is queued stays, run 'waybill push' to go on\n"))
    #expect(try await rig.run("push").output == "1 upload committed\n")
    #expect(try await rig.run("verify").status == 0)
  }

  @Test
  func `a lost commit reply and a kill leave it verifying, and the next push commits it once`()
    async throws
  {
    let rig = try Rig(faults: "commit#1:drop-reply,commit#2:delay=60000")
    let push = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    try await rig.wait(for: 1, "verifying")
    push.send(SIGKILL)
    #expect(push.end().status == -SIGKILL)
    #expect(try await rig.run("status").output.contains("verifying              1"))
    #expect(try await rig.run("push").output == "1 upload committed\n")
    let log = try await rig.run("log", "--kind", "upload.committed", "--jsonl")
    #expect(log.output.split(separator: "\n").count == 1)
    #expect(try await rig.run("verify").status == 0)
  }

  @Test(arguments: ["part*:html", "open#1:503/retry-after=1", "part#1:forget", "commit#1:lose=0"])
  func `a server that errs is told apart from one that refuses`(fault: String) async throws {
    let rig = try Rig(faults: fault)
    let push = try await rig.run(
      "push", try rig.file("a.jpg"), "--to", rig.url, "--patience", "1s")
    if fault == "part*:html" {
      #expect(push.status == 1)
      #expect(try await rig.count("queued") == 1)
    } else {
      #expect(push.status == 0)
      #expect(push.output == "1 file queued\n1 upload committed\n")
    }
    #expect(try await rig.run("verify").status == 0)
  }
}

@Suite struct TokenFileTests {
  @Test(arguments: [
    ("", "it is empty"), ("\n\n", "holds no token"), ("to\u{7f}ken\n", "holds no token"),
    (String(repeating: "a", count: 9000), "holds no token"),
  ])
  func `a file without a token is refused before anything is queued`(
    text: String, words: String
  ) async throws {
    let rig = try Rig()
    try Data(text.utf8).write(to: rig.folder.appending(path: "token"))
    let push = try await rig.run(
      "push", try rig.file("a"), "--to", rig.url, "--token-file", rig.path("token"))
    #expect(push.status == 1)
    #expect(push.errors.contains(words))
    #expect(push.errors.contains("(\(rig.path("token")))"))
    #expect(!FileManager.default.fileExists(atPath: rig.path("ledger")))
  }

  @Test(arguments: ["", "two words", "a\nb", "\u{e9}"])
  func `a variable without a token is a usage error`(text: String) async throws {
    let rig = try Rig()
    let push = try await rig.run(
      "push", try rig.file("a"), "--to", rig.url, environment: ["WAYBILL_TOKEN": text])
    #expect(push.status == 2)
    #expect(push.errors.contains("WAYBILL_TOKEN"))
  }
}
