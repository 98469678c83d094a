import Testing
import WaybillModel

@Suite struct TransferDeadlineTests {
  private static let count: Int64 = 1_000_000

  /// The second at which a transfer is over, looked at once a second; nil when it is not within ten
  /// minutes.
  private func over(_ arrived: (Int64) -> Int64) -> Int64? {
    var deadline = TransferDeadline(stall: .seconds(30), reply: .seconds(20))
    return (0...600).first {
      deadline.isOver(arrived: arrived($0), of: Self.count, after: .seconds($0))
    }
  }

  @Test func `a transfer that moves goes on as long as it takes`() {
    #expect(over { $0 * 1000 } == nil)
    #expect(over { $0 / 25 * 8192 } == nil)
  }

  @Test func `a transfer that does not move, or hardly, is over`() {
    #expect(over { _ in 0 } == 30)
    #expect(over { $0 } == 30)
    #expect(over { min($0, 100) * 1000 } == 129)
    #expect(over { $0 / 29 * 8191 } == 30)
  }

  @Test func `the last bytes may be as few as they are`() {
    #expect(over { $0 < 25 ? 995_000 : Self.count } == 45)
    #expect(over { $0 < 25 ? 995_000 : 999_999 } == 30)
  }

  @Test func `from the last byte on only the reply is waited for`() {
    #expect(over { _ in Self.count } == 20)
    #expect(over { min($0 * 100_000, Self.count) } == 30)
  }

  @Test func `a body that is sent anew begins anew`() {
    #expect(over { $0 < 10 ? Self.count : ($0 - 10) * 10_000 } == 130)
  }

  @Test func `an empty body has arrived from the beginning`() {
    var deadline = TransferDeadline(stall: .seconds(30), reply: .seconds(20))
    #expect((0...600).first { deadline.isOver(arrived: 0, of: 0, after: .seconds($0)) } == 20)
  }
}
