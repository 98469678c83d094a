import Foundation
import Testing
import WaybillHash
import WaybillModel
import WaybillServer

/// A server in this process on a folder of its own, asked through curl.
final class TestServer {
  static let tokens = """
    # who may call
    alice-token alice
    bob-token bob
    reader-token alice read-only
    """

  let server: WaybillServer
  let directory: String
  private let removesDirectory: Bool

  init(
    partSize: Int64 = 4, faults: String = "", directory: String? = nil,
    adjust: (inout ServerOptions) -> Void = { _ in }
  ) throws {
    removesDirectory = directory == nil
    self.directory = directory ?? TestServer.freshPath()
    var options = ServerOptions(
      dataDirectory: self.directory, tokens: try AccessTokens(TestServer.tokens))
    options.partSizeBytes = partSize
    options.faults = try FaultScript(faults)
    adjust(&options)
    server = try WaybillServer.start(options)
  }

  deinit {
    server.stop(graceMilliseconds: 100)
    if removesDirectory { try? FileManager.default.removeItem(atPath: directory) }
  }

  static func freshPath() -> String {
    NSTemporaryDirectory() + "waybill-server-" + UUID().uuidString
  }

  /// Names of the files with bytes of sessions and photos.
  var storedFiles: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory + "/files"))?.sorted() ?? []
  }

  // MARK: Calls

  func begin(
    _ method: String, _ path: String, token: String? = "alice-token", headers: [String] = [],
    body: [UInt8]? = nil, seconds: String? = nil
  ) throws -> Curl {
    var arguments = ["-X", method, server.baseURL + path]
    if let seconds { arguments += ["--max-time", seconds] }
    if let token { arguments += ["-H", "Authorization: Bearer " + token] }
    for header in headers { arguments += ["-H", header] }
    return try Curl(arguments, body: body)
  }

  func call(
    _ method: String, _ path: String, token: String? = "alice-token", headers: [String] = [],
    body: [UInt8]? = nil
  ) throws -> Answer {
    try begin(method, path, token: token, headers: headers, body: body).wait()
  }

  func open(
    _ bytes: [UInt8], key: String? = UUID().uuidString, mode: String? = nil, name: String = "a.jpg",
    token: String = "alice-token", sha256: String? = nil
  ) throws -> Answer {
    var members = [
      JSONValue.Member("sha256", .text(sha256 ?? SHA256.hash(bytes).description)),
      JSONValue.Member("byteCount", .integer(Int64(bytes.count))),
      JSONValue.Member("fileName", .text(name)),
    ]
    if let mode { members.append(JSONValue.Member("commit", .text(mode))) }
    return try openRaw([UInt8](JSONValue.object(members).serialized.utf8), key: key, token: token)
  }

  func openRaw(_ body: [UInt8], key: String? = nil, token: String = "alice-token") throws -> Answer
  {
    var headers = ["Content-Type: application/json"]
    if let key { headers.append("Idempotency-Key: " + key) }
    return try call("POST", "/v1/uploads", token: token, headers: headers, body: body)
  }

  /// The upload id of a fresh session.
  func session(for bytes: [UInt8], mode: String? = nil) throws -> String {
    let answer = try open(bytes, mode: mode)
    #expect(answer.status == 201)
    return try #require(answer.text("uploadId"))
  }

  static func digest(_ bytes: [UInt8]) -> String {
    "Content-Digest: sha-256=:\(Data(SHA256.hash(bytes).bytes).base64EncodedString()):"
  }

  func put(
    _ id: String, _ part: Int, _ bytes: [UInt8], digestOf: [UInt8]? = nil,
    token: String = "alice-token"
  ) throws -> Answer {
    let headers = ["Content-Type: application/octet-stream", TestServer.digest(digestOf ?? bytes)]
    return try call(
      "PUT", "/v1/uploads/\(id)/parts/\(part)", token: token, headers: headers, body: bytes)
  }

  func commit(_ id: String, key: String? = "commit-key", token: String = "alice-token") throws
    -> Answer
  {
    let headers = key.map { ["Idempotency-Key: " + $0] } ?? []
    return try call("POST", "/v1/uploads/\(id)/commit", token: token, headers: headers)
  }

  func status(_ id: String, token: String = "alice-token") throws -> Answer {
    try call("GET", "/v1/uploads/\(id)", token: token)
  }

  /// Sends all parts and commits; the photo's id.
  func upload(_ bytes: [UInt8], partSize: Int = 4) throws -> String {
    let id = try session(for: bytes)
    for (part, slice) in slices(bytes, partSize).enumerated() {
      #expect(try put(id, part, slice).status == 200)
    }
    let answer = try commit(id)
    #expect(answer.status == 200)
    return try #require(answer.text("photoId"))
  }

  func content(_ photo: String) throws -> [UInt8] {
    try call("GET", "/v1/photos/\(photo)/content").body
  }
}

func slices(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
  stride(from: 0, to: bytes.count, by: size).map {
    [UInt8](bytes[$0..<min($0 + size, bytes.count)])
  }
}
