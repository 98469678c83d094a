public import WaybillModel

/// What whoever follows the queue does not know yet.
public struct QueueUpdate: Equatable, Sendable {
  /// How an update stands to those before it.
  public enum Kind: Equatable, Sendable {
    /// The first rows of the queue as it is; what is not in this replay is no longer there.
    case beginning
    /// More rows of the queue as it is.
    case page
    /// What has changed since.
    case change
  }

  /// Whether it tells how the queue is, or what has changed in it.
  public let kind: Kind
  /// Whether every row there is has been told by now; false while pages of a replay follow.
  public let isWhole: Bool
  /// Rows in the order of adding, at most a page of `LedgerReader.maximumPage` and those with parts
  /// on their way.
  public let rows: [QueueRow]
  /// Uploads that are not in the queue any more, or never were: they ended as duplicates.
  public let left: [UploadID]
  /// What all uploads wait for; the rows' own states do not speak of it.
  public let waiting: Waiting?
}

/// The queue as it is, page by page, followed by its changes for as long as someone asks.
///
/// Nothing is buffered: each `next` reads what has changed since the last one, so a slow consumer
/// gets fewer, larger updates. What is read is what has changed, however long the queue is. It ends
/// when the consumer's task is cancelled or the ledger closes.
public struct QueueUpdates: AsyncSequence, Sendable {
  let ledger: Ledger

  /// Starts with the queue as it is.
  public func makeAsyncIterator() -> Iterator { Iterator(ledger: ledger) }

  /// Gives the queue first, then changes.
  public struct Iterator: AsyncIteratorProtocol {
    let ledger: Ledger
    private var seen: UInt64 = 0
    /// Where changes begin; nil while the queue is replayed from its first row.
    private var position: GlobalPosition?
    /// The end of the last page of a replay that goes on.
    private var place: GlobalPosition?
    private var waiting: Waiting?

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
        guard let position, place == nil else { return try await page() }
        // What one look did not reach is there already; else something has to happen first.
        if try await ledger.reader.head() <= position { seen = await ledger.change(since: seen) }
        if Task.isCancelled { return nil }
        if await ledger.isClosed { return nil }
        let changes = try await ledger.reader.queueChanges(since: position)
        self.position = changes.position
        if changes.hasLostRows {
          self.position = nil
          continue
        }
        let isHeldAnew = changes.waiting != waiting
        guard isHeldAnew || !changes.rows.isEmpty || !changes.left.isEmpty else { continue }
        waiting = changes.waiting
        return QueueUpdate(
          kind: .change, isWhole: true, rows: changes.rows, left: changes.left,
          waiting: waiting)
      }
      return nil
    }

    private mutating func page() async throws(LedgerError) -> QueueUpdate? {
      let isFirst = position == nil
      if isFirst {
        seen = await ledger.change(since: .max)
        position = try await ledger.reader.head()
      }
      let page = try await ledger.reader.queuePage(after: place)
      place = page.next
      waiting = page.waiting
      return QueueUpdate(
        kind: isFirst ? .beginning : .page, isWhole: place == nil, rows: page.rows, left: [],
        waiting: waiting)
    }
  }
}

extension Ledger {
  /// The current queue, then its changes; each subscriber begins with a replay of its own.
  public nonisolated func uploads() -> QueueUpdates { QueueUpdates(ledger: self) }
}
