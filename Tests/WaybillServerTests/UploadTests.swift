import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillServer

@Suite struct UploadTests {
  @Test func `a file of three parts comes back byte for byte`() throws {
    let host = try TestServer()
    let bytes = [UInt8]("abcdefghij".utf8)
    let opened = try host.open(bytes)
    #expect(opened.status == 201)
    #expect(opened.json?["partSize"]?.integer == 4)
    #expect(opened.json?["partCount"]?.integer == 3)
    #expect(opened.received == [])
    #expect(opened.headers["date"] != nil)
    let id = try #require(opened.text("uploadId"))

    #expect(try host.put(id, 2, [UInt8]("ij".utf8)).received == [2])
    #expect(try host.put(id, 0, [UInt8]("abcd".utf8)).received == [0, 2])
    #expect(try host.status(id).text("state") == "open")
    let last = try host.put(id, 1, [UInt8]("efgh".utf8))
    #expect(last.status == 200)
    #expect(last.json?["partCount"]?.integer == 3)
    let whole = try host.status(id)
    #expect(whole.text("state") == "received")
    #expect(whole.json?["photoId"] == .null)

    let committed = try host.commit(id)
    #expect(committed.status == 200)
    #expect(committed.text("sha256") == SHA256.hash(bytes).description)
    #expect(committed.json?["version"]?.integer == 1)
    let photo = try #require(committed.text("photoId"))
    #expect(try host.content(photo) == bytes)
    let status = try host.status(id)
    #expect(status.text("state") == "committed")
    #expect(status.text("photoId") == photo)
    #expect(status.received == [0, 1, 2])
    #expect(host.server.photoCount == 1)
    #expect(host.server.counts.commits == 1)
    #expect(host.server.counts.partBodyBytes == 10)
  }

  @Test func `a file of one part needs one request and a commit`() throws {
    let host = try TestServer()
    let photo = try host.upload([1, 2, 3])
    #expect(try host.content(photo) == [1, 2, 3])
    #expect(host.server.counts.requests(.part) == 1)
  }

  // D01: an empty file is neither refused nor stuck.
  @Test func `an empty file is received at once and commits`() throws {
    let host = try TestServer()
    let opened = try host.open([])
    #expect(opened.status == 201)
    #expect(opened.json?["partCount"]?.integer == 0)
    let id = try #require(opened.text("uploadId"))
    #expect(try host.status(id).text("state") == "received")
    let photo = try #require(try host.commit(id).text("photoId"))
    #expect(try host.content(photo) == [])
  }

  @Test func `the last part of an automatic upload makes the photo`() throws {
    let host = try TestServer()
    let bytes = [UInt8]("abcdef".utf8)
    let id = try host.session(for: bytes, mode: "auto")
    #expect(try host.put(id, 1, [UInt8]("ef".utf8)).status == 200)
    let last = try host.put(id, 0, [UInt8]("abcd".utf8))
    #expect(last.status == 201)
    #expect(last.text("sha256") == SHA256.hash(bytes).description)
    let photo = try #require(last.text("photoId"))
    let again = try host.put(id, 0, [UInt8]("abcd".utf8))
    #expect(again.status == 201)
    #expect(again.text("photoId") == photo)
    #expect(host.server.photoCount == 1)
  }

  @Test func `an automatic empty upload is a photo when it is opened`() throws {
    let host = try TestServer()
    let opened = try host.open([], mode: "auto")
    #expect(opened.status == 200)
    #expect(opened.text("photoId") != nil)
  }

  @Test func `photos are listed page by page in the order of their commits`() throws {
    let host = try TestServer()
    let photos = try (0..<3).map { try host.upload([UInt8($0)]) }
    let first = try host.call("GET", "/v1/photos?limit=2")
    #expect(
      first.json?["photos"]?.array?.compactMap { $0["photoId"]?.text } == [photos[0], photos[1]])
    #expect(first.text("next") == photos[1])
    let second = try host.call("GET", "/v1/photos?after=\(photos[1])&limit=2")
    #expect(second.json?["photos"]?.array?.compactMap { $0["photoId"]?.text } == [photos[2]])
    #expect(second.json?["next"] == .null)
    let one = try host.call("GET", "/v1/photos/\(photos[1])")
    #expect(one.json?["byteCount"]?.integer == 1)
    #expect(one.text("fileName") == "a.jpg")
    #expect(try host.call("GET", "/v1/photos?limit=0").status == 400)
    #expect(try host.call("GET", "/v1/photos?after=p-0").status == 404)
  }

  @Test func `a session that is given up is gone with its bytes`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1, 2, 3, 4, 5])
    #expect(try host.put(id, 0, [1, 2, 3, 4]).status == 200)
    #expect(host.storedFiles == [id])
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 204)
    #expect(try host.call("DELETE", "/v1/uploads/\(id)").status == 204)
    #expect(try host.status(id).slug == "not-found")
    #expect(host.storedFiles.isEmpty)
  }

  @Test func `a committed upload cannot be given up`() throws {
    let host = try TestServer()
    let id = try host.session(for: [1])
    #expect(try host.put(id, 0, [1]).status == 200)
    let photo = try #require(try host.commit(id).text("photoId"))
    let answer = try host.call("DELETE", "/v1/uploads/\(id)")
    #expect(answer.status == 409)
    #expect(answer.slug == "already-committed")
    #expect(try host.content(photo) == [1])
  }

  @Test func `parts grow until ten thousand are enough`() throws {
    let host = try TestServer(partSize: 1 << 20)
    let zeros = String(repeating: "0", count: 64)
    let body = #"{"sha256":"\#(zeros)","byteCount":10485760001}"#
    let answer = try host.openRaw([UInt8](body.utf8))
    #expect(answer.json?["partSize"]?.integer == 2 << 20)
    #expect(answer.json?["partCount"]?.integer == 5001)
  }

  @Test func `a part of several megabytes arrives whole`() throws {
    let host = try TestServer(partSize: 8 << 20)
    let bytes = (0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    let photo = try host.upload(bytes, partSize: 8 << 20)
    #expect(SHA256.hash(try host.content(photo)) == SHA256.hash(bytes))
  }
}
