#if os(Linux)
  internal import CCurl
  internal import Glibc
  internal import WaybillModel

  /// Sets the options of one easy handle and remembers whether all were taken.
  struct CurlSetup {
    let easy: UnsafeMutableRawPointer
    private(set) var isComplete = true

    init(easy: UnsafeMutableRawPointer) { self.easy = easy }

    /// What is the same for every request.
    mutating func apply(_ options: CurlTransport.Options) {
      set(CURLOPT_NOSIGNAL, 1)
      // Without it, ending a request waits for the resolver's thread and holds up all others.
      set(CURLOPT_QUICK_EXIT, 1)
      set(CURLOPT_PROTOCOLS_STR, "http,https")
      set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
      set(CURLOPT_PATH_AS_IS, 1)
      set(CURLOPT_FOLLOWLOCATION, 0)
      set(CURLOPT_HTTP_VERSION, Int64(CURL_HTTP_VERSION_1_1))
      set(CURLOPT_HTTP09_ALLOWED, 0)
      set(CURLOPT_SSLVERSION, Int64(CURL_SSLVERSION_TLSv1_2))
      set(CURLOPT_SSL_VERIFYPEER, 1)
      set(CURLOPT_SSL_VERIFYHOST, 2)
      set(CURLOPT_TCP_NODELAY, 1)
      set(CURLOPT_TCP_KEEPALIVE, 1)
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      set(CURLOPT_CONNECTTIMEOUT_MS, max(options.connectTimeout.wholeMilliseconds, 1))
      set(CURLOPT_USERAGENT, options.userAgent)
      if let file = options.certificateAuthorityFile { set(CURLOPT_CAINFO, file) }
      if !options.obeysProxyVariables { set(CURLOPT_PROXY, "") }
    }

    /// What one request asks for.
    mutating func apply(_ request: HTTPRequest, bodyCount: Int64, uploadBufferBytes: Int) {
      set(CURLOPT_URL, request.url)
      // What is not encrypted would show a proxy the credential and the bytes.
      if request.url.hasPrefix("http://") { set(CURLOPT_PROXY, "") }
      switch (request.method, request.body) {
      case (.get, .none): set(CURLOPT_HTTPGET, 1)
      // Says a length and sends nothing: libcurl has to know that it must not wait for a body.
      case (.head, .none): set(CURLOPT_NOBODY, 1)
      case (.delete, .none), (.options, .none):
        set(CURLOPT_HTTPGET, 1)
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      default:
        // One way for all bodies: an upload of known length, also of length 0.
        set(CURLOPT_UPLOAD, 1)
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        take(waybill_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, bodyCount))
        let bytes = min(Int64(uploadBufferBytes), bodyCount, 2_097_152)
        set(CURLOPT_UPLOAD_BUFFERSIZE, max(bytes, 16_384))
      }
    }

    /// Sends every callback to one exchange.
    mutating func set(context: UnsafeMutableRawPointer) {
      take(waybill_curl_set_mover(easy, CURLOPT_READFUNCTION, readBody))
      take(waybill_curl_set_mover(easy, CURLOPT_WRITEFUNCTION, takeBody))
      take(waybill_curl_set_mover(easy, CURLOPT_HEADERFUNCTION, takeHeaderLine))
      take(waybill_curl_set_seeker(easy, seekBody))
      for option in [
        CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_SEEKDATA, CURLOPT_PRIVATE,
      ] {
        set(option, pointer: context)
      }
    }

    /// Calls back for each socket that is opened.
    mutating func set(
      socketWatcher watcher: @escaping curl_sockopt_callback, _ context: UnsafeMutableRawPointer
    ) {
      take(waybill_curl_set_socket_watcher(easy, watcher))
      set(CURLOPT_SOCKOPTDATA, pointer: context)
    }

    mutating func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
      take(waybill_curl_set_pointer(easy, option, pointer))
    }

    private mutating func set(_ option: CURLoption, _ value: Int64) {
      take(waybill_curl_set_integer(easy, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String) {
      take(waybill_curl_set_text(easy, option, value))
    }

    private mutating func take(_ code: CURLcode) {
      if code != CURLE_OK { isComplete = false }
    }
  }

  // MARK: Callbacks
  // Contexts are unretained: the loop holds an exchange until its handle has left the multi.

  private func readBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    guard let context else { return Int(CURL_READFUNC_ABORT) }
    let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return CurlExchange.at(context).readBody(into: room) ?? Int(CURL_READFUNC_ABORT)
  }

  private func seekBody(
    _ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32
  ) -> Int32 {
    guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    let isThere = CurlExchange.at(context).rewindBody(to: Int64(offset))
    return isThere ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
  }

  private func takeHeaderLine(
    _ line: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let bytes = UnsafeRawBufferPointer(start: line, count: size * count)
    guard let context, CurlExchange.at(context).takeHeaderLine(bytes) else { return -1 }
    return bytes.count
  }

  private func takeBody(
    _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
  ) -> Int {
    let bytes = UnsafeRawBufferPointer(start: start, count: size * count)
    guard let context, CurlExchange.at(context).takeBody(bytes) else { return -1 }
    return bytes.count
  }
#endif
