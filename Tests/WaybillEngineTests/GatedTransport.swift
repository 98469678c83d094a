#if os(Linux)
  import WaybillEngine
  import WaybillModel
  import WaybillSystem

  /// The real transport, with a gate before parts and one before commits: what a test wants to see
  /// stays as it is until it opens the gate.
  final class GatedTransport: Transport {
    enum Gate: Sendable { case parts, commits }

    private struct State {
      var passes: [Gate: Int] = [:]
      var waiting: [Gate: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let base = CurlTransport(options: .test)
    private let state: Locked<State>
    var events: AsyncStream<TransportEvent> { base.events }
    var sendsSlices: Bool { base.sendsSlices }

    /// - Parameter closed: the gates that are closed at first.
    init(closed: Set<Gate>) {
      state = Locked(State(passes: Dictionary(uniqueKeysWithValues: closed.map { ($0, 0) })))
    }

    /// Lets some requests through, or all from now on.
    func open(_ gate: Gate, for count: Int? = nil) {
      let passing = state.withLock { state in
        let waiting = state.waiting[gate] ?? []
        let passing = waiting.prefix(count ?? waiting.count)
        state.waiting[gate] = Array(waiting.dropFirst(passing.count))
        state.passes[gate] = count.map { $0 - passing.count }
        return passing
      }
      for waiter in passing { waiter.resume() }
    }

    private func pass(_ gate: Gate) async {
      await withCheckedContinuation { waiter in
        let isOpen = state.withLock { state in
          guard let passes = state.passes[gate] else { return true }
          if passes > 0 {
            state.passes[gate] = passes - 1
            return true
          }
          state.waiting[gate, default: []].append(waiter)
          return false
        }
        if isOpen { waiter.resume() }
      }
    }

    func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      await pass(.parts)
      await base.start(description, request)
    }

    func call(_ request: HTTPRequest) async -> HTTPOutcome {
      if request.url.hasSuffix("/commit") { await pass(.commits) }
      return await base.call(request)
    }

    func liveTransfers() async -> [TransferDescription] { await base.liveTransfers() }
    func cancel(_ description: TransferDescription) async { await base.cancel(description) }
    func shutDown() async { await base.shutDown() }
  }
#endif
