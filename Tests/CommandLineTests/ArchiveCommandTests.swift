import Foundation
import Testing
import WaybillModel

@Suite struct ArchiveCommandTests {
  private func pushed(_ count: Int) async throws -> (Rig, [String]) {
    let rig = try Rig()
    for number in 1...count {
      _ = try await rig.run("push", try rig.file("\(number).jpg"), "--to", rig.url)
    }
    return (rig, try await rig.ids())
  }

  @Test func `what ended moves, is still known and can be shown from its first event`()
    async throws
  {
    let (rig, ids) = try await pushed(2)
    #expect(
      try await rig.run("archive").output
        == "nothing to move: no upload ended that long ago, with its copy deleted since\n")
    let before = try await rig.document("show", ids[0])
    let log = try await rig.run("log", "--json").output
    let trial = try await rig.document("archive", "-n", "--older-than", "0s")
    #expect(trial["dry_run"]?.bool == true)
    #expect(trial["uploads"]?.integer == 2)
    #expect(try await rig.run("log", "--json").output == log)
    let moved = try await rig.document("archive", "--older-than", "0s")
    #expect(moved["uploads"]?.integer == 2)
    #expect(moved["events"] == trial["events"])
    #expect(moved["segments"]?.array?.count == 1)
    #expect(try await rig.document("show", ids[0]) == before)
    #expect(try await rig.count("committed") == 2)
    #expect(
      try await rig.run("push", rig.path("1.jpg"), "--to", rig.url).output
        .contains("1 file already uploaded, skipped"))
    #expect(try await rig.run("verify").status == 0)
    #expect(try await rig.run("verify", "--fast").status == 0)
  }

  @Test func `what was moved is not listed any more, and queue and log say where it is`()
    async throws
  {
    let (rig, ids) = try await pushed(2)
    #expect(try await rig.run("queue").errors == "")
    _ = try await rig.run("archive", "--older-than", "0s")
    let told = "waybill: 2 uploads are archived; 'waybill show ID' reads them\n"
    #expect(try await rig.run("queue").errors == "waybill: nothing is in the queue\n" + told)
    _ = try await rig.run("add", try rig.file("new.jpg"), "--to", rig.url)
    let queue = try await rig.run("queue")
    #expect(queue.output.contains("new.jpg") && queue.errors == told)
    for words in [["--open"], ["--json"], ["--jsonl"], ["-q"]] {
      let ended = try await Binary.run(["queue"] + words, environment: rig.environment)
      #expect(ended.status == 0 && ended.errors == "", "\(words)")
    }
    let log = try await rig.run("log", "--upload", ids[0])
    #expect(log.output.contains("upload.committed") && !log.output.contains("upload.exported"))
    #expect(
      log.errors == "waybill: only the end of this upload is in the log;"
        + " 'waybill show \(ids[0])' reads the rest\n")
    #expect(try await rig.run("log").errors == "")
  }

  @Test func `without its segment an upload still says what became of it`() async throws {
    let (rig, ids) = try await pushed(1)
    _ = try await rig.run("archive", "--older-than", "0s")
    try FileManager.default.removeItem(atPath: rig.path("ledger/archive"))
    let shown = try await rig.run("show", ids[0])
    #expect(shown.status == 0)
    #expect(shown.output.contains("committed: available everywhere as p-"))
    #expect(shown.errors.contains("its first events are in archive/"))
    #expect(try await rig.document("show", ids[0])["missing_events"]?.text == "it is not there")
  }

  @Test func `a segment in the place of another is not believed`() async throws {
    let (rig, ids) = try await pushed(1)
    _ = try await rig.run("archive", "--older-than", "0s")
    _ = try await rig.run("push", try rig.file("other.jpg"), "--to", rig.url)
    _ = try await rig.run("archive", "--older-than", "0s")
    let folder = rig.path("ledger/archive") + "/"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    try #require(names.count == 2)
    for (from, to) in [(names[0], "x"), (names[1], names[0]), ("x", names[1])] {
      try FileManager.default.moveItem(atPath: folder + from, toPath: folder + to)
    }
    let shown = try await rig.run("show", ids[0])
    #expect(shown.output.contains("committed: available everywhere as p-"))
    #expect(!shown.output.contains("upload.exported"))
    #expect(shown.errors.contains("it is not the file that was recorded"))
    #expect(try await rig.run("verify").output.contains("segment_damaged"))
  }

  @Test func `a purged upload is new again, and what is not saved is not purged`() async throws {
    let (rig, ids) = try await pushed(2)
    _ = try await rig.run("archive", "--older-than", "0s")
    let refused = try await rig.run("purge", ids[0])
    #expect(refused.status == 2)
    #expect(refused.errors.contains("no terminal to ask at"))
    let purged = try await rig.document("purge", ids[0], "--yes")
    #expect(purged["uploads"]?.integer == 1)
    #expect(try await rig.run("show", ids[0]).errors.contains("nothing is known any more"))
    #expect(try await rig.run("show", ids[1]).status == 0)
    _ = try await rig.run("add", try rig.file("new.jpg"), "--to", rig.url)
    let unsaved = try await rig.run("purge", try #require(try await rig.ids().last), "--yes")
    #expect(unsaved.status == 1)
    #expect(unsaved.errors.contains("has not ended: its bytes may be nowhere else"))
    #expect(try await rig.run("verify").status == 0)
  }

  @Test func `purging all says what is not saved, and leaves nothing`() async throws {
    let (rig, _) = try await pushed(1)
    _ = try await rig.run("add", try rig.file("new.jpg"), "--to", rig.url)
    let trial = try await rig.run("purge", "--all", "-n")
    #expect(
      trial.output == """
        would remove all 2 uploads for good
        1 upload of them is not on the server, and the copies go too. What is known of them is lost.

        """)
    #expect(try await rig.run("purge", "--all", "--yes").status == 0)
    #expect(try await rig.queue().isEmpty)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: rig.path("ledger/staged")).isEmpty)
    for words in [["purge"], ["purge", "--all", "0193"]] {
      #expect(try await Binary.run(words, environment: rig.environment).status == 2)
    }
  }

  @Test func `while a push owns the ledger nothing is moved`() async throws {
    let rig = try Rig(faults: "open*:delay=60000")
    let push = try rig.start("push", try rig.file("a.jpg"), "--to", rig.url)
    try await rig.wait(for: 1, "queued")
    #expect(try await rig.run("archive", "--older-than", "0s").status == 11)
    #expect(try await rig.run("purge", "--all", "--yes").status == 11)
    push.send(SIGINT)
    _ = push.end()
  }

  /// Runs a command that is killed at a system call.
  private func kill(_ rig: Rig, at point: String, _ words: String...) throws {
    let call = point.prefix { $0 != ":" }
    let killed = try Binary.start(
      words, environment: rig.environment,
      through: [
        "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
        "inject=\(call):signal=KILL\(point.drop { $0 != ":" })",
      ])
    try #require(killed.end().status != 0, "never came to that point")
  }

  // D22: killed at many points, the events are in the log, or in the segment and what ended them in
  // the log; the next run finishes.
  @Test(arguments: [
    "pwrite64:when=6", "pwrite64:when=20", "pwrite64:when=30", "pwrite64:when=40",
    "write:when=2", "fsync:when=1", "fsync:when=2", "fdatasync:when=2",
    "fdatasync:when=3", "fdatasync:when=4", "link:when=1", "unlink:when=1", "ftruncate:when=2",
  ])
  func `a kill while events move loses none of them`(point: String) async throws {
    let (rig, ids) = try await pushed(2)
    var before: [JSONValue] = []
    for id in ids { before.append(try await rig.document("show", id)) }
    try kill(rig, at: point, "archive", "--older-than", "0s")
    for depth in [[], ["--fast"]] {
      #expect(try await Binary.run(["verify"] + depth, environment: rig.environment).status == 0)
    }
    #expect(try await rig.run("archive", "--older-than", "0s").status == 0)
    for (id, shown) in zip(ids, before) { #expect(try await rig.document("show", id) == shown) }
    #expect(try await rig.run("verify").status == 0)
    let files = try FileManager.default.contentsOfDirectory(atPath: rig.path("ledger/archive"))
    #expect(files.count == 1)
  }

  @Test(arguments: [
    "pwrite64:when=20", "pwrite64:when=30", "pwrite64:when=40", "write:when=2", "fsync:when=1",
    "fdatasync:when=2", "fdatasync:when=3", "link:when=1", "unlink:when=1",
  ])
  func `a kill while one upload is purged harms no other, and the next run ends it`(
    point: String
  ) async throws {
    let (rig, ids) = try await pushed(2)
    _ = try await rig.run("archive", "--older-than", "0s")
    let neighbour = try await rig.document("show", ids[1])
    try kill(rig, at: point, "purge", ids[0], "--yes")
    #expect(try await rig.run("verify").status == 0)
    #expect(try await rig.document("show", ids[1]) == neighbour)
    #expect(try await rig.run("purge", ids[0], "--yes").status == 0)
    #expect(try await rig.document("show", ids[1]) == neighbour)
    #expect(try await rig.run("show", ids[0]).status == 1)
    #expect(try await rig.run("verify").status == 0)
    let files = try FileManager.default.contentsOfDirectory(atPath: rig.path("ledger/archive"))
    #expect(files.count == 1)
  }
}
