internal import Dispatch

/// Runs an actor's jobs on one serial queue, so that SQLite's waits never hold a thread of the
/// cooperative pool. (`DispatchSerialQueue` as an executor does not exist on Linux.)
final class QueueExecutor: SerialExecutor, Sendable {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Runs a block behind everything that is queued now.
  func afterQueued(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}
