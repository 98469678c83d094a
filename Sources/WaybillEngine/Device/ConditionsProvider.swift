internal import WaybillLedger
public import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Tells an engine what the device says of its network and its power, and what time it is there.
///
/// The engine listens while it runs. `system` asks the device; an app that knows more, or better,
/// tells by `ReportedConditions`.
public struct ConditionsProvider: Sendable {
  let changes: @Sendable () -> AsyncStream<DeviceConditions>
  let utcOffsetMinutes: @Sendable (Timestamp) -> Int

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - utcOffsetMinutes: how far the clock on the wall is ahead of UTC at a moment, in minutes.
  ///   - changes: gives the conditions as they are, at once, and then each time they change, for as
  ///     long as somebody listens. Only the newest need be kept.
  public init(
    utcOffsetMinutes: @escaping @Sendable (Timestamp) -> Int = ConditionsProvider.localOffset,
    changes: @escaping @Sendable () -> AsyncStream<DeviceConditions>
  ) {
    self.changes = changes
    self.utcOffsetMinutes = utcOffsetMinutes
  }

  /// The conditions as they are now; nil where nobody tells.
  public func current() async -> DeviceConditions? {
    for await conditions in changes() { return conditions }
    return nil
  }

  /// Conditions that never change.
  public static func fixed(_ conditions: DeviceConditions) -> ConditionsProvider {
    ConditionsProvider {
      let (stream, listener) = AsyncStream.makeStream(of: DeviceConditions.self)
      listener.yield(conditions)
      return stream
    }
  }

  /// How far the local time of this process is ahead of UTC at a moment, in minutes.
  @Sendable public static func localOffset(at moment: Timestamp) -> Int {
    var seconds = time_t(moment.seconds)
    var parts = tm()
    // The zone may have been changed since the process began.
    tzset()
    return localtime_r(&seconds, &parts) == nil ? 0 : Int(parts.tm_gmtoff) / 60
  }
}

/// Conditions that an app reports itself. Whoever listens is told the newest ones first.
public final class ReportedConditions: Sendable {
  private struct State {
    var newest: DeviceConditions
    var listeners: [Int: AsyncStream<DeviceConditions>.Continuation] = [:]
    var count = 0
  }

  private let state: Locked<State>

  /// Makes a reporter of conditions as they are now.
  public init(_ conditions: DeviceConditions) { state = Locked(State(newest: conditions)) }

  /// The conditions as they were reported last; setting them reports others.
  public var newest: DeviceConditions {
    get { state.withLock { $0.newest } }
    set {
      state.withLock { state in
        state.newest = newValue
        for listener in state.listeners.values { listener.yield(newValue) }
      }
    }
  }

  /// A provider that tells what is reported here.
  public var provider: ConditionsProvider {
    ConditionsProvider { [self] in
      let (stream, listener) = AsyncStream.makeStream(
        of: DeviceConditions.self, bufferingPolicy: .bufferingNewest(1))
      let number = state.withLock { state in
        listener.yield(state.newest)
        state.count += 1
        state.listeners[state.count] = listener
        return state.count
      }
      listener.onTermination = { _ in
        self.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
      return stream
    }
  }
}
