package import WaybillModel

/// What reading a whole input came to.
package struct TraceVerification: Sendable {
  /// What each trace came to that has been read to its end; one for a file of ours.
  package let receipts: [TraceReceipt]
  /// The first thing that is wrong; nil when the input is whole in every way.
  package let finding: TraceFinding?
  /// How many events were good.
  package let eventCount: Int64

  /// Whether nothing at all is wrong.
  package var isWhole: Bool { finding == nil }

  /// Reads an input to its end, or to its damage.
  ///
  /// - Parameters:
  ///   - source: the input.
  ///   - limits: where to stop; none for a file of ours.
  ///   - visit: is given each good event, in order.
  package init(
    _ source: TraceSource, limits: TraceLimits = .none,
    visit: (RecordedEvent) -> Void = { _ in }
  ) {
    let reader = TraceReader(source, limits: limits)
    var receipts: [TraceReceipt] = []
    var eventCount: Int64 = 0
    var damage: TraceFinding?
    do throws(TraceFinding) {
      while let item = try reader.next() {
        switch item {
        case .header: break
        case .event(let event):
          eventCount += 1
          visit(event)
        case .end(let receipt): receipts.append(receipt)
        }
      }
    } catch {
      damage = error
    }
    self.receipts = receipts
    self.eventCount = eventCount
    finding = reader.remarks.first ?? damage
  }
}
