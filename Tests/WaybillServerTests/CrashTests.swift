import Foundation
import Glibc
import Testing
import WaybillModel
import WaybillServer

@Suite struct CrashTests {
  @Test func `a server that was killed knows every part it has acknowledged`() async throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
      let host = try TestServer(directory: directory)
      let photo = try host.upload([9, 9])
      try #require(try host.content(photo) == [9, 9])
      let id = try #require(
        try host.open([1, 2, 3, 4, 5, 6, 7, 8, 9], key: "k").text("uploadId"))
      try #require(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
      try #require(try host.put(id, 2, [9]).status == 200)
      kill(getpid(), SIGKILL)
    }
    let host = try TestServer(directory: directory)
    #expect(host.server.photoCount == 1)
    let again = try host.open([1, 2, 3, 4, 5, 6, 7, 8, 9], key: "k")
    #expect(again.received == [0, 2])
    let id = try #require(again.text("uploadId"))
    #expect(try host.put(id, 1, [5, 6, 7, 8]).status == 200)
    let photo = try #require(try host.commit(id).text("photoId"))
    #expect(try host.content(photo) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
  }

  @Test func `files that no row names are swept at the start`() throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var host: TestServer? = try TestServer(directory: directory)
    _ = try host?.upload([1])
    let kept = host?.storedFiles
    host = nil
    try Data([1]).write(to: URL(filePath: directory + "/files/u-orphan"))
    let next = try TestServer(directory: directory)
    #expect(next.storedFiles == kept)
    #expect(next.server.photoCount == 1)
  }

  @Test func `parts whose file has vanished are no longer claimed`() throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var host: TestServer? = try TestServer(directory: directory)
    let id = try #require(try host?.session(for: [1, 2, 3, 4, 5]))
    #expect(try host?.put(id, 0, [1, 2, 3, 4]).status == 200)
    host = nil
    unlink(directory + "/files/" + id)
    let next = try TestServer(directory: directory)
    #expect(try next.status(id).received == [])
    #expect(try next.put(id, 0, [1, 2, 3, 4]).received == [0])
  }

  @Test func `half a part leaves nothing and the part can be sent again`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4])
    let broken = try RawConnection(port: host.server.port)
    broken.send(
      "PUT /v1/uploads/\(id)/parts/0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n"
        + "Content-Length: 4\r\n\(TestServer.digest([1, 2, 3, 4]))\r\n\r\n")
    broken.send([1, 2])
    try host.waitForPartBytes(2)
    broken.close()
    #expect(try host.status(id).received == [])
    var answer = try host.put(id, 0, [1, 2, 3, 4])
    // The server may see the end of the first connection a moment later.
    for _ in 0..<100 where answer.slug == "part-in-progress" {
      answer = try host.put(id, 0, [1, 2, 3, 4])
    }
    #expect(answer.received == [0])
    #expect(try host.commit(id).status == 200)
  }

  @Test func `two servers cannot share a data directory`() throws {
    let host = try TestServer()
    let error = #expect(throws: ServerError.self) { try TestServer(directory: host.directory) }
    #expect(error?.code == .inUse)
  }

  @Test func `a data directory that others can read is refused`() throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    mkdir(directory, 0o755)
    chmod(directory, 0o755)
    let error = #expect(throws: ServerError.self) { try TestServer(directory: directory) }
    #expect(error?.code == .directory)
  }

  @Test func `a database of a newer server is left alone`() throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    mkdir(directory, 0o700)
    let database = directory + "/server.sqlite"
    let made = Process()
    made.executableURL = URL(filePath: "/usr/bin/sqlite3")
    made.arguments = [database, "PRAGMA user_version = 9"]
    try made.run()
    made.waitUntilExit()
    chmod(database, 0o600)
    let error = #expect(throws: ServerError.self) { try TestServer(directory: directory) }
    #expect(error?.code == .newerFormat)
  }

  @Test func `all files are closed to others`() throws {
    let host = try TestServer()
    _ = try host.upload([1])
    for name in try FileManager.default.subpathsOfDirectory(atPath: host.directory) {
      var facts = stat()
      #expect(lstat(host.directory + "/" + name, &facts) == 0)
      #expect(facts.st_mode & 0o077 == 0, "\(name) is open to others")
    }
  }

  @Test func `stopping ends a rehearsed delay and frees the directory`() throws {
    let directory = TestServer.freshPath()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let host = try TestServer(faults: "status*:delay=600000", directory: directory)
    let waiting = try host.begin("GET", "/v1/uploads/u-1")
    let deadline = ContinuousClock.now + .seconds(10)
    while host.server.counts.requests(.status) < 1, ContinuousClock.now < deadline { sched_yield() }
    host.server.stop()
    #expect(try waiting.wait().status == 0)
    let next = try TestServer(directory: directory)
    #expect(try next.status("u-1").status == 404)
  }
}
