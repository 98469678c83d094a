internal import WaybillModel

/// The one way from events, headers and footers to lines.
enum TraceLine {
  /// Adds the line of an event without its end, so that a chain value may follow.
  static func open(
    _ event: borrowing RecordedEvent, chainBefore: ContentHash?, to line: inout ByteBuffer
  ) {
    line.append("{\"kind\":")
    line.append(json: event.kindName)
    line.append(key: .version)
    line.append(json: Int64(event.version))
    line.append(key: .position)
    line.append(json: event.position.value)
    line.append(key: .eventID)
    line.append(json: event.id.high, event.id.low)
    if let upload = event.upload {
      line.append(key: .uploadID)
      line.append(json: upload.high, upload.low)
    }
    line.append(key: .revision)
    line.append(json: event.revision.value)
    add(event.time, .time, orElse: .timeMicroseconds, to: &line)
    line.append(key: .cause)
    line.append(json: event.causeName)
    line.append(key: .launch)
    line.append(json: event.launch.value)
    add(event.compensates?.value, .compensates, to: &line)
    add(event.observation?.text, .observation, to: &line)
    add(event.fields, to: &line)
    if let chainBefore {
      line.append(key: .chainBefore)
      line.append(json: chainBefore)
    }
  }

  /// Ends the line of an event; the last of a run of positions carries the chain value behind it.
  static func close(chain: ContentHash?, _ line: inout ByteBuffer) {
    if let chain {
      line.append(key: .chain)
      line.append(json: chain)
    }
    line.append("}\n")
  }

  /// How long the line of an event is at most, counted without writing it.
  static func bound(_ event: borrowing RecordedEvent) -> Int {
    let fields = event.fields
    let texts =
      event.kindName.utf8.count + event.causeName.utf8.count
      + (event.observation?.text.utf8.count ?? 0) + (fields.code?.utf8.count ?? 0)
      + (fields.reference?.utf8.count ?? 0) + (fields.payload?.utf8.count ?? 0)
      + (fields.name?.count ?? 0)
    // Six bytes for an escaped one; keys, numbers, identifiers and hashes come to less than 1 KiB.
    return texts * 6 + 1024
  }

  static func header(_ header: TraceHeader, to line: inout ByteBuffer) {
    line.append("{\"kind\":\"trace.header\"")
    line.append(key: .version)
    line.append(json: TraceFormat.lineVersion)
    line.append(key: .format)
    line.append(json: TraceFormat.version)
    line.append(key: .profile)
    line.append(json: header.profile)
    line.append(key: .cuts)
    line.append(UInt8(ascii: "["))
    for (index, cut) in header.cuts.enumerated() {
      if index > 0 { line.append(UInt8(ascii: ",")) }
      line.append(json: cut)
    }
    line.append(UInt8(ascii: "]"))
    add(header.device, .device, to: &line)
    line.append(key: .app)
    line.append(json: header.app)
    line.append(key: .ledgerFormat)
    line.append(json: header.ledgerFormat)
    add(header.first?.value, .firstPosition, to: &line)
    add(header.last?.value, .lastPosition, to: &line)
    line.append("}\n")
  }

  static func footer(
    count: Int64, digest: ContentHash, last: GlobalPosition?, to line: inout ByteBuffer
  ) {
    line.append("{\"kind\":\"trace.footer\"")
    line.append(key: .version)
    line.append(json: TraceFormat.lineVersion)
    line.append(key: .count)
    line.append(json: count)
    line.append(key: .sha256)
    line.append(json: digest)
    add(last?.value, .lastPosition, to: &line)
    line.append("}\n")
  }

  private static func add(_ fields: borrowing EventFields, to line: inout ByteBuffer) {
    add(fields.part, .part, to: &line)
    add(fields.bytes, .bytes, to: &line)
    add(fields.attempt, .attempt, to: &line)
    if let until = fields.until {
      add(
        Timestamp(microseconds: until), .until, orElse: .untilMicroseconds,
        to: &line)
    }
    add(fields.code, .code, to: &line)
    add(fields.reference, .reference, to: &line)
    if let hash = fields.hash {
      line.append(key: .hash)
      line.append(json: hash)
    }
    if let name = fields.name { add(name: name, to: &line) }
    add(fields.payload, .payload, to: &line)
  }

  private static func add(_ number: Int64?, _ key: TraceKey, to line: inout ByteBuffer) {
    guard let number else { return }
    line.append(key: key)
    line.append(json: number)
  }

  private static func add(_ text: String?, _ key: TraceKey, to line: inout ByteBuffer) {
    guard let text else { return }
    line.append(key: key)
    line.append(json: text)
  }

  private static func add(
    _ time: Timestamp, _ key: TraceKey, orElse number: TraceKey, to line: inout ByteBuffer
  ) {
    let date = CalendarTime(secondsSinceEpoch: time.seconds)
    if (1...9999).contains(date.year) {
      line.append(key: key)
      line.append(json: date, microsecond: time.microseconds - time.seconds * 1_000_000)
    } else {
      line.append(key: number)
      line.append(json: time.microseconds)
    }
  }

  /// A name that is no text stands under another key, so that its bytes come back as they were.
  private static func add(name: [UInt8], to line: inout ByteBuffer) {
    if let text = String(validating: name, as: UTF8.self) {
      line.append(key: .name)
      line.append(json: text)
    } else {
      line.append(key: .nameBase64)
      line.append(json: Base64.encode(name))
    }
  }
}
