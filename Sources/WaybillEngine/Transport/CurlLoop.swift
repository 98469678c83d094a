#if os(Linux)
  internal import CCurl
  internal import WaybillModel

  /// The loop that moves bytes. Lives and dies on one thread; nothing in it is shared but the inbox
  /// and the mailbox.
  final class CurlLoop {
    // libcurl counts its users itself; it stays ready until the process ends.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    private static let idlePollMilliseconds: Int32 = 60_000
    private static let maximumSpareHandles = 8

    /// The version of the library in this process.
    static var libraryVersion: String {
      curl_version_info(CURLVERSION_FIRST).pointee.version.map { String(cString: $0) } ?? "unknown"
    }

    private let options: CurlTransport.Options
    private let inbox: RequestInbox
    private let mailbox: EventMailbox
    private let multi: UnsafeMutableRawPointer
    private let sockets = CurlSockets()

    private var active: [Ticket: CurlExchange] = [:]
    private var activeCallCount = 0
    private var waitingCalls: [RequestInbox.Submission] = []
    private var waitingTransfers: [RequestInbox.Submission] = []
    private var spareHandles: [UnsafeMutableRawPointer] = []
    private var nextTick = ContinuousClock.now

    init(options: CurlTransport.Options, inbox: RequestInbox, mailbox: EventMailbox) {
      guard CurlLoop.isReady, let multi = curl_multi_init() else {
        preconditionFailure("libcurl does not start; is there memory left?")
      }
      self.options = options
      self.inbox = inbox
      self.mailbox = mailbox
      self.multi = multi
      let connections = Int64(max(options.maximumConnections, 3))
      _ = waybill_curl_multi_set(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections)
      _ = waybill_curl_multi_set(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
      _ = waybill_curl_multi_set(multi, CURLMOPT_MAXCONNECTS, connections)
    }

    /// Runs until the inbox is closed, then ends everything.
    func run() {
      inbox.attach(multi)
      while true {
        let orders = inbox.takeOrders()
        accept(orders.submissions)
        if orders.isClosed { break }
        for ticket in orders.stops { stop(ticket, .cancelled) }
        admitWaiting()
        var runningCount: Int32 = 0
        curl_multi_perform(multi, &runningCount)
        collectEnded()
        admitWaiting()
        lookAtDeadlines()
        curl_multi_poll(multi, nil, 0, pollMilliseconds(), nil)
      }
      endEverything()
    }

    private func pollMilliseconds() -> Int32 {
      guard !active.isEmpty else { return CurlLoop.idlePollMilliseconds }
      let left = ContinuousClock.now.duration(to: nextTick)
      return Int32(min(max(left.wholeMilliseconds, 1), 1_000))
    }

    // MARK: Beginning

    private func accept(_ submissions: [RequestInbox.Submission]) {
      for submission in submissions {
        switch submission.purpose {
        case .call: waitingCalls.append(submission)
        case .transfer: waitingTransfers.append(submission)
        }
      }
    }

    /// Begins what waits, calls first, as far as there are connections. The wait is ours and not
    /// libcurl's, whose timers would run on meanwhile.
    private func admitWaiting() {
      while activeCallCount < options.maximumActiveCalls, !waitingCalls.isEmpty {
        begin(waitingCalls.removeFirst())
      }
      while active.count - activeCallCount < options.maximumActiveTransfers,
        !waitingTransfers.isEmpty
      {
        begin(waitingTransfers.removeFirst())
      }
    }

    private func begin(_ submission: RequestInbox.Submission) {
      guard let easy = spareHandles.popLast() ?? curl_easy_init() else {
        complete(submission, .noReply(.dropped))
        return
      }
      do throws(Unsendable) {
        let exchange = try CurlExchange(
          submission, easy: easy, options: options, sockets: sockets)
        if active.isEmpty { nextTick = .now + options.tick }
        active[submission.ticket] = exchange
        if exchange.isCall { activeCallCount += 1 }
        let code = curl_multi_add_handle(multi, easy)
        if code != CURLM_OK { finish(exchange, .noReply(.unusable)) }
      } catch {
        keep(easy)
        complete(submission, .noReply(error.reason))
      }
    }

    // MARK: Ending

    private func collectEnded() {
      var waitingMessages: Int32 = 0
      while let message = curl_multi_info_read(multi, &waitingMessages) {
        guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
          continue
        }
        // Read before the handle leaves the multi: the message dies with it.
        let code = message.pointee.data.result
        if let exchange = CurlExchange.of(easy) { finish(exchange, exchange.outcome(of: code)) }
      }
    }

    private func stop(_ ticket: Ticket, _ reason: NoReply) {
      if let exchange = active[ticket] {
        finish(exchange, .noReply(reason))
      } else if let index = waitingTransfers.firstIndex(where: { $0.ticket == ticket }) {
        complete(waitingTransfers.remove(at: index), .noReply(reason))
      } else if let index = waitingCalls.firstIndex(where: { $0.ticket == ticket }) {
        complete(waitingCalls.remove(at: index), .noReply(reason))
      }
    }

    private func finish(_ exchange: CurlExchange, _ outcome: HTTPOutcome) {
      curl_multi_remove_handle(multi, exchange.easy)
      keep(exchange.easy)
      exchange.release()
      active[exchange.submission.ticket] = nil
      if exchange.isCall { activeCallCount -= 1 }
      complete(exchange.submission, outcome)
    }

    private func complete(_ submission: RequestInbox.Submission, _ outcome: HTTPOutcome) {
      // Forgotten first: whoever sees the completion may start the same description again.
      inbox.forget(submission)
      switch submission.purpose {
      case .call(let caller): caller.resume(returning: outcome)
      case .transfer(let description): mailbox.post(completion: outcome, of: description)
      }
    }

    private func keep(_ easy: UnsafeMutableRawPointer) {
      if spareHandles.count < CurlLoop.maximumSpareHandles {
        curl_easy_reset(easy)
        spareHandles.append(easy)
      } else {
        curl_easy_cleanup(easy)
      }
    }

    private func endEverything() {
      for ticket in active.keys.sorted(by: { $0.number < $1.number }) { stop(ticket, .cancelled) }
      for submission in waitingCalls + waitingTransfers {
        complete(submission, .noReply(.cancelled))
      }
      waitingCalls = []
      waitingTransfers = []
      inbox.detach()
      for easy in spareHandles { curl_easy_cleanup(easy) }
      spareHandles = []
      curl_multi_cleanup(multi)
      mailbox.finish()
      inbox.announceEnd()
    }

    // MARK: Watching

    private func lookAtDeadlines() {
      guard !active.isEmpty else { return }
      let now = ContinuousClock.now
      guard now >= nextTick else { return }
      nextTick = now + options.tick
      let late = active.values.filter { isLate($0, now) }.map(\.submission.ticket)
      let lateWaiting = waitingCalls.filter { now - $0.submitted >= options.callTimeout }
      for ticket in late + lateWaiting.map(\.ticket) { stop(ticket, .timedOut) }
    }

    private func isLate(_ exchange: CurlExchange, _ now: ContinuousClock.Instant) -> Bool {
      switch exchange.submission.purpose {
      case .call: return now - exchange.submission.submitted >= options.callTimeout
      case .transfer(let description):
        let isLate = exchange.isLate(at: now)
        if let sent = exchange.dueProgress(at: now, interval: options.progressInterval) {
          mailbox.post(progress: sent, of: description, ticket: exchange.submission.ticket)
        }
        return isLate
      }
    }
  }
#endif
