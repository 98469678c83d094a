internal import Dispatch
internal import WaybillSystem

/// What all requests share: the service, who may call, the fault script, the counts, the workers.
final class RequestDesk: Sendable {
  let service: UploadService
  let tokens: AccessTokens
  let faults: FaultCounter
  let rates: RateLimits
  private let sweepMilliseconds: Int
  private let workers = WorkerPool(workers: 8)
  private let counts = Locked(ServerCounts())
  // Entered by each job, so that stopping can wait for the last one.
  private let jobs = DispatchGroup()
  /// What waits for its time: whole requests, and replies between two of their bytes.
  let late = LateWork()

  init(_ options: ServerOptions) throws(ServerError) {
    service = try UploadService(options)
    tokens = options.tokens
    faults = FaultCounter(options.faults)
    rates = RateLimits(options)
    sweepMilliseconds = Int(min(max(options.sessionLifetimeSeconds, 1), 60)) * 1000
    sweepLater()
  }

  /// Ends sessions whose time is over, also when nobody asks for them any more.
  private func sweepLater() {
    _ = late.submit(after: sweepMilliseconds) { [weak self] isWanted in
      guard isWanted, let self else { return }
      jobs.enter()
      workers.submit {
        self.service.sweep()
        self.jobs.leave()
        self.sweepLater()
      }
    }
  }

  // MARK: Counts

  func countRequest(_ endpoint: ServerEndpoint) {
    counts.withLock { $0.requests[endpoint, default: 0] += 1 }
  }

  func countBody(_ bytes: Int, endpoint: ServerEndpoint?) {
    counts.withLock { counts in
      counts.bodyBytes += Int64(bytes)
      if endpoint == .part { counts.partBodyBytes += Int64(bytes) }
    }
  }

  func countReply(_ status: Int) { counts.withLock { $0.replies[status, default: 0] += 1 } }

  var snapshot: ServerCounts {
    var snapshot = counts.withLock { $0 }
    snapshot.commits = service.commits
    return snapshot
  }

  // MARK: Work

  /// Runs the rest of a request on a worker, later if the script says so, and then `resume`.
  /// False when the server takes no more work.
  func handle(_ exchange: Exchange, resume: @escaping @Sendable () -> Void) -> Bool {
    let jobs = self.jobs
    let workers = self.workers
    jobs.enter()
    let isTaken = late.submit(after: exchange.delayMilliseconds) { isWanted in
      workers.submit {
        if isWanted { exchange.finish() } else { exchange.giveUp() }
        resume()
        jobs.leave()
      }
    }
    if !isTaken { jobs.leave() }
    return isTaken
  }

  /// Takes no more work, gives up what is delayed and waits for what has begun.
  func close() {
    service.beginStopping()
    late.close()
    jobs.wait()
  }
}
