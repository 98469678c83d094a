internal import Dispatch
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Cuts off clients that hold a connection without getting on: connections are few, and the
/// library's own limit is on silence alone, so a byte a minute would keep one for ever.
///
/// - A head must be whole within `headSeconds` of the connection, and on one that is used again
///   within `idleSeconds` more of the reply before.
/// - A body must bring `minimumBytesPerSecond` in each stretch of `bodySeconds`.
/// - A reply must be taken within `bodySeconds` and the time it needs at that speed.
///
/// No worker waits for a client, so a slow one costs others nothing but its connection.
final class SlowClients: Sendable {
  private enum Phase {
    case head(deadline: UInt64)
    /// A stretch of a body, with what it has brought so far.
    case body(since: UInt64, bytes: Int64)
    /// The server is at work.
    case work
    case reply(deadline: UInt64)
  }

  private let phases = Locked<[Int32: Phase]>([:])
  private let head: UInt64
  private let idle: UInt64
  private let body: UInt64
  private let bytesPerSecond: Int64
  // Made and ended by the one who owns this.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer

  /// Looks four times a second, until `stop`.
  init(_ options: ServerOptions) {
    let second: UInt64 = 1_000_000_000
    head = UInt64(options.headSeconds) * second
    idle = UInt64(options.idleSeconds) * second
    bytesPerSecond = options.minimumBytesPerSecond
    body = UInt64(options.bodySeconds) * second
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "waybill.slow"))
    timer.schedule(deadline: .now() + 1, repeating: .milliseconds(250), leeway: .milliseconds(100))
    timer.setEventHandler { @Sendable [weak self] in self?.cut() }
    timer.activate()
  }

  deinit { timer.cancel() }

  func stop() { timer.cancel() }

  // MARK: What a connection does

  func opened(_ socket: Int32) {
    phases.withLock { $0[socket] = .head(deadline: SlowClients.now + head) }
  }

  /// The head is there; a body may follow.
  func headCame(_ socket: Int32) { set(socket, .body(since: SlowClients.now, bytes: 0)) }

  func bodyCame(_ socket: Int32, _ count: Int) {
    phases.withLock { phases in
      guard case .body(let since, let bytes) = phases[socket] else { return }
      phases[socket] = .body(since: since, bytes: bytes + Int64(count))
    }
  }

  func working(_ socket: Int32) { set(socket, .work) }

  /// A reply of so many bytes is on its way; nil for one that a script makes slow itself.
  func replying(_ socket: Int32, _ count: Int64?) {
    guard let count else { return set(socket, .work) }
    let seconds = UInt64(max(count, 0) / bytesPerSecond)
    set(socket, .reply(deadline: SlowClients.now + body + seconds * 1_000_000_000))
  }

  /// The request has come to its end; another one may follow.
  func ended(_ socket: Int32) { set(socket, .head(deadline: SlowClients.now + idle + head)) }

  /// Called before the socket is closed: afterwards its number may be another's.
  func closing(_ socket: Int32) { phases.withLock { _ = $0.removeValue(forKey: socket) } }

  /// Only of a connection that is open: the number of a closed one is soon another's.
  private func set(_ socket: Int32, _ phase: Phase) {
    phases.withLock { phases in
      guard phases[socket] != nil else { return }
      phases[socket] = phase
    }
  }

  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  // MARK: Cutting

  private func cut() {
    let now = SlowClients.now
    let least = Int64(body / 1_000_000_000) * bytesPerSecond
    phases.withLock { phases in
      for (socket, phase) in phases {
        switch phase {
        case .head(let deadline), .reply(let deadline):
          guard now > deadline else { continue }
        case .body(let since, let bytes):
          guard now > since + body else { continue }
          guard bytes < least else {
            phases[socket] = .body(since: now, bytes: 0)
            continue
          }
        case .work: continue
        }
        // The library sees the end of the connection and closes it.
        shutdown(socket, Int32(SHUT_RDWR))
        phases[socket] = .work
      }
    }
  }
}
