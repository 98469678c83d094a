#if canImport(Darwin)
  // Not built on Linux.
  public import Foundation
  internal import WaybillModel

  extension URLSessionTransport {
    /// Refuses every redirect: a 3xx is a reply. Called for calls only.
    public func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }

    /// Tells of progress, at most twice a second for each task.
    public func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
      totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
      guard let description = task.taskDescription.flatMap(TransferDescription.init) else { return }
      let now = ContinuousClock.now
      let isDue = state.withLock { state in
        if let last = state.reported[task.taskIdentifier],
          now - last.time < .milliseconds(500)
            || totalBytesSent <= last.sent
        {
          return false
        }
        state.reported[task.taskIdentifier] = (now, totalBytesSent)
        return true
      }
      guard isDue else { return }
      mailbox.post(
        progress: totalBytesSent, of: description,
        ticket: Ticket(number: UInt64(task.taskIdentifier)))
    }

    /// Keeps the first bytes of a reply and ends a task whose server sends more.
    public func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
      let isTruncated = state.withLock { state in
        var reply = state.replies[dataTask.taskIdentifier] ?? ([], false)
        let room = HTTPReply.maximumBodyBytes - reply.body.count
        reply.body.append(contentsOf: data.prefix(room))
        reply.isTruncated = reply.isTruncated || data.count > room
        state.replies[dataTask.taskIdentifier] = reply
        return reply.isTruncated
      }
      if isTruncated { dataTask.cancel() }
    }

    /// Hands on what became of a transfer, also one that an earlier process started.
    public func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      guard let description = task.taskDescription.flatMap(TransferDescription.init) else { return }
      let reply = state.withLock { state in
        state.reported[task.taskIdentifier] = nil
        return state.replies.removeValue(forKey: task.taskIdentifier) ?? ([], false)
      }
      let outcome: HTTPOutcome
      if let error, !reply.isTruncated {
        outcome = .noReply(NoReply(error))
      } else if task.currentRequest?.url != task.originalRequest?.url {
        outcome = .noReply(.offline)
      } else {
        outcome = HTTPOutcome(task.response, reply.body, isTruncated: reply.isTruncated)
      }
      mailbox.post(completion: outcome, of: description)
    }

    /// Passes on that the system has delivered all results of a past process.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
      didDeliverAll()
    }
  }

  extension URLRequest {
    /// The request without a file body, which is a task's; nil when it cannot be used.
    init?(_ request: HTTPRequest) {
      guard let url = URL(string: request.url), url.scheme == "https" || url.scheme == "http",
        url.user == nil,
        request.headers.allSatisfy({ header in
          !(header.name + header.value).unicodeScalars.contains {
            "\r\n\0".unicodeScalars.contains($0)
          }
        })
      else { return nil }
      self.init(url: url)
      httpMethod = request.method.rawValue
      for header in request.headers { addValue(header.value, forHTTPHeaderField: header.name) }
      if case .bytes(let bytes) = request.body { httpBody = Data(bytes) }
    }
  }

  extension HTTPOutcome {
    init(_ response: URLResponse?, _ body: [UInt8], isTruncated: Bool) {
      guard let response = response as? HTTPURLResponse else {
        self = .noReply(.dropped)
        return
      }
      let headers = response.allHeaderFields.compactMap { name, value in
        (name as? String).map { HTTPHeader($0, "\(value)") }
      }
      self = .reply(
        HTTPReply(
          status: response.statusCode, headers: headers, body: body, isTruncated: isTruncated))
    }
  }

  extension NoReply {
    /// What an error of URLSession says about the request; its text is never kept.
    init(_ error: any Error) {
      switch (error as? URLError)?.code {
      case .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .dataNotAllowed,
        .internationalRoamingOff, .callIsActive:
        self = .offline
      case .cannotConnectToHost: self = .refused
      case .timedOut: self = .timedOut
      case .cancelled: self = .cancelled
      case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired,
        .appTransportSecurityRequiresSecureConnection:
        self = .untrusted
      case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .dataLengthExceedsMaximum:
        self = .unreadableFile
      case .badURL, .unsupportedURL: self = .unusable
      default: self = .dropped
      }
    }
  }
#endif
