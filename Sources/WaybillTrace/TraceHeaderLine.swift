internal import WaybillModel

/// The first line of a trace: the only one with a list in it, so the core's JSON reader reads it.
enum TraceHeaderLine {
  private static let front: StaticString = "{\"kind\":\"trace.header\""

  /// Whether a line is a header, by its first bytes.
  static func isHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    line.starts(
      with: UnsafeRawBufferPointer(start: front.utf8Start, count: front.utf8CodeUnitCount))
  }

  static func read(_ line: UnsafeRawBufferPointer) throws(LineProblem) -> TraceHeader {
    let document: JSONValue
    do throws(JSONError) {
      document = try JSONValue.read([UInt8](line), maximumDepth: 2)
    } catch {
      throw LineProblem(.badLine, "the header is no JSON object: \(error)")
    }
    let format = try integer(.format, document)
    guard format <= TraceFormat.version else {
      throw LineProblem(
        .newerFormat,
        "the trace has format \(format), and this version reads up to \(TraceFormat.version)")
    }
    guard format >= 1 else { throw .invalid(.format, "number of a format") }
    guard try integer(.version, document) == TraceFormat.lineVersion else {
      throw .invalid(.version, "known version of a header")
    }
    var header = TraceHeader(
      app: try text(.app, document), ledgerFormat: try integer(.ledgerFormat, document),
      first: try position(.firstPosition, document), last: try position(.lastPosition, document),
      profile: try text(.profile, document))
    header.cuts = try cuts(document)
    header.device = try optionalText(.device, document)
    return header
  }

  private static func value(_ key: TraceKey, _ document: JSONValue) -> JSONValue? {
    document[key.name.description]
  }

  private static func optionalText(
    _ key: TraceKey, _ document: JSONValue
  ) throws(LineProblem) -> String? {
    guard let value = value(key, document) else { return nil }
    guard let text = value.text else { throw .invalid(key, "string") }
    return text
  }

  private static func text(_ key: TraceKey, _ document: JSONValue) throws(LineProblem) -> String {
    guard let text = try optionalText(key, document) else { throw .missing(key) }
    return text
  }

  private static func integer(_ key: TraceKey, _ document: JSONValue) throws(LineProblem) -> Int64 {
    guard let value = value(key, document) else { throw .missing(key) }
    if let number = value.integer { return number }
    guard let text = value.text, let number = Int64(text), String(number) == text else {
      throw .invalid(key, "integer")
    }
    return number
  }

  private static func position(
    _ key: TraceKey, _ document: JSONValue
  ) throws(LineProblem) -> GlobalPosition? {
    value(key, document) == nil ? nil : GlobalPosition(try integer(key, document))
  }

  private static func cuts(_ document: JSONValue) throws(LineProblem) -> [String] {
    guard let value = value(.cuts, document) else { throw .missing(.cuts) }
    guard let values = value.array, values.allSatisfy({ $0.text != nil }) else {
      throw .invalid(.cuts, "list of strings")
    }
    return values.compactMap(\.text)
  }
}
