import Foundation
import Glibc
import Testing
import WaybillModel
import WaybillTesting

/// What a server answered, as curl saw it.
struct Answer {
  /// 0 when no reply came.
  let status: Int
  let headers: [String: String]
  let body: [UInt8]
  /// curl's exit code.
  let exitCode: Int32

  var json: JSONValue? { try? JSONValue.read(body) }
  var slug: String? { json?["type"]?.text?.split(separator: "/").last.map(String.init) }
  var received: [Int64]? { json?["received"]?.array?.compactMap(\.integer) }
  func text(_ key: String) -> String? { json?[key]?.text }

  init(output: [UInt8], exitCode: Int32) {
    self.exitCode = exitCode
    var rest = output[...]
    var status = 0
    var headers: [String: String] = [:]
    let separator: [UInt8] = [13, 10, 13, 10]
    while let end = Answer.range(of: separator, in: rest), rest.starts(with: "HTTP/".utf8) {
      let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        .components(separatedBy: "\r\n")
      rest = rest[end.upperBound...]
      status = Int(lines[0].split(separator: " ")[1]) ?? 0
      headers = [:]
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        headers[parts[0].lowercased()] = parts.dropFirst().first?.trimmingCharacters(
          in: .whitespaces)
      }
      if status >= 200 { break }
    }
    self.status = status
    self.headers = headers
    body = [UInt8](rest)
  }

  private static func range(of wanted: [UInt8], in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    guard bytes.count >= wanted.count else { return nil }
    for start in bytes.startIndex...(bytes.endIndex - wanted.count)
    where bytes[start..<(start + wanted.count)].elementsEqual(wanted) {
      return start..<(start + wanted.count)
    }
    return nil
  }
}

/// One run of the curl program, a client that is not ours.
final class Curl {
  private let output: String
  private let input: String?
  private let reaper: Reaper

  init(_ arguments: [String], body: [UInt8]? = nil) throws {
    output = NSTemporaryDirectory() + "waybill-curl-" + UUID().uuidString
    var all = ["curl", "-s", "-i", "--http1.1", "--max-time", "20", "-H", "Expect:"] + arguments
    if let body {
      let path = output + ".in"
      try Data(body).write(to: URL(filePath: path))
      input = path
      all += ["--data-binary", "@" + path]
    } else {
      input = nil
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var pointers: [UnsafeMutablePointer<CChar>?] = all.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process: pid_t = 0
    try #require(posix_spawnp(&process, "curl", &actions, nil, &pointers, environ) == 0)
    reaper = Reaper(process)
  }

  func wait() throws -> Answer {
    let code = reaper.wait()
    defer {
      unlink(output)
      if let input { unlink(input) }
    }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: output)))
    return Answer(output: bytes, exitCode: code)
  }
}

/// A TCP connection without any manners of HTTP.
final class RawConnection {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(isConnected == 0)
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  private var isClosed = false

  func close() {
    if !isClosed { Glibc.close(descriptor) }
    isClosed = true
  }

  /// Ends our direction of the connection; the other one stays open.
  func shutDownSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func send(_ text: String) { send([UInt8](text.utf8)) }

  /// Sends until all is gone or the other side resets the connection; the count sent.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    return bytes.count - rest.count
  }

  /// Some bytes, at most `count`; none when the other side has closed.
  func receive(_ count: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = recv(descriptor, &buffer, count, 0)
    return Array(buffer.prefix(max(received, 0)))
  }

  /// Everything until the other side closes or says nothing for 20 seconds.
  func receiveAll() -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { return all }
      all += buffer[..<count]
    }
  }
}
