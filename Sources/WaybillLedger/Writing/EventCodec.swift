internal import WaybillModel
internal import WaybillSQLite

/// The one way from an event to a row of the table `events`, and back.
enum EventCodec {
  /// The columns in the order of the table, without the chain value, then the upload's name.
  static let columns = """
    e.position, e.event_id, e.stream, e.revision, e.kind, e.version, e.recorded_at, e.cause,
    e.launch, e.compensates, e.observation, e.part, e.bytes, e.attempt, e.until, e.code,
    e.reference, e.hash, e.name, e.payload, e.chain, s.upload
    """

  /// What every SELECT over events reads from.
  static let source = "events AS e LEFT JOIN streams AS s ON s.stream = e.stream"

  /// The column of the chain value in `columns`.
  static let chainColumn: Int32 = 20

  static let insert = """
    INSERT INTO events (position, event_id, stream, revision, kind, version, recorded_at, cause,
      launch, compensates, observation, part, bytes, attempt, until, code, reference, hash, name,
      payload, chain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  static func bind(
    _ event: RecordedEvent, stream: Int64, chain: ContentHash, to statement: Statement
  ) {
    let fields = event.fields
    statement.bind(1, event.position.value)
    withUnsafeBytes(of: (event.id.high.bigEndian, event.id.low.bigEndian)) {
      statement.bind(2, bytes: $0)
    }
    statement.bind(3, stream)
    statement.bind(4, event.revision.value)
    statement.bind(5, event.kindName)
    statement.bind(6, Int64(event.version))
    statement.bind(7, event.time.microseconds)
    statement.bind(8, event.causeName)
    statement.bind(9, event.launch.value)
    statement.bind(10, event.compensates?.value)
    statement.bind(11, event.observation?.text)
    statement.bind(12, fields.part)
    statement.bind(13, fields.bytes)
    statement.bind(14, fields.attempt)
    statement.bind(15, fields.until)
    statement.bind(16, fields.code)
    statement.bind(17, fields.reference)
    if let hash = fields.hash {
      hash.withBytes { statement.bind(18, bytes: $0) }
    } else {
      statement.bind(18, blob: nil)
    }
    statement.bind(19, blob: fields.name)
    statement.bind(20, fields.payload)
    chain.withBytes { statement.bind(21, bytes: $0) }
  }

  /// Reads a row of `columns` into the event it is. Who reads a whole stream knows its upload. A
  /// column that holds nonsense does not fail the read: damage is reported by `verify`, which finds
  /// it by the chain, not by every reader.
  static func event(_ row: borrowing Row, of upload: UploadID?) -> RecordedEvent {
    let kind = EventKind(utf8: row.borrowedBytes(4))
    return RecordedEvent(
      position: GlobalPosition(row.int(0)), id: eventID(row.borrowedBytes(1)), upload: upload,
      revision: StreamRevision(row.int(3)), kind: kind, kindName: kind?.rawValue ?? row.text(4),
      version: Int(clamping: row.int(5)), time: Timestamp(microseconds: row.int(6)),
      causeName: causeName(row), launch: LaunchGeneration(row.int(8)),
      compensates: row.optionalInt(9).map { GlobalPosition($0) },
      observation: row.optionalText(10).map { ObservationKey($0) }, fields: fields(row))
  }

  /// The upload a row of `columns` is about; nil for the ledger itself.
  static func upload(_ row: borrowing Row) -> UploadID? {
    row.optionalText(21).flatMap { UploadID($0) }
  }

  /// The stored word of the cause; a known one costs no copy.
  private static func causeName(_ row: borrowing Row) -> String {
    Cause(utf8: row.borrowedBytes(7))?.rawValue ?? row.text(7)
  }

  private static func fields(_ row: borrowing Row) -> EventFields {
    var fields = EventFields()
    fields.part = row.optionalInt(11)
    fields.bytes = row.optionalInt(12)
    fields.attempt = row.optionalInt(13)
    fields.until = row.optionalInt(14)
    fields.code = row.optionalText(15)
    fields.reference = row.optionalText(16)
    fields.hash = hash(row, 17)
    fields.name = row.optionalBytes(18)
    fields.payload = row.optionalText(19)
    return fields
  }

  /// The hash in a column; nil for anything but 32 bytes.
  static func hash(_ row: borrowing Row, _ column: Int32) -> ContentHash? {
    let bytes = row.borrowedBytes(column)
    return bytes.count == 32 ? ContentHash(unchecked: bytes) : nil
  }

  private static func eventID(_ bytes: UnsafeRawBufferPointer) -> EventID {
    guard bytes.count == 16 else { return EventID(high: 0, low: 0) }
    return EventID(
      high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
