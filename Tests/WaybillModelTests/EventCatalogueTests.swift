import Testing
import WaybillModel
import WaybillTesting

/// `schema/events` holds one sample of each kind and version: catalogue and golden at once.
struct EventCatalogueTests {
  @Test(arguments: EventKind.allCases)
  func `the sample of each kind is stored as its file says`(kind: EventKind) {
    Golden.check(SampleFile.text(kind), against: SampleFile.path(kind))
  }

  @Test(arguments: EventKind.allCases)
  func `the file of each kind reads back as its sample`(kind: EventKind) throws {
    let text = try #require(
      Golden.read(SampleFile.path(kind)),
      "no \(SampleFile.path(kind)): add a sample to Samples.swift, run with WAYBILL_RECORD=1")
    let (name, version, fields) = try SampleFile.parse(text)
    #expect(name == kind.rawValue)
    #expect(version == 1)
    #expect(fields == Samples.fields(kind))
    var history = History()
    let body = history.record(kindName: name, version: version, fields: fields).body
    switch body {
    case .upload(let event): #expect(event == Samples.uploadEvent(kind))
    case .ledger(let event): #expect(event == Samples.ledgerEvent(kind))
    case .unrecognized, .unreadable: Issue.record("\(kind.rawValue) reads as \(body)")
    }
  }

  @Test func `every kind has exactly one sample`() {
    for kind in EventKind.allCases {
      #expect((Samples.uploadEvent(kind) == nil) == kind.isLedgerKind)
      #expect((Samples.ledgerEvent(kind) == nil) == !kind.isLedgerKind)
      #expect(Samples.uploadEvent(kind).map(\.kind) ?? kind == kind)
      #expect(Samples.ledgerEvent(kind).map(\.kind) ?? kind == kind)
    }
  }
}

/// A sample payload as a flat JSON object, one stored column a line.
private enum SampleFile {
  struct Malformed: Error {}

  static func path(_ kind: EventKind) -> String { "schema/events/\(kind.rawValue).v1.json" }

  static func text(_ kind: EventKind) -> String {
    let fields = Samples.fields(kind)
    let payload = fields.payload.map { (try? JSONValue.read([UInt8]($0.utf8))) ?? .text($0) }
    let columns: [(String, JSONValue?)] = [
      ("kind", .text(kind.rawValue)), ("version", .integer(1)),
      ("part", fields.part.map { .integer($0) }), ("bytes", fields.bytes.map { .integer($0) }),
      ("attempt", fields.attempt.map { .integer($0) }),
      ("until", fields.until.map { .integer($0) }), ("code", fields.code.map { .text($0) }),
      ("reference", fields.reference.map { .text($0) }),
      ("hash", fields.hash.map { .text($0.description) }),
      ("name", fields.name.map { .text(String(decoding: $0, as: UTF8.self)) }),
      ("payload", payload),
    ]
    let lines = columns.compactMap { key, value in
      value.map { "  \"\(key)\": \($0.serialized)" }
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }

  static func parse(_ text: String) throws -> (String, Int, EventFields) {
    let document = try JSONValue.read([UInt8](text.utf8))
    guard let kind = document["kind"]?.text, let version = document["version"]?.integer else {
      throw Malformed()
    }
    var fields = EventFields()
    fields.part = document["part"]?.integer
    fields.bytes = document["bytes"]?.integer
    fields.attempt = document["attempt"]?.integer
    fields.until = document["until"]?.integer
    fields.code = document["code"]?.text
    fields.reference = document["reference"]?.text
    fields.hash = document["hash"]?.text.flatMap { ContentHash(hex: $0) }
    fields.name = document["name"]?.text.map { [UInt8]($0.utf8) }
    fields.payload = document["payload"]?.serialized
    return (kind, Int(version), fields)
  }
}
