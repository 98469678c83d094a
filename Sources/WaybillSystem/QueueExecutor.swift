internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Runs an actor's jobs one after the other on a queue of its own, so that whatever blocks in them
/// (SQLite, a terminal stopped by Ctrl-S) never holds a thread of the cooperative pool.
///
/// A call costs two changes of thread, 4 to 8 µs: give the actor batches. (`DispatchSerialQueue`,
/// which is an executor on Apple systems, does not exist on Linux.)
package final class QueueExecutor: SerialExecutor, Sendable {
  private let queue: DispatchQueue
  private let process = getpid()

  /// Makes the queue; `label` is what a debugger shows.
  package init(label: String) { queue = DispatchQueue(label: label) }

  /// Adds a job. What the actor holds belongs to the process that made it: a forked child is
  /// stopped at once.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    afterQueued { @Sendable in job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Runs a block behind everything that is queued now.
  package func afterQueued(_ block: @escaping @Sendable () -> Void) {
    precondition(
      getpid() == process, "an actor was called in a forked child; open it anew after exec")
    queue.async(execute: block)
  }
}
