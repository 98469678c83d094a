internal import WaybillModel

/// What is wrong with a line; the reader adds where it stands.
struct LineProblem: Error {
  let code: TraceFinding.Code
  let message: String

  init(_ code: TraceFinding.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  static func missing(_ key: TraceKey) -> LineProblem {
    LineProblem(.badLine, "the key \(key.name) is missing")
  }

  static func invalid(_ key: TraceKey, _ wanted: String) -> LineProblem {
    LineProblem(.badLine, "the value of \(key.name) is no \(wanted)")
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
struct TraceLineReader {
  private let fields = FlatLine()

  func read(_ line: UnsafeRawBufferPointer) throws(LineProblem) -> TraceLineContent {
    if TraceHeaderLine.isHeader(line) { return .header(try TraceHeaderLine.read(line)) }
    try fields.read(line)
    guard let word = fields.plainBytes(.kind), let kind = EventKind(utf8: word) else {
      return try unknown(try fields.text(.kind))
    }
    return .event(try event(kind, kind.rawValue))
  }

  private func unknown(_ kind: String) throws(LineProblem) -> TraceLineContent {
    if kind == TraceFormat.footerKind { return .footer(try footer()) }
    guard !kind.hasPrefix(TraceFormat.reservedPrefix) else {
      throw LineProblem(.badLine, "no line of the kind \(EscapedText.escape(kind)) is known")
    }
    return .event(try event(nil, kind))
  }

  private func footer() throws(LineProblem) -> FooterLine {
    guard try fields.integer(.version) == TraceFormat.lineVersion else {
      throw .invalid(.version, "known version of a footer")
    }
    guard let digest = try fields.optionalHash(.sha256) else { throw .missing(.sha256) }
    return FooterLine(
      count: try fields.integer(.count), digest: digest, last: try fields.position(.lastPosition))
  }

  private func event(_ kind: EventKind?, _ kindName: String) throws(LineProblem) -> EventLine {
    guard let id = try fields.optionalUUID(.eventID) else { throw .missing(.eventID) }
    guard let time = try fields.optionalTime(.time, orElse: .timeMicroseconds) else {
      throw .missing(.time)
    }
    let event = RecordedEvent(
      position: GlobalPosition(try fields.integer(.position)),
      id: EventID(high: id.high, low: id.low),
      upload: try fields.optionalUUID(.uploadID).map { UploadID(high: $0.high, low: $0.low) },
      revision: StreamRevision(try fields.integer(.revision)), kind: kind, kindName: kindName,
      version: Int(try fields.integer(.version)), time: time, causeName: try cause(),
      launch: LaunchGeneration(try fields.integer(.launch)),
      compensates: try fields.position(.compensates),
      observation: try fields.optionalText(.observation).map { ObservationKey($0) },
      fields: try eventFields())
    return EventLine(
      event: event, chainBefore: try fields.optionalHash(.chainBefore),
      chain: try fields.optionalHash(.chain))
  }

  /// The word of the cause; a known one costs no copy.
  private func cause() throws(LineProblem) -> String {
    if let word = fields.plainBytes(.cause), let cause = Cause(utf8: word) { return cause.rawValue }
    return try fields.text(.cause)
  }

  private func eventFields() throws(LineProblem) -> EventFields {
    var event = EventFields()
    event.part = try fields.optionalInteger(.part)
    event.bytes = try fields.optionalInteger(.bytes)
    event.attempt = try fields.optionalInteger(.attempt)
    event.until = try fields.optionalTime(.until, orElse: .untilMicroseconds)?.microseconds
    event.code = try fields.optionalText(.code)
    event.reference = try fields.optionalText(.reference)
    event.hash = try fields.optionalHash(.hash)
    event.name = try name()
    event.payload = try fields.optionalText(.payload)
    return event
  }

  private func name() throws(LineProblem) -> [UInt8]? {
    let text = try fields.optionalText(.name)
    guard let coded = try fields.optionalText(.nameBase64) else {
      return text.map { [UInt8]($0.utf8) }
    }
    guard text == nil else {
      throw LineProblem(.badLine, "the keys name and name_base64 stand side by side")
    }
    guard let bytes = Base64.decode(coded) else { throw .invalid(.nameBase64, "base64") }
    return bytes
  }
}
