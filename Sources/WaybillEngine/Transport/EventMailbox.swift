internal import WaybillModel
internal import WaybillSystem

/// Events on their way to the one consumer of a transport.
///
/// Completions are never dropped. Of each transfer at most one progress waits: a newer one takes
/// its place, so a slow consumer costs two entries for each transfer and no more.
final class EventMailbox: Sendable {
  private typealias Consumer = CheckedContinuation<TransportEvent?, Never>

  private enum Entry {
    /// The number waits in `progress`, so that a newer one can replace it.
    case progress(Ticket)
    case event(TransportEvent)
  }

  private struct State {
    var entries: [Entry] = []
    var head = 0
    var progress: [Ticket: (description: TransferDescription, sent: Int64)] = [:]
    var consumer: Consumer?
    var isFinished = false
    var isAbandoned = false

    mutating func takeConsumer() -> Consumer? {
      defer { consumer = nil }
      return consumer
    }

    mutating func pop() -> TransportEvent? {
      guard head < entries.count else { return nil }
      let entry = entries[head]
      head += 1
      if head == entries.count {
        entries.removeAll(keepingCapacity: head <= 1024)
        head = 0
      } else if head >= 1024 {
        entries.removeFirst(head)
        head = 0
      }
      switch entry {
      case .event(let event): return event
      case .progress(let ticket):
        guard let latest = progress.removeValue(forKey: ticket) else {
          preconditionFailure("a progress entry without its number: each entry has exactly one")
        }
        return .progress(latest.description, sent: latest.sent)
      }
    }
  }

  private let state = Locked(State())

  /// The stream that empties this mailbox; it ends after `finish`, or when its consumer is
  /// cancelled.
  func makeStream() -> AsyncStream<TransportEvent> {
    AsyncStream(unfolding: { await self.next() }, onCancel: { self.abandon() })
  }

  func post(progress sent: Int64, of description: TransferDescription, ticket: Ticket) {
    deliver { state in
      if state.progress.updateValue((description, sent), forKey: ticket) == nil {
        state.entries.append(.progress(ticket))
      }
    }
  }

  func post(completion outcome: HTTPOutcome, of description: TransferDescription) {
    deliver { $0.entries.append(.event(.completed(description, outcome))) }
  }

  /// The transfers whose completion nobody has taken yet, oldest first.
  var waitingCompletions: [TransferDescription] {
    state.withLock { state in
      state.entries[state.head...].compactMap { entry in
        if case .event(.completed(let description, _)) = entry { description } else { nil }
      }
    }
  }

  /// Lets the stream end once what waits has been taken.
  func finish() {
    let consumer = state.withLock { state in
      state.isFinished = true
      // A consumer waits only while there is nothing to take.
      return state.takeConsumer()
    }
    consumer?.resume(returning: nil)
  }

  private func deliver(_ put: (inout State) -> Void) {
    let handover = state.withLock {
      state -> (Consumer, TransportEvent)? in
      guard !state.isFinished, !state.isAbandoned else { return nil }
      put(&state)
      guard state.consumer != nil, let event = state.pop(), let consumer = state.takeConsumer()
      else { return nil }
      return (consumer, event)
    }
    if let (consumer, event) = handover { consumer.resume(returning: event) }
  }

  private func next() async -> TransportEvent? {
    await withCheckedContinuation { consumer in
      let answer = state.withLock { state -> TransportEvent?? in
        if state.isAbandoned { return .some(nil) }
        if let event = state.pop() { return event }
        if state.isFinished { return .some(nil) }
        precondition(state.consumer == nil, "a transport's events have one consumer, not two")
        state.consumer = consumer
        return nil
      }
      if let answer { consumer.resume(returning: answer) }
    }
  }

  private func abandon() {
    let consumer = state.withLock { state in
      let consumer = state.takeConsumer()
      state = State()
      state.isAbandoned = true
      return consumer
    }
    consumer?.resume(returning: nil)
  }
}

/// Tells one request from every other one of its transport, also from an earlier one of the same
/// description.
struct Ticket: Hashable, Sendable {
  let number: UInt64
}
