internal import Dispatch
internal import WaybillSystem

/// What all requests share: the service, who may call, the fault script, the counts, the workers.
final class RequestDesk: Sendable {
  let service: UploadService
  let tokens: AccessTokens
  let faults: FaultCounter
  private let workers = WorkerPool(workers: 8)
  private let counts = Locked(ServerCounts())
  // Entered by each job, so that stopping can wait for the last one.
  private let jobs = DispatchGroup()
  private let delayed = Locked(Delayed())

  private struct Delayed {
    var next = 0
    var waiting: [Int: @Sendable (Bool) -> Void] = [:]
    var isClosed = false
  }

  init(_ options: ServerOptions) throws(ServerError) {
    service = try UploadService(options)
    tokens = options.tokens
    faults = FaultCounter(options.faults)
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
    let start: @Sendable (Bool) -> Void = { isWanted in
      workers.submit {
        if isWanted { exchange.finish() } else { exchange.giveUp() }
        resume()
        jobs.leave()
      }
    }
    let delay = exchange.delayMilliseconds
    let ticket = delayed.withLock { delayed -> Int? in
      guard !delayed.isClosed else { return nil }
      jobs.enter()
      delayed.next += 1
      if delay > 0 { delayed.waiting[delayed.next] = start }
      return delayed.next
    }
    guard let ticket else { return false }
    guard delay > 0 else {
      start(true)
      return true
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(delay)) {
      @Sendable [self] in
      delayed.withLock { $0.waiting.removeValue(forKey: ticket) }?(true)
    }
    return true
  }

  /// Takes no more work, gives up what is delayed and waits for what has begun.
  func close() {
    service.beginStopping()
    let waiting = delayed.withLock { delayed in
      delayed.isClosed = true
      defer { delayed.waiting = [:] }
      return delayed.waiting.values
    }
    for start in waiting { start(false) }
    jobs.wait()
  }
}
