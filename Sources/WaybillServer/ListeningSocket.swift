internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A bound and listening TCP socket on a numeric address.
struct ListeningSocket {
  let descriptor: Int32
  let port: UInt16
  /// The address as it stands in a URL.
  let host: String
  /// Whether the address is one of 127.0.0.0/8 or ::1.
  let isLoopback: Bool

  /// Binds the address; port 0 picks a free one. Whoever takes the descriptor closes it.
  init(address: String, port: UInt16) throws(ServerError) {
    func failure(_ what: String) -> ServerError {
      ServerError(
        .address, "cannot \(what) \(address) port \(port): \(SystemError.last.text); choose another"
      )
    }
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &list) == 0, let info = list?.pointee else {
      throw ServerError(.address, "\(address) is no numeric address: write one such as 127.0.0.1")
    }
    defer { freeaddrinfo(list) }
    let made = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
    guard made >= 0 else { throw failure("make a socket for") }
    do throws(ServerError) {
      try ListeningSocket.prepare(made)
      guard bind(made, info.ai_addr, info.ai_addrlen) == 0 else { throw failure("bind") }
      guard listen(made, 511) == 0 else { throw failure("listen on") }
    } catch {
      _ = close(made)
      throw error
    }
    descriptor = made
    self.port = ListeningSocket.boundPort(made)
    isLoopback = ListeningSocket.isLoopback(info)
    host = info.ai_family == AF_INET6 ? "[\(address)]" : address
  }

  private static func isLoopback(_ info: addrinfo) -> Bool {
    guard let address = info.ai_addr else { return false }
    if info.ai_family == AF_INET {
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 24 == 127
      }
    }
    return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
      withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
        // Also an IPv4 address in IPv6 form, ::ffff:127.0.0.1.
        bytes.elementsEqual([UInt8](repeating: 0, count: 15) + [1])
          || bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 127])
      }
    }
  }

  private static func prepare(_ socket: Int32) throws(ServerError) {
    var on: Int32 = 1
    let isReusable = setsockopt(
      socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard isReusable == 0, fcntl(socket, F_SETFD, FD_CLOEXEC) == 0,
      fcntl(socket, F_SETFL, O_NONBLOCK) == 0
    else { throw ServerError(.address, "the socket cannot be set up: \(SystemError.last.text)") }
  }

  private static func boundPort(_ socket: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = withUnsafeMutableBytes(of: &storage) { bytes in
      getsockname(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &count)
    }
    guard isKnown == 0 else { return 0 }
    // The port stands at the same place in both families.
    return withUnsafeBytes(of: storage) { bytes in
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }
}
