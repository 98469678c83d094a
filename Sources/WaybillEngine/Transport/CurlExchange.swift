#if os(Linux)
  internal import CCurl
  internal import Glibc
  internal import WaybillModel

  /// One request on the wire and the reply that comes back. Belongs to the loop thread, which holds
  /// it as long as libcurl may call back.
  final class CurlExchange {
    let submission: RequestInbox.Submission
    let easy: UnsafeMutableRawPointer
    private var headerLines: UnsafeMutablePointer<curl_slist>?
    private var body: BodySource?
    private var reply = ReplyAssembler()
    private var isFileUnreadable = false

    private let began = ContinuousClock.now
    private let sockets: CurlSockets
    private var deadline: TransferDeadline
    private var lastSentBytes: Int64 = 0
    private var reportedBytes: Int64 = 0
    private var nextReport = ContinuousClock.now

    /// Opens the body and sets up `easy`, which must be fresh or reset.
    init(
      _ submission: RequestInbox.Submission, easy: UnsafeMutableRawPointer,
      options: CurlTransport.Options, sockets: CurlSockets
    ) throws(Unsendable) {
      self.submission = submission
      self.easy = easy
      self.sockets = sockets
      deadline = TransferDeadline(stall: options.stallTimeout, reply: options.replyTimeout)
      let request = submission.request
      let lines = try RequestCheck.headerLines(of: request)
      try RequestCheck.check(url: request.url)
      let body = try BodySource(request.body)
      self.body = body
      for line in lines {
        guard let longer = curl_slist_append(headerLines, line) else {
          throw Unsendable(reason: .dropped)
        }
        headerLines = longer
      }
      var setup = CurlSetup(easy: easy)
      setup.apply(options)
      sockets.watch(&setup)
      setup.apply(request, bodyCount: body.count, uploadBufferBytes: options.uploadBufferBytes)
      setup.set(CURLOPT_HTTPHEADER, pointer: headerLines)
      setup.set(context: Unmanaged.passUnretained(self).toOpaque())
      guard setup.isComplete else { throw Unsendable(reason: .unusable) }
    }

    deinit { release() }

    /// Closes the file and frees the header lines; `easy` must have been reset or freed before.
    func release() {
      curl_slist_free_all(headerLines)
      headerLines = nil
      body = nil
    }

    /// The exchange that runs on a handle. Unretained: the loop holds it until the handle is reset.
    static func of(_ easy: UnsafeMutableRawPointer) -> CurlExchange? {
      waybill_curl_private(easy).map(CurlExchange.at)
    }

    /// The exchange behind the context of a callback.
    static func at(_ context: UnsafeMutableRawPointer) -> CurlExchange {
      Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    var isCall: Bool {
      if case .call = submission.purpose { true } else { false }
    }

    // MARK: From the callbacks

    /// The next bytes of the body; nil ends the exchange.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
      let count = body?.read(into: buffer)
      if count == nil { isFileUnreadable = true }
      return count
    }

    /// Goes back in the body for a second try of libcurl's own; false where that is not allowed: a
    /// server may have kept the beginning of a PATCH, so that the same bytes belong nowhere now.
    func rewindBody(to place: Int64) -> Bool {
      submission.request.method != .patch && (body?.rewind(to: place) ?? false)
    }

    func takeHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool { reply.takeHeaderLine(line) }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool { reply.takeBody(bytes) }

    // MARK: For the loop

    /// What the end of the transfer with this code came to.
    func outcome(of code: CURLcode) -> HTTPOutcome {
      if isFileUnreadable { return .noReply(.unreadableFile) }
      if code == CURLE_OK || reply.isTruncated, let reply = reply.reply { return .reply(reply) }
      return .noReply(NoReply(curlCode: code, of: easy))
    }

    /// Whether the transfer has taken too long, as far as it can be seen at `now`.
    func isLate(at now: ContinuousClock.Instant) -> Bool {
      lastSentBytes = waybill_curl_size(easy, CURLINFO_SIZE_UPLOAD_T)
      let arrived = lastSentBytes - sockets.unacknowledgedBytes(of: easy)
      return deadline.isOver(arrived: arrived, of: body?.count ?? 0, after: now - began)
    }

    /// Bytes sent, when there are more than last told and the interval is over. `isLate(at:)` has
    /// looked just before.
    func dueProgress(at now: ContinuousClock.Instant, interval: Duration) -> Int64? {
      let sent = min(lastSentBytes, body?.count ?? 0)
      // After a rewind libcurl counts from 0 again; what was told stands until it is passed.
      guard sent > reportedBytes, now >= nextReport else { return nil }
      reportedBytes = sent
      nextReport = now + interval
      return sent
    }
  }

  extension NoReply {
    /// What a libcurl code says about the request, with what the handle knows besides.
    init(curlCode code: CURLcode, of easy: UnsafeMutableRawPointer) {
      switch code {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .offline
      case CURLE_COULDNT_CONNECT:
        let isRefused = waybill_curl_integer(easy, CURLINFO_OS_ERRNO) == Int64(ECONNREFUSED)
        self = isRefused ? .refused : .offline
      case CURLE_OPERATION_TIMEDOUT: self = .timedOut
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CONNECT_ERROR,
        CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
        self = .untrusted
      case CURLE_READ_ERROR: self = .unreadableFile
      case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED, CURLE_BAD_FUNCTION_ARGUMENT,
        CURLE_NOT_BUILT_IN, CURLE_FAILED_INIT:
        self = .unusable
      case CURLE_UNSUPPORTED_PROTOCOL:
        // Also the code for a reply that is not HTTP, and then a request has gone out.
        self = waybill_curl_integer(easy, CURLINFO_REQUEST_SIZE) > 0 ? .dropped : .unusable
      default: self = .dropped
      }
    }
  }
#endif
