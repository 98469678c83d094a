#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A value behind a lock. `Synchronization.Mutex` needs iOS 18, this house supports 17.
final class Guarded<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `body` with the value while no other thread can; `body` must not lock again.
  func withLock<T, E: Error>(_ body: (inout Value) throws(E) -> T) throws(E) -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
