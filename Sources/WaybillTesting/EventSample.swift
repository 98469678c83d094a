public import WaybillModel

/// The sample of one kind of event: the file in `schema/events` that shows how it is stored, a flat
/// JSON object with one column a line. It is written by hand; a test holds it against the code.
public enum EventSample {
  /// The file of a kind at a version, the newest where none is named, relative to the repository's
  /// root.
  public static func path(_ kind: EventKind, version: Int? = nil) -> String {
    "schema/events/\(kind.rawValue).v\(version ?? kind.newestVersion).json"
  }

  /// What a file of samples holds.
  public struct Stored: Equatable, Sendable {
    /// The stored name of the kind.
    public let kindName: String
    /// The version of the shape.
    public let version: Int
    /// The stored columns.
    public let fields: EventFields
  }

  /// Reads the file of a kind at a version; nil when there is none or it is no sample.
  public static func read(_ kind: EventKind, version: Int? = nil) -> Stored? {
    guard let text = Golden.read(path(kind, version: version)),
      let document = try? JSONValue.read([UInt8](text.utf8)),
      let name = document["kind"]?.text, let version = document["version"]?.integer
    else { return nil }
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
    return Stored(kindName: name, version: Int(clamping: version), fields: fields)
  }

  /// The text of the file of a kind that stores these columns.
  public static func text(_ kind: EventKind, _ fields: EventFields) -> String {
    let payload = fields.payload.map { (try? JSONValue.read([UInt8]($0.utf8))) ?? .text($0) }
    let columns: [(String, JSONValue?)] = [
      ("kind", .text(kind.rawValue)), ("version", .integer(Int64(kind.newestVersion))),
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
}

extension Samples {
  /// The stored columns of the sample of a kind; empty when it has no file.
  public static func fields(_ kind: EventKind) -> EventFields {
    EventSample.read(kind)?.fields ?? EventFields()
  }

  /// The sample of a kind as an event; nil for a kind of the ledger's own stream.
  public static func uploadEvent(_ kind: EventKind) -> UploadEvent? {
    try? UploadEvent(kind: kind, fields: fields(kind))
  }

  /// The sample of a kind as an event; nil for a kind of upload streams.
  public static func ledgerEvent(_ kind: EventKind) -> LedgerEvent? {
    try? LedgerEvent(kind: kind, fields: fields(kind))
  }
}
