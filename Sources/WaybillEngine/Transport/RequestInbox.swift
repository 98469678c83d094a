#if os(Linux)
  internal import CCurl
  internal import WaybillModel
  internal import WaybillSystem

  /// What callers hand to the loop thread, and what they may ask about it.
  ///
  /// Bounded by `maximumRequests`: every list in here is a part of the requests that have been
  /// taken and have not ended.
  final class RequestInbox: Sendable {
    /// One request on its way to the loop thread.
    struct Submission: Sendable {
      let ticket: Ticket
      let purpose: Purpose
      let request: HTTPRequest
      let submitted: ContinuousClock.Instant
    }

    /// Who waits for the outcome.
    enum Purpose: Sendable {
      case transfer(TransferDescription)
      case call(CheckedContinuation<HTTPOutcome, Never>)
    }

    /// What the loop thread takes in one go.
    struct Orders {
      var submissions: [Submission]
      var stops: Set<Ticket>
      var isClosed: Bool
    }

    /// What became of a `start`.
    enum Admission {
      case taken
      case alreadyAlive
      case full
      case closed
    }

    /// A call that is cancelled before it is submitted must not reach the wire.
    private enum CallStage {
      case announced
      case submitted
      case stopped
    }

    private struct State {
      var submissions: [Submission] = []
      var stops: Set<Ticket> = []
      var transfers: [TransferDescription: Ticket] = [:]
      var calls: [Ticket: CallStage] = [:]
      var lastTicket: UInt64 = 0
      var isClosed = false
      var hasEnded = false
      var endWaiters: [CheckedContinuation<Void, Never>] = []
      var multi: UnsafeMutableRawPointer?

      var liveCount: Int { transfers.count + calls.count }

      mutating func makeTicket() -> Ticket {
        lastTicket += 1
        return Ticket(number: lastTicket)
      }

      // Under the lock, because the loop thread takes the handle away before it frees it.
      func wake() {
        if let multi { curl_multi_wakeup(multi) }
      }
    }

    private let maximumRequests: Int
    private let state = Locked(State())

    init(maximumRequests: Int) { self.maximumRequests = maximumRequests }

    // MARK: For callers

    func submit(_ description: TransferDescription, _ request: HTTPRequest) -> Admission {
      state.withLock { state in
        guard !state.isClosed else { return .closed }
        guard state.transfers[description] == nil else { return .alreadyAlive }
        guard state.liveCount < maximumRequests else { return .full }
        let ticket = state.makeTicket()
        state.transfers[description] = ticket
        state.submissions.append(
          Submission(
            ticket: ticket, purpose: .transfer(description), request: request, submitted: .now))
        state.wake()
        return .taken
      }
    }

    /// Announces a call; nil when no more can be taken.
    func announceCall() -> Ticket? {
      state.withLock { state in
        guard !state.isClosed, state.liveCount < maximumRequests else { return nil }
        let ticket = state.makeTicket()
        state.calls[ticket] = .announced
        return ticket
      }
    }

    func submit(
      _ ticket: Ticket, _ request: HTTPRequest,
      _ continuation: CheckedContinuation<HTTPOutcome, Never>
    ) {
      let isTaken = state.withLock { state in
        guard !state.isClosed, state.calls[ticket] == .announced else {
          state.calls[ticket] = nil
          return false
        }
        state.calls[ticket] = .submitted
        state.submissions.append(
          Submission(
            ticket: ticket, purpose: .call(continuation), request: request, submitted: .now))
        state.wake()
        return true
      }
      if !isTaken { continuation.resume(returning: .noReply(.cancelled)) }
    }

    func stopCall(_ ticket: Ticket) {
      state.withLock { state in
        switch state.calls[ticket] {
        case .announced: state.calls[ticket] = .stopped
        case .submitted:
          state.stops.insert(ticket)
          state.wake()
        case .stopped, nil: break
        }
      }
    }

    func stop(_ description: TransferDescription) {
      state.withLock { state in
        guard let ticket = state.transfers[description] else { return }
        state.stops.insert(ticket)
        state.wake()
      }
    }

    func liveTransfers() -> [TransferDescription] {
      state.withLock { state in
        state.transfers.sorted { $0.value.number < $1.value.number }.map(\.key)
      }
    }

    /// Takes nothing more and lets the loop thread end.
    func close() {
      state.withLock { state in
        state.isClosed = true
        state.wake()
      }
    }

    /// Returns when the loop thread has freed all it held.
    func waitForEnd() async {
      await withCheckedContinuation { waiter in
        let hasEnded = state.withLock { state in
          if !state.hasEnded { state.endWaiters.append(waiter) }
          return state.hasEnded
        }
        if hasEnded { waiter.resume() }
      }
    }

    // MARK: For the loop thread

    func attach(_ multi: UnsafeMutableRawPointer) {
      state.withLock { $0.multi = multi }
    }

    /// After this nobody wakes the loop, and its handle may be freed.
    func detach() {
      state.withLock { $0.multi = nil }
    }

    func takeOrders() -> Orders {
      state.withLock { state in
        defer {
          state.submissions.removeAll(keepingCapacity: true)
          state.stops.removeAll()
        }
        return Orders(
          submissions: state.submissions, stops: state.stops, isClosed: state.isClosed)
      }
    }

    /// The request has ended; its description may be started again.
    func forget(_ submission: Submission) {
      state.withLock { state in
        state.stops.remove(submission.ticket)
        switch submission.purpose {
        case .transfer(let description): state.transfers[description] = nil
        case .call: state.calls[submission.ticket] = nil
        }
      }
    }

    func announceEnd() {
      let waiters = state.withLock { state in
        state.hasEnded = true
        defer { state.endWaiters = [] }
        return state.endWaiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }
#endif
