public import WaybillModel

/// What the queue looks like, and then what has changed in it.
public enum QueueUpdate: Sendable {
  /// Every row, in the order of adding: at first, and whenever uploads have left the queue.
  case snapshot([QueuedUpload])
  /// The rows that have changed since, in the order of adding.
  case changed([QueuedUpload])
}

/// The queue as it is, followed by its changes, for as long as someone asks.
///
/// Nothing is buffered: each `next` reads what has changed since the last one, so a slow consumer
/// gets fewer, larger updates. It ends when the consumer's task is cancelled or the ledger closes.
public struct QueueUpdates: AsyncSequence, Sendable {
  let ledger: Ledger

  /// Starts with a snapshot.
  public func makeAsyncIterator() -> Iterator { Iterator(ledger: ledger) }

  /// Gives a snapshot first, then changes.
  public struct Iterator: AsyncIteratorProtocol {
    let ledger: Ledger
    private var seen: UInt64 = 0
    private var position: GlobalPosition?

    init(ledger: Ledger) { self.ledger = ledger }

    /// The next update; nil once the consumer is cancelled or the ledger is closed.
    ///
    /// - Throws: `LedgerError` when the ledger cannot be read.
    public mutating func next() async throws(LedgerError) -> QueueUpdate? {
      do throws(LedgerError) {
        return try await nextUpdate()
      } catch  where error.code == .closed {
        return nil
      }
    }

    private mutating func nextUpdate() async throws(LedgerError) -> QueueUpdate? {
      while !Task.isCancelled {
        guard let position else {
          seen = await ledger.change(since: .max)
          let (rows, head) = try await ledger.reader.wholeQueue()
          self.position = head
          return .snapshot(rows)
        }
        seen = await ledger.change(since: seen)
        if Task.isCancelled { return nil }
        if await ledger.isClosed { return nil }
        if try await ledger.reader.hasLost(since: position) {
          let (rows, head) = try await ledger.reader.wholeQueue()
          self.position = head
          return .snapshot(rows)
        }
        let (rows, head) = try await ledger.reader.queueChanges(since: position)
        self.position = head
        if !rows.isEmpty { return .changed(rows) }
      }
      return nil
    }
  }
}

extension Ledger {
  /// The current queue, then its changes; each subscriber begins with a snapshot of its own.
  public nonisolated func uploads() -> QueueUpdates { QueueUpdates(ledger: self) }
}
