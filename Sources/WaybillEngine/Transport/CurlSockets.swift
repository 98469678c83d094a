#if os(Linux)
  internal import CCurl

  /// The sockets of one loop, so that it can be asked what has arrived at their other side: what
  /// libcurl has handed to the system may lie there for long.
  final class CurlSockets {
    /// Numbers the system gives out again and again; some may be closed or something else by now.
    private var descriptors: Set<Int32> = []

    fileprivate func add(_ descriptor: Int32) { descriptors.insert(descriptor) }

    /// Bytes that the system holds of what was written on the connection of a handle; 0 when there
    /// is none, or none that is known.
    func unacknowledgedBytes(of easy: UnsafeMutableRawPointer) -> Int64 {
      let port = waybill_curl_integer(easy, CURLINFO_LOCAL_PORT)
      guard port > 0 else { return 0 }
      return descriptors.lazy.map { waybill_unacknowledged($0, port) }.first { $0 >= 0 } ?? 0
    }

    /// Lets a handle tell of each socket it opens. Unretained: the loop holds the sockets longer
    /// than any connection.
    func watch(_ setup: inout CurlSetup) {
      setup.set(socketWatcher: addSocket, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func addSocket(
    _ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ purpose: curlsocktype
  ) -> Int32 {
    if let context {
      Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue().add(descriptor)
    }
    return Int32(CURL_SOCKOPT_OK)
  }
#endif
