public import WaybillModel
internal import WaybillSystem

/// The events of a ledger as they are recorded, by whichever process, page by page.
///
/// Each event comes once and in order. Between pages nothing is held: no read, and no event that
/// nobody has asked for, so a slow consumer gets fuller pages and never keeps the write-ahead log
/// from being copied. It ends when the consumer's task is cancelled or the reader is closed.
public struct EventUpdates: AsyncSequence, Sendable {
  let reader: LedgerReader
  let query: EventQuery

  /// Begins behind the query's `after`.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, query: query) }

  /// Gives pages of new events, each with at least one.
  public struct Iterator: AsyncIteratorProtocol {
    /// How often the log is looked at though nobody told of a commit, in milliseconds.
    static let pollMilliseconds = 500

    private let reader: LedgerReader
    private var query: EventQuery
    private let changes: FileChanges
    private var signals: AsyncStream<Void>.Iterator

    init(reader: LedgerReader, query: EventQuery) {
      self.reader = reader
      self.query = query
      // Watched before the first look, so that nothing comes in between.
      changes = FileChanges(
        path: reader.changeFile, everyMilliseconds: Iterator.pollMilliseconds)
      signals = changes.signals.makeAsyncIterator()
    }

    /// The next events; nil once the consumer is cancelled or the reader is closed.
    ///
    /// - Throws: `LedgerError` when the ledger cannot be read.
    public mutating func next() async throws(LedgerError) -> [RecordedEvent]? {
      do throws(LedgerError) {
        while !Task.isCancelled {
          if let page = try await page() { return page }
          guard await signals.next(isolation: #isolation) != nil else { return nil }
        }
        return nil
      } catch  where error.code == .closed {
        return nil
      }
    }

    private mutating func page() async throws(LedgerError) -> [RecordedEvent]? {
      let head = try await reader.head()
      guard head > query.after ?? .start else { return nil }
      let events = try await reader.events(query)
      // A page that is not full has everything up to the head, so that events nobody asked for are
      // not looked through again.
      let isFull = events.count == LedgerReader.maximumPage
      let last = events.last?.position ?? .start
      query.after = isFull ? last : Swift.max(last, head)
      return events.isEmpty ? nil : events
    }
  }
}

extension LedgerReader {
  /// Follows the log.
  ///
  /// - Parameter query: which events; `after` says where it begins. `before` and `isReversed` have
  ///   no meaning here and are left aside.
  public nonisolated func updates(_ query: EventQuery = EventQuery()) -> EventUpdates {
    var forward = query
    forward.before = nil
    forward.isReversed = false
    return EventUpdates(reader: self, query: forward)
  }
}
