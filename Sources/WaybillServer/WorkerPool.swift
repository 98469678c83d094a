internal import Dispatch
internal import WaybillSystem

/// A fixed number of threads for work that waits for the disk, so that threads that talk to
/// clients never do. What waits is bounded by the number of connections: one job each.
final class WorkerPool: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var idle: [DispatchQueue]
    var waiting: [Job] = []
  }

  private let state: Locked<State>

  init(workers: Int) {
    // Serial queues get their own threads, also while others wait for the disk.
    state = Locked(State(idle: (0..<workers).map { DispatchQueue(label: "waybill.worker.\($0)") }))
  }

  func submit(_ job: @escaping Job) {
    let queue = state.withLock { state -> DispatchQueue? in
      guard let queue = state.idle.popLast() else {
        state.waiting.append(job)
        return nil
      }
      return queue
    }
    guard let queue else { return }
    queue.async { @Sendable in
      var current: Job? = job
      while let running = current {
        running()
        current = self.nextJob(for: queue)
      }
    }
  }

  private func nextJob(for queue: DispatchQueue) -> Job? {
    state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.idle.append(queue)
      return nil
    }
  }
}
