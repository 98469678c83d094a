import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

struct TraceWriterTests {
  @Test func `what was written is read back`() throws {
    var history = History()
    history = history.and(Samples.opened())
    var bytes: [UInt8] = []
    let writer = TraceWriter(
      header: TraceHeader(
        app: "test 1.0", ledgerFormat: 1, first: GlobalPosition(1),
        last: GlobalPosition(Int64(history.log.count))),
      to: TraceSink { bytes += Array($0) })
    try writer.append(history.log[0], chainBefore: .zero)
    for event in history.log.dropFirst() { try writer.append(event) }
    let receipt = try writer.finish()
    var read: [RecordedEvent] = []
    let verification = TraceVerification(.bytes(bytes)) { read.append($0) }
    #expect(verification.finding == nil)
    #expect(verification.receipts == [receipt])
    #expect(read == history.log)
  }
}
