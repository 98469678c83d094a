#if os(Linux)
  internal import Dispatch
  internal import Glibc
  internal import WaybillSystem

  /// The calls around a socket with a path; the process at the other end is of our own user.
  enum UnixSocket {
    /// Connects.
    ///
    /// - Throws: what the system says, such as `ECONNREFUSED` where nobody listens any more, and
    ///   `EPERM` where the listener is another user's.
    static func connect(_ path: String) throws(SystemError) -> Int32 {
      let descriptor = try make()
      guard withAddress(path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
        throw closing(descriptor)
      }
      guard isOurs(descriptor) else {
        Glibc.close(descriptor)
        throw SystemError(number: EPERM)
      }
      return descriptor
    }

    /// Listens at a path, in place of whatever stands there.
    static func listen(_ path: String) throws(SystemError) -> Int32 {
      let descriptor = try make()
      unlink(path)
      // The folder keeps others out already; the mode is a second door.
      guard withAddress(path, { bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
        Glibc.listen(descriptor, 64) == 0
      else { throw closing(descriptor) }
      return descriptor
    }

    /// Takes the next client that waits; nil when there is none, or it is another user's.
    static func accept(_ listener: Int32) -> Int32? {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else { return nil }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      guard isOurs(descriptor) else {
        Glibc.close(descriptor)
        return nil
      }
      return descriptor
    }

    private static func make() throws(SystemError) -> Int32 {
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      let descriptor = socket(AF_UNIX, kind, 0)
      guard descriptor >= 0 else { throw .last }
      return descriptor
    }

    private static func closing(_ descriptor: Int32) -> SystemError {
      let error = SystemError.last
      Glibc.close(descriptor)
      return error
    }

    private static func withAddress(
      _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
        errno = ENAMETOOLONG
        return -1
      }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }

    /// Whether the process at the other end runs as our user; unix(7), SO_PEERCRED.
    private static func isOurs(_ descriptor: Int32) -> Bool {
      // struct ucred, which the C library hides: process, user, group.
      var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
      var length = socklen_t(MemoryLayout.size(ofValue: credentials))
      let code = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
      return code == 0 && credentials.user == geteuid()
    }
  }

  /// A socket that is listened at. It gives the clients one by one until it is closed.
  final class AgentListener: Sendable {
    /// The most clients that wait to be looked at; more are turned away.
    private static let maximumWaiting = 16

    /// Clients of our own user.
    let channels: AsyncStream<MessageChannel>
    private let path: String
    private let inode: ino_t
    private let listener: AsyncStream<MessageChannel>.Continuation
    nonisolated(unsafe) private let source: any DispatchSourceRead

    init(path: String) throws(SystemError) {
      let descriptor = try UnixSocket.listen(path)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      let (channels, listener) = AsyncStream<MessageChannel>.makeStream(
        bufferingPolicy: .bufferingOldest(AgentListener.maximumWaiting))
      self.path = path
      self.channels = channels
      self.listener = listener
      inode = AgentListener.inode(of: path) ?? 0
      source = DispatchSource.makeReadSource(
        fileDescriptor: descriptor, queue: DispatchQueue(label: "waybill.agent.accept"))
      source.setEventHandler { @Sendable in
        guard let client = UnixSocket.accept(descriptor) else { return }
        listener.yield(MessageChannel(descriptor: client))
      }
      source.setCancelHandler { @Sendable in Glibc.close(descriptor) }
      source.activate()
    }

    deinit { source.cancel() }

    /// Whether clients that look at the path still come to us.
    var isReachable: Bool { AgentListener.inode(of: path) == inode }

    /// Takes no client any more; the path is free for the next agent.
    func close() {
      if isReachable { unlink(path) }
      source.cancel()
      listener.finish()
    }

    private static func inode(of path: String) -> ino_t? {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_ino : nil
    }
  }
#endif
