import Testing
import WaybillModel
import WaybillTesting

/// `schema/events` holds one sample of each kind and version: catalogue and golden at once.
struct EventCatalogueTests {
  @Test(arguments: EventKind.allCases)
  func `the sample of each kind reads as an event of that kind`(kind: EventKind) throws {
    for version in 1...kind.newestVersion {
      let stored = try #require(
        EventSample.read(kind, version: version),
        "write \(EventSample.path(kind, version: version)) as its neighbours are written")
      #expect(stored.kindName == kind.rawValue)
      #expect(stored.version == version)
      var history = History()
      let body = history.record(
        kindName: kind.rawValue, version: version, fields: stored.fields
      ).body
      switch body {
      case .upload(let event): #expect(event.kind == kind && !kind.isLedgerKind)
      case .ledger(let event): #expect(event.kind == kind && kind.isLedgerKind)
      case .unrecognized, .unreadable: Issue.record("\(kind.rawValue) reads as \(body)")
      }
    }
  }

  @Test(arguments: EventKind.allCases)
  func `the sample of each kind is stored as its file says`(kind: EventKind) throws {
    let fields = Samples.uploadEvent(kind)?.fields ?? Samples.ledgerEvent(kind)?.fields
    Golden.check(
      EventSample.text(kind, try #require(fields)), against: EventSample.path(kind))
  }

  @Test func `a stored name is found by its bytes, and nothing near it is`() {
    func kind(_ bytes: [UInt8]) -> EventKind? { bytes.withUnsafeBytes { EventKind(utf8: $0) } }
    func cause(_ bytes: [UInt8]) -> Cause? { bytes.withUnsafeBytes { Cause(utf8: $0) } }
    for word in EventKind.allCases {
      let bytes = [UInt8](word.rawValue.utf8)
      #expect(kind(bytes) == word)
      #expect(kind(bytes + [0]) == nil)
      #expect(kind(Array(bytes.dropLast())) == nil)
      #expect(kind(bytes + [UInt8](repeating: 0x20, count: 40)) == nil)
    }
    for word in Cause.allCases { #expect(cause([UInt8](word.rawValue.utf8)) == word) }
    #expect(kind([]) == nil)
    #expect(cause([0xff, 0xfe]) == nil)
  }
}
