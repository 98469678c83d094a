import Foundation
import Glibc
import Testing
import WaybillModel
import WaybillServer

@Suite struct AccountTests {
  @Test func `another account's upload and photo look exactly like unknown ones`() throws {
    let host = try TestServer()
    let photo = try host.upload([1, 2])
    let id = try host.session(for: [3])
    let bob = "bob-token"
    let pairs = [
      (try host.status(id, token: bob), try host.status("u-unknown", token: bob)),
      (try host.commit(id, token: bob), try host.commit("u-unknown", token: bob)),
      (try host.put(id, 0, [3], token: bob), try host.put("u-unknown", 0, [3], token: bob)),
      (
        try host.call("GET", "/v1/photos/\(photo)", token: bob),
        try host.call("GET", "/v1/photos/p-unknown", token: bob)
      ),
      (
        try host.call("GET", "/v1/photos/\(photo)/content", token: bob),
        try host.call("GET", "/v1/photos/p-unknown/content", token: bob)
      ),
      (
        try host.call("DELETE", "/v1/uploads/\(id)", token: bob),
        try host.call("DELETE", "/v1/uploads/u-unknown", token: bob)
      ),
    ]
    for (foreign, unknown) in pairs {
      #expect(foreign.status == unknown.status)
      #expect(foreign.body == unknown.body)
      #expect(foreign.headers.keys.sorted() == unknown.headers.keys.sorted())
    }
    #expect(try host.status(id).status == 200)
  }

  @Test func `a hash is found only in its own account`() throws {
    let host = try TestServer()
    _ = try host.upload([1, 2])
    let stored = try host.open([1, 2], token: "bob-token")
    let new = try host.open([2, 1], token: "bob-token")
    #expect(stored.status == 201 && new.status == 201)
    #expect(stored.body.count == new.body.count)
    // All but the date, and in the body all but what is new each time.
    #expect(stored.headers.keys.sorted() == new.headers.keys.sorted())
    for (name, value) in stored.headers where name != "date" { #expect(new.headers[name] == value) }
    func masked(_ answer: Answer) -> String {
      String(decoding: answer.body, as: UTF8.self)
        .replacing(/u-[0-9a-f]{32}/, with: "u-").replacing(/"expiresAt":"[^"]*"/, with: "")
    }
    #expect(masked(stored) == masked(new) && masked(stored).contains("u-"))
    // From there to the commit as well: nothing but bytes makes the photo bob's.
    let ids = [stored, new].compactMap { $0.text("uploadId") }
    for id in ids {
      #expect(try host.status(id, token: "bob-token").received == [])
      #expect(try host.commit(id, token: "bob-token").slug == "parts-missing")
    }
    let list = try host.call("GET", "/v1/photos", token: "bob-token")
    #expect(list.json?["photos"] == .array([]))
  }

  @Test func `a key means nothing in another account`() throws {
    let host = try TestServer()
    let mine = try #require(try host.open([1], key: "k").text("uploadId"))
    let theirs = try host.open([2], key: "k", token: "bob-token")
    #expect(theirs.status == 201 && theirs.text("uploadId") != mine)
    #expect(try host.open([2], key: "k").slug == "idempotency-key-reused")
    #expect(try host.open([1], key: "k").text("uploadId") == mine)
  }

  // Rows of others are never looked at, so they can cost no time either.
  @Test func `every query for something a client names also names the account`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/WaybillServer")
    var queries = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasPrefix("Store") {
      let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      for text in source.split(separator: "statement(").dropFirst() {
        let query = text.prefix { $0 != ")" }
        guard query.contains(/(upload_id|photo_id|idempotency_key|sha256) = \?/) else { continue }
        queries += 1
        #expect(query.contains("account = ?"), "\(name): \(query)")
      }
    }
    #expect(queries >= 4)
  }

  @Test(arguments: ["", "# nobody", "onlytoken", "a b c", "a b read-only d", "t a\nt b", "tö a"])
  func `a token list that cannot be used is refused`(text: String) {
    let error = #expect(throws: ServerError.self) { try AccessTokens(text) }
    #expect(error?.code == .tokenFile)
    #expect(error?.message.contains("onlytoken") == false)
  }

  @Test func `a token file is read only when others cannot`() throws {
    let path = TestServer.freshPath()
    defer { unlink(path) }
    #expect(throws: ServerError.self) { try AccessTokens(contentsOf: path) }
    try Data("secret alice\n".utf8).write(to: URL(filePath: path))
    chmod(path, 0o640)
    let error = #expect(throws: ServerError.self) { try AccessTokens(contentsOf: path) }
    #expect(error?.message.contains("chmod 600") == true)
    chmod(path, 0o600)
    _ = try AccessTokens(contentsOf: path)
  }
}
