#if canImport(Darwin)
  // Not built on Linux. Written against Apple's documentation of background sessions.
  public import Foundation
  public import WaybillModel
  internal import WaybillSystem

  /// The transport on Apple systems: a background `URLSession`, which the system owns and which
  /// goes on sending while the app does not run.
  ///
  /// A `.file` body must be a part file that holds just its slice, from byte 0. Each task carries
  /// the text of its `TransferDescription`, so that a later process knows what it is about. Calls
  /// follow no redirect. The system always follows those of background tasks; a transfer that ended
  /// at another URL is reported as `.noReply(.offline)`: what answered there is not our server.
  public final class URLSessionTransport: NSObject, Transport, URLSessionDataDelegate {
    /// What has happened since this process took up the session.
    public let events: AsyncStream<TransportEvent>

    /// The system sends whole files only.
    public let sendsSlices = false

    /// The system goes on sending.
    public let outlivesProcess = true

    struct State {
      var sessions: (transfers: URLSession, calls: URLSession)?
      var starting: Set<TransferDescription> = []
      var replies: [Int: (body: [UInt8], isTruncated: Bool)] = [:]
      var reported: [Int: (time: ContinuousClock.Instant, sent: Int64)] = [:]
    }

    let mailbox: EventMailbox
    let state = Locked(State())
    let didDeliverAll: @Sendable () -> Void

    /// Takes up the background session of that name, with the tasks an earlier process left in it.
    ///
    /// - Parameters:
    ///   - identifier: one for each account; two sessions of one name in a process are a bug.
    ///   - userAgent: who we say we are, such as `waybill/1.0`.
    ///   - didDeliverAll: called when the system has no more results of a past process; the
    ///     system's completion handler may be called once these are recorded.
    public init(
      identifier: String, userAgent: String, didDeliverAll: @escaping @Sendable () -> Void
    ) {
      mailbox = EventMailbox()
      events = mailbox.makeStream()
      self.didDeliverAll = didDeliverAll
      super.init()
      let background = URLSessionConfiguration.background(withIdentifier: identifier)
      background.sessionSendsLaunchEvents = true
      let foreground = URLSessionConfiguration.ephemeral
      foreground.timeoutIntervalForResource = 20
      for configuration in [background, foreground] {
        configuration.httpAdditionalHeaders = ["User-Agent": userAgent]
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      }
      let transfers = URLSession(configuration: background, delegate: self, delegateQueue: nil)
      let calls = URLSession(configuration: foreground, delegate: self, delegateQueue: nil)
      state.withLock { $0.sessions = (transfers, calls) }
    }

    /// Hands one part file to the system; its completion arrives in `events`.
    public func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      guard let session = state.withLock({ $0.sessions?.transfers }),
        state.withLock({ $0.starting.insert(description).inserted })
      else { return }
      defer { state.withLock { _ = $0.starting.remove(description) } }
      guard await !liveTransfers().contains(description) else { return }
      guard let outgoing = URLRequest(request), case .file(let slice) = request.body,
        slice.offset == 0
      else {
        mailbox.post(completion: .noReply(.unusable), of: description)
        return
      }
      let file = URL(fileURLWithPath: slice.path)
      let values = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
      guard values?.isRegularFile == true, values?.fileSize.map(Int64.init) == slice.count else {
        mailbox.post(completion: .noReply(.unreadableFile), of: description)
        return
      }
      let task = session.uploadTask(with: outgoing, fromFile: file)
      task.taskDescription = description.description
      task.resume()
    }

    /// Makes one small call and waits for its reply, 20 seconds at the longest.
    public func call(_ request: HTTPRequest) async -> HTTPOutcome {
      guard let session = state.withLock({ $0.sessions?.calls }) else {
        return .noReply(.cancelled)
      }
      guard let outgoing = URLRequest(request) else { return .noReply(.unusable) }
      do {
        let (bytes, response) = try await session.bytes(for: outgoing)
        defer { bytes.task.cancel() }
        var body: [UInt8] = []
        for try await byte in bytes {
          guard body.count < HTTPReply.maximumBodyBytes else {
            return HTTPOutcome(response, body, isTruncated: true)
          }
          body.append(byte)
        }
        return HTTPOutcome(response, body, isTruncated: false)
      } catch {
        return .noReply(Task.isCancelled ? .cancelled : NoReply(error))
      }
    }

    /// The parts in the system's hands, also those of an earlier process.
    public func liveTransfers() async -> [TransferDescription] {
      await liveTasks().compactMap { $0.taskDescription.flatMap(TransferDescription.init) }
    }

    /// Stops one transfer; its completion arrives as `.noReply(.cancelled)`.
    public func cancel(_ description: TransferDescription) async {
      for task in await liveTasks() where task.taskDescription == description.description {
        task.cancel()
      }
    }

    /// Ends calls and `events`; the system goes on with the transfers, whose results then wait for
    /// nobody in this process: the next launch asks the server.
    public func shutDown() async {
      let sessions = state.withLock { state in
        defer { state.sessions = nil }
        return state.sessions
      }
      sessions?.calls.invalidateAndCancel()
      sessions?.transfers.finishTasksAndInvalidate()
      mailbox.finish()
    }

    private func liveTasks() async -> [URLSessionTask] {
      guard let session = state.withLock({ $0.sessions?.transfers }) else { return [] }
      return await session.allTasks.filter { $0.state != .completed }
    }
  }
#endif
