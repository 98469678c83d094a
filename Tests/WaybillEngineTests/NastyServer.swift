#if os(Linux)
  import Foundation
  import Glibc
  import WaybillEngine
  import WaybillHash
  import WaybillModel
  import WaybillSystem

  /// A server on loopback that does to each connection what a script says, over plain sockets: it
  /// can break the protocol where a real server library would not let it.
  final class NastyServer: Sendable {
    typealias Script = @Sendable (Peer) -> Void

    /// One request whose body arrived to its last byte.
    struct Seen: Sendable {
      let method: String
      let path: String
      let head: String
      let connection: Int
      let bodyCount: Int
      let bodyHash: ContentHash
    }

    /// What a test cannot set up.
    struct SetupFailed: Error {
      let call: String
      let code = errno
    }

    private struct State {
      var isStopped = false
      var accepted = 0
      var open: Set<Int32> = []
      var peak = 0
      var seen: [Seen] = []
    }

    let port: UInt16
    private let listener: Int32
    private let script: Script
    private let state = Locked(State())
    private let threads = DispatchGroup()

    init(_ script: @escaping Script) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard listener >= 0 else { throw SetupFailed(call: "socket") }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bound in
          bind(listener, bound, length) == 0 && listen(listener, 512) == 0
            && getsockname(listener, bound, &length) == 0
        }
      }
      guard code else { throw SetupFailed(call: "bind") }
      self.listener = listener
      self.script = script
      port = UInt16(bigEndian: address.sin_port)
      threads.enter()
      Thread.detachNewThread { self.acceptAll() }
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var seen: [Seen] { state.withLock { $0.seen } }
    var connectionCount: Int { state.withLock { $0.accepted } }
    var peakConnections: Int { state.withLock { $0.peak } }

    /// Ends every connection and waits for all threads.
    func stop() {
      state.withLock { state in
        state.isStopped = true
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
      }
      threads.wait()
    }

    private func acceptAll() {
      defer {
        close(listener)
        threads.leave()
      }
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        let index = state.withLock { state -> Int? in
          guard !state.isStopped else { return nil }
          state.open.insert(descriptor)
          state.peak = max(state.peak, state.open.count)
          state.accepted += 1
          return state.accepted - 1
        }
        guard let index else {
          close(descriptor)
          return
        }
        threads.enter()
        Thread.detachNewThread {
          self.script(Peer(descriptor, index, self))
          self.state.withLock { state in
            state.open.remove(descriptor)
            _ = close(descriptor)
          }
          self.threads.leave()
        }
      }
    }

    fileprivate func record(_ seen: Seen) { state.withLock { $0.seen.append(seen) } }
  }

  /// The server's end of one connection, used by its own thread only.
  final class Peer {
    /// The head of a request whose body may not have been read.
    struct Head {
      let text: String
      let method: String
      let path: String
      let bodyCount: Int
    }

    private static let maximumHeadBytes = 65_536

    /// Which connection of its server, from 0.
    let index: Int
    private let descriptor: Int32
    private let server: NastyServer
    private var pending: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 262_144)

    init(_ descriptor: Int32, _ index: Int, _ server: NastyServer) {
      self.descriptor = descriptor
      self.index = index
      self.server = server
      var on: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(4))
    }

    /// Reads one head; nil when the client has gone.
    func readHead() -> Head? {
      while true {
        if let end = Peer.endOfHead(pending) {
          let text = String(decoding: pending[..<end], as: UTF8.self)
          pending.removeFirst(end)
          let first = text.prefix { $0 != "\r\n" }.split(separator: " ")
          guard first.count == 3 else { return nil }
          let length = text.lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length:") }?.dropFirst(15)
          let count = length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0
          return Head(
            text: text, method: String(first[0]), path: String(first[1]), bodyCount: count)
        }
        guard pending.count < Peer.maximumHeadBytes, let count = receive() else { return nil }
        pending.append(contentsOf: chunk[..<count])
      }
    }

    /// Reads `count` bytes of body, or fewer when the client goes; hashes them where asked.
    @discardableResult
    func readBody(_ count: Int, into hasher: SHA256? = nil) -> Int {
      var got = min(count, pending.count)
      hasher?.update(Array(pending[..<got]))
      pending.removeFirst(got)
      while got < count, let more = receive(atMost: count - got) {
        chunk.withUnsafeBytes { hasher?.update(UnsafeRawBufferPointer(rebasing: $0[..<more])) }
        got += more
      }
      return got
    }

    /// Reads `count` bytes of body; fewer when the client goes.
    func readBytes(_ count: Int) -> [UInt8] {
      var bytes = Array(pending.prefix(count))
      pending.removeFirst(bytes.count)
      while bytes.count < count, let more = receive(atMost: count - bytes.count) {
        bytes += chunk[..<more]
      }
      return bytes
    }

    /// Reads one whole request and records it; nil when the client goes before its end.
    func readRequest() -> NastyServer.Seen? {
      guard let head = readHead() else { return nil }
      let hasher = SHA256()
      guard readBody(head.bodyCount, into: hasher) == head.bodyCount else { return nil }
      let seen = NastyServer.Seen(
        method: head.method, path: head.path, head: head.text, connection: index,
        bodyCount: head.bodyCount, bodyHash: hasher.finish())
      server.record(seen)
      return seen
    }

    /// Sends text; false when the client has gone.
    @discardableResult
    func send(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, flags)
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }

    /// Answers with a status and a short text.
    @discardableResult
    func reply(_ status: String, _ body: String = "", headers: String = "") -> Bool {
      send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }

    /// Answers every request with 200 until the client goes.
    func serve() {
      while readRequest() != nil, reply("200 OK") {}
    }

    /// Reads and forgets until the client goes.
    func drain() { while receive() != nil {} }

    /// Waits without reading until the client goes.
    func waitForHangup() {
      // POLLRDHUP, which the C library hides: the client has closed its half.
      var watch = pollfd(fd: descriptor, events: 0x2000, revents: 0)
      poll(&watch, 1, 30_000)
    }

    /// Makes the close that follows a reset.
    func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private var flags: Int32 { Int32(MSG_NOSIGNAL) }

    private func receive(atMost limit: Int = .max) -> Int? {
      let count = chunk.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress, min($0.count, limit), 0)
      }
      return count > 0 ? count : nil
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
      guard bytes.count >= 4 else { return nil }
      return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }
  }

  /// A file for one test, gone with the value that names it.
  final class TestFile: Sendable {
    let path: String

    init(_ bytes: [UInt8] = [], size: Int? = nil) throws {
      path =
        FileManager.default.temporaryDirectory
        .appendingPathComponent("waybill-transport-\(UUID().uuidString)").path
      guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
        throw NastyServer.SetupFailed(call: "create")
      }
      if let size { Glibc.truncate(path, size) }
    }

    deinit { unlink(path) }

    /// Bytes that differ from place to place.
    static func pattern(_ count: Int) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
          buffer[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 9)
        }
        initialized = count
      }
    }

    func slice(_ offset: Int64 = 0, _ count: Int64) -> HTTPRequest.Body {
      .file(FileSlice(path: path, offset: offset, count: count))
    }
  }
#endif
