#if os(Linux)
  internal import Glibc
  internal import WaybillModel
  internal import WaybillSystem

  /// Results that wait until a client has recorded them, kept in a file so that an agent that is
  /// started anew still has them.
  ///
  /// The file is a run of lines, each a result or the number of one that was acknowledged; it is
  /// cut to nothing when nothing waits. It holds no request, no address and no credential.
  struct AgentResults {
    /// One result.
    struct Result: Equatable {
      let number: Int64
      /// The session of the client that started the transfer.
      let session: String
      let task: TransferDescription
      let outcome: HTTPOutcome
    }

    /// The headers a verdict is made from; others may name a place or set a cookie.
    private static let keptHeaders: Set<String> = [
      "content-type", "date", "retry-after", "tus-resumable", "upload-offset",
    ]
    /// The most bytes of a file that are read: more than the most results there can be.
    private static let maximumFileBytes = 512 << 20
    /// From here on, a file that is mostly of the past is written anew.
    private static let rewriteBytes: Int64 = 4 << 20

    private(set) var waiting: [Int64: Result] = [:]
    private(set) var lastNumber: Int64 = 0
    private let path: String
    private var descriptor: Int32
    private var fileBytes: Int64 = 0

    /// Opens the file, reads what waits and drops what is damaged: of a transfer whose result is
    /// lost the server is asked.
    init(path: String) throws(SystemError) {
      self.path = path
      descriptor = try AgentResults.open(path)
      let bytes = read()
      fileBytes = Int64(bytes.count)
      for line in bytes.split(separator: UInt8(ascii: "\n")) { take([UInt8](line)) }
      rewrite()
      try? Folder.sync(AgentResults.folder(of: path))
    }

    /// Closes the file; nothing may be asked of the results afterwards.
    func close() { Glibc.close(descriptor) }

    /// How many results wait.
    var count: Int { waiting.count }

    /// The results of a session after a number, oldest first.
    func results(of session: String, after number: Int64 = 0) -> [Result] {
      waiting.values.filter { $0.session == session && $0.number > number }
        .sorted { $0.number < $1.number }
    }

    /// Keeps a result. It is on stable storage afterwards, unless the disk is full: then memory
    /// has it.
    ///
    /// - Parameter secrets: what must not get onto the disk, also where a server sent it back.
    mutating func add(
      _ outcome: HTTPOutcome, of task: TransferDescription, session: String, secrets: [[UInt8]]
    ) -> Result {
      lastNumber += 1
      let result = Result(
        number: lastNumber, session: session, task: task, outcome: outcome.without(secrets))
      waiting[lastNumber] = result
      write(AgentResults.line(result))
      _ = StableStorage.sync(descriptor)
      return result
    }

    /// Forgets the oldest result of a session that `isAbandoned`.
    ///
    /// - Returns: whether there was one.
    mutating func forgetOldest(where isAbandoned: (_ session: String) -> Bool) -> Bool {
      let abandoned = waiting.values.filter { isAbandoned($0.session) }
      guard let oldest = abandoned.min(by: { $0.number < $1.number }) else { return false }
      acknowledge(oldest.number, of: oldest.task, session: oldest.session)
      return true
    }

    /// Forgets a result that a client of its session has recorded.
    mutating func acknowledge(_ number: Int64, of task: TransferDescription, session: String) {
      guard let result = waiting[number], result.task == task, result.session == session else {
        return
      }
      waiting[number] = nil
      if waiting.isEmpty || fileBytes > AgentResults.rewriteBytes {
        rewrite()
      } else {
        write(AgentResults.line(acknowledged: number))
      }
    }

    // MARK: The file

    private static func open(_ path: String, _ flags: Int32 = 0) throws(SystemError) -> Int32 {
      let all = O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_RDWR | O_NONBLOCK | flags
      let descriptor = Glibc.open(path, all, 0o600)
      guard descriptor >= 0 else { throw .last }
      return descriptor
    }

    private static func folder(of path: String) -> String {
      path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private static func line(_ result: Result) -> [UInt8] {
      var outcome = result.outcome
      if case .reply(var reply) = outcome {
        reply.headers.removeAll { !keptHeaders.contains($0.name.lowercased()) }
        outcome = .reply(reply)
      }
      return line(
        [
          .init("result", .integer(result.number)), .init("session", .text(result.session)),
          .init("task", .text(result.task.description)),
        ] + outcome.members)
    }

    private static func line(acknowledged number: Int64) -> [UInt8] {
      line([.init("acknowledged", .integer(number))])
    }

    /// An empty line in front ends one that a full disk or a kill has cut short.
    private static func line(_ members: [JSONValue.Member]) -> [UInt8] {
      [UInt8]("\n\(JSONValue.object(members).serialized)\n".utf8)
    }

    private mutating func take(_ line: [UInt8]) {
      guard let json = try? JSONValue.read(line) else { return }
      if let number = json["acknowledged"]?.integer {
        waiting[number] = nil
        lastNumber = max(lastNumber, number)
        return
      }
      guard let number = json["result"]?.integer, let session = json["session"]?.text,
        let task = json["task"]?.text.flatMap({ TransferDescription($0) }),
        let outcome = HTTPOutcome(json)
      else { return }
      waiting[number] = Result(number: number, session: session, task: task, outcome: outcome)
      lastNumber = max(lastNumber, number)
    }

    private func read() -> [UInt8] {
      var bytes: [UInt8] = []
      withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
        while bytes.count < AgentResults.maximumFileBytes {
          let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(bytes.count))
          guard count > 0 else { break }
          bytes.append(contentsOf: buffer[..<count])
        }
      }
      return bytes
    }

    private mutating func write(_ line: [UInt8]) {
      let count = line.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(fileBytes))
      }
      fileBytes += Int64(max(count, 0))
    }

    /// Leaves only what waits. Where there is no room for a second file the first one stays.
    private mutating func rewrite() {
      if waiting.isEmpty {
        ftruncate(descriptor, 0)
        fileBytes = 0
        return
      }
      let next = path + ".next"
      guard let fresh = try? AgentResults.open(next, O_TRUNC) else { return }
      var lines: [UInt8] = []
      for result in waiting.values.sorted(by: { $0.number < $1.number }) {
        lines += AgentResults.line(result)
      }
      let count = lines.withUnsafeBytes { pwrite(fresh, $0.baseAddress, $0.count, 0) }
      guard count == lines.count, StableStorage.sync(fresh), rename(next, path) == 0 else {
        Glibc.close(fresh)
        unlink(next)
        return
      }
      Glibc.close(descriptor)
      descriptor = fresh
      fileBytes = Int64(count)
      try? Folder.sync(AgentResults.folder(of: path))
    }
  }

  extension HTTPOutcome {
    /// The outcome without a header and without a body that holds a secret: a server may send back
    /// what it was sent.
    fileprivate func without(_ secrets: [[UInt8]]) -> HTTPOutcome {
      guard case .reply(var reply) = self else { return self }
      func isClean(_ bytes: [UInt8]) -> Bool { !secrets.contains { bytes.holds($0) } }
      reply.headers.removeAll { !isClean([UInt8]($0.value.utf8)) }
      if !isClean(reply.body) {
        reply.body = []
        reply.isTruncated = true
      }
      return .reply(reply)
    }
  }

  extension [UInt8] {
    /// Whether another run of bytes stands somewhere in this one.
    fileprivate func holds(_ other: [UInt8]) -> Bool {
      guard let first = other.first else { return false }
      return indices.contains { self[$0] == first && self[$0...].starts(with: other) }
    }
  }
#endif
