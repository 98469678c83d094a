import Foundation
import Testing
import WaybillModel
import WaybillServer

@Suite struct HostileTests {
  // D03, L4: a name is data and nothing else.
  @Test(arguments: ["a\r\nX-Evil: 1.jpg", "nul\0name", "../../etc/passwd", "<b>&\u{202e}gpj.exe"])
  func `a hostile name comes back as it was and harms nothing`(name: String) throws {
    let host = try TestServer()
    let id = try #require(try host.open([1], name: name).text("uploadId"))
    #expect(try host.put(id, 0, [1]).status == 200)
    let photo = try #require(try host.commit(id).text("photoId"))
    let answer = try host.call("GET", "/v1/photos/\(photo)")
    #expect(answer.text("fileName") == name)
    #expect(answer.headers["x-evil"] == nil)
    #expect(host.storedFiles == [id])
  }

  @Test func `a name of ten kilobytes is cut between two characters`() throws {
    let host = try TestServer()
    let id = try #require(
      try host.open([1], name: String(repeating: "é…", count: 2500)).text("uploadId"))
    #expect(try host.put(id, 0, [1]).status == 200)
    let photo = try #require(try host.commit(id).text("photoId"))
    let name = try host.call("GET", "/v1/photos/\(photo)").text("fileName")
    #expect(name?.utf8.count == 1022 || name?.utf8.count == 1024)
  }

  @Test(arguments: ["k\tx", String(repeating: "k", count: 300), "kö"])
  func `a key that is no plain text is refused`(key: String) throws {
    let host = try TestServer()
    #expect(try host.open([1], key: key).slug == "invalid-request")
  }

  @Test(arguments: ["%2e%2e", "..", "u-1%00", "u-1%2fparts", "u-1'--"])
  func `an id with escapes or quotes is unknown`(id: String) throws {
    let host = try TestServer()
    let arguments = ["--path-as-is", "-H", "Authorization: Bearer alice-token"]
    let answer = try Curl(arguments + [host.server.baseURL + "/v1/uploads/\(id)"]).wait()
    #expect(answer.slug == "not-found")
  }

  @Test(arguments: [
    "\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n",
    "PUT /v1/uploads/u/parts/0 HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "PUT /v1/uploads/u/parts/0 HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "POST /v1/uploads HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `a broken request harms nobody`(request: String) throws {
    let host = try TestServer()
    let raw = try RawConnection(port: host.server.port)
    raw.send(request)
    // What the answer is does not matter, only that the next client gets one.
    #expect(try host.status("u-1").status == 404)
  }

  @Test func `twenty slow clients do not block another one`() throws {
    let host = try TestServer()
    let id = try host.session(for: [UInt8](repeating: 1, count: 80))
    let slow = try (0..<20).map { part in
      let raw = try RawConnection(port: host.server.port)
      raw.send(
        "PUT /v1/uploads/\(id)/parts/\(part) HTTP/1.1\r\nHost: x\r\n"
          + "Authorization: Bearer alice-token\r\nContent-Length: 4\r\n"
          + "\(TestServer.digest([1, 1, 1, 1]))\r\nConnection: close\r\n\r\n")
      raw.send([1])
      return raw
    }
    try host.waitForPartBytes(20)
    let photo = try host.upload([9, 8, 7])
    #expect(try host.content(photo) == [9, 8, 7])
    for raw in slow { raw.send([1, 1, 1]) }
    for raw in slow { #expect(Answer(output: raw.receiveAll(), exitCode: 0).status == 200) }
    #expect(try host.status(id).received?.count == 20)
  }
}
