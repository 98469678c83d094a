internal import WaybillModel

/// What is wrong with a line; the reader adds where it stands.
struct LineProblem: Error {
  let code: TraceFinding.Code
  let message: String

  init(_ code: TraceFinding.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static func missing(_ key: StaticString) -> LineProblem {
    LineProblem(.badLine, "the key \(key) is missing")
  }

  static func invalid(_ key: StaticString, _ wanted: String) -> LineProblem {
    LineProblem(.badLine, "the value of \(key) is no \(wanted)")
  }
}

/// One line of a trace, read.
enum TraceLineContent {
  case header(TraceHeader)
  case event(EventLine)
  case footer(FooterLine)
}

/// An event and the chain values that stand with it.
struct EventLine {
  var event: RecordedEvent
  var chainBefore: ContentHash?
  var chain: ContentHash?
}

/// What the last line says.
struct FooterLine {
  var count: Int64
  var digest: ContentHash
  var last: GlobalPosition?
}

/// The one way from lines to headers, events and footers. Keys it does not know are passed over.
enum TraceLineReader {
  static func read(_ line: UnsafeRawBufferPointer) throws(LineProblem) -> TraceLineContent {
    let fields = try LineFields(line)
    let kind = try fields.text(TraceKey.kind)
    switch kind {
    case TraceFormat.headerKind: return .header(try header(fields))
    case TraceFormat.footerKind: return .footer(try footer(fields))
    default:
      guard !kind.hasPrefix(TraceFormat.reservedPrefix) else {
        throw LineProblem(.badLine, "lines of the kind \(EscapedText.escape(kind)) are not known")
      }
      return .event(try event(kind, fields))
    }
  }

  private static func header(_ fields: LineFields) throws(LineProblem) -> TraceHeader {
    let format = try fields.integer(TraceKey.format)
    guard format <= TraceFormat.version else {
      throw LineProblem(
        .newerFormat,
        "the trace has format \(format), and this version reads up to \(TraceFormat.version)")
    }
    var header = TraceHeader(
      app: try fields.text(TraceKey.app), ledgerFormat: try fields.integer(TraceKey.ledgerFormat),
      first: try fields.position(TraceKey.firstPosition),
      last: try fields.position(TraceKey.lastPosition))
    header.profile = try fields.text(TraceKey.profile)
    header.cuts = try fields.texts(TraceKey.cuts)
    header.device = try fields.optionalText(TraceKey.device)
    return header
  }

  private static func footer(_ fields: LineFields) throws(LineProblem) -> FooterLine {
    guard let digest = try fields.hash(TraceKey.sha256) else { throw .missing(TraceKey.sha256) }
    return FooterLine(
      count: try fields.integer(TraceKey.count), digest: digest,
      last: try fields.position(TraceKey.lastPosition))
  }

  private static func event(
    _ kind: String, _ fields: LineFields
  ) throws(LineProblem) -> EventLine {
    guard let id = EventID(try fields.text(TraceKey.eventID)) else {
      throw .invalid(TraceKey.eventID, "UUID")
    }
    var upload: UploadID?
    if let text = try fields.optionalText(TraceKey.uploadID) {
      upload = UploadID(text)
      if upload == nil { throw .invalid(TraceKey.uploadID, "UUID") }
    }
    guard let time = try fields.time(TraceKey.time, orElse: TraceKey.timeMicroseconds) else {
      throw .missing(TraceKey.time)
    }
    let event = RecordedEvent(
      position: GlobalPosition(try fields.integer(TraceKey.position)), id: id, upload: upload,
      revision: StreamRevision(try fields.integer(TraceKey.revision)), kindName: kind,
      version: Int(try fields.integer(TraceKey.version)), time: time,
      causeName: try fields.text(TraceKey.cause),
      launch: LaunchGeneration(try fields.integer(TraceKey.launch)),
      compensates: try fields.position(TraceKey.compensates),
      observation: try fields.optionalText(TraceKey.observation).map { ObservationKey($0) },
      fields: try eventFields(fields))
    return EventLine(
      event: event, chainBefore: try fields.hash(TraceKey.chainBefore),
      chain: try fields.hash(TraceKey.chain))
  }

  private static func eventFields(_ line: LineFields) throws(LineProblem) -> EventFields {
    var fields = EventFields()
    fields.part = try line.optionalInteger(TraceKey.part)
    fields.bytes = try line.optionalInteger(TraceKey.bytes)
    fields.attempt = try line.optionalInteger(TraceKey.attempt)
    fields.until = try line.time(
      TraceKey.until, orElse: TraceKey.untilMicroseconds)?.microseconds
    fields.code = try line.optionalText(TraceKey.code)
    fields.reference = try line.optionalText(TraceKey.reference)
    fields.hash = try line.hash(TraceKey.hash)
    fields.name = try name(line)
    fields.payload = try line.optionalText(TraceKey.payload)
    return fields
  }

  private static func name(_ line: LineFields) throws(LineProblem) -> [UInt8]? {
    let text = try line.optionalText(TraceKey.name)
    guard let coded = try line.optionalText(TraceKey.nameBase64) else {
      return text.map { [UInt8]($0.utf8) }
    }
    guard text == nil, let bytes = Base64.decode(coded) else {
      throw .invalid(TraceKey.nameBase64, "base64, or stands beside name")
    }
    return bytes
  }
}

/// The values of a flat line by their keys.
struct LineFields {
  private let members: [JSONValue.Member]

  init(_ line: UnsafeRawBufferPointer) throws(LineProblem) {
    let document: JSONValue
    do throws(JSONError) {
      document = try JSONValue.read([UInt8](line), maximumDepth: 2)
    } catch {
      throw LineProblem(.badLine, "the line is no JSON: \(error)")
    }
    guard case .object(let members) = document else {
      throw LineProblem(.badLine, "the line is no JSON object")
    }
    self.members = members
  }

  private subscript(key: StaticString) -> JSONValue? {
    let name = key.description
    return members.first { $0.key == name }?.value
  }

  func optionalText(_ key: StaticString) throws(LineProblem) -> String? {
    guard let value = self[key] else { return nil }
    guard case .text(let text) = value else { throw .invalid(key, "string") }
    return text
  }

  func text(_ key: StaticString) throws(LineProblem) -> String {
    guard let text = try optionalText(key) else { throw .missing(key) }
    return text
  }

  func texts(_ key: StaticString) throws(LineProblem) -> [String] {
    guard let value = self[key] else { throw .missing(key) }
    guard let values = value.array else { throw .invalid(key, "list of strings") }
    let texts = values.compactMap(\.text)
    guard texts.count == values.count else { throw .invalid(key, "list of strings") }
    return texts
  }

  /// An integer, as a number or as a string of its decimal digits.
  func optionalInteger(_ key: StaticString) throws(LineProblem) -> Int64? {
    switch self[key] {
    case nil: return nil
    case .integer(let number): return number
    case .text(let text):
      guard let number = Int64(text), String(number) == text else { throw .invalid(key, "integer") }
      return number
    default: throw .invalid(key, "integer")
    }
  }

  func integer(_ key: StaticString) throws(LineProblem) -> Int64 {
    guard let number = try optionalInteger(key) else { throw .missing(key) }
    return number
  }

  func position(_ key: StaticString) throws(LineProblem) -> GlobalPosition? {
    try optionalInteger(key).map { GlobalPosition($0) }
  }

  func hash(_ key: StaticString) throws(LineProblem) -> ContentHash? {
    guard let text = try optionalText(key) else { return nil }
    guard let hash = ContentHash(hex: text) else { throw .invalid(key, "SHA-256") }
    return hash
  }

  /// A moment, as RFC 3339 spells it or in microseconds under another key.
  func time(
    _ key: StaticString, orElse number: StaticString
  ) throws(LineProblem) -> Timestamp? {
    let microseconds = try optionalInteger(number)
    guard let text = try optionalText(key) else {
      return microseconds.map { Timestamp(microseconds: $0) }
    }
    guard microseconds == nil, let time = Timestamp(rfc3339: text) else {
      throw .invalid(key, "RFC 3339 time, or stands beside \(number)")
    }
    return time
  }
}
