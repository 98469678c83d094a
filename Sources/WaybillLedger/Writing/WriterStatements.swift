internal import WaybillSQLite

/// The statements of the write path, prepared once for each connection.
struct WriterStatements {
  let begin: Statement
  let commit: Statement
  let insert: Statement
  let newStream: Statement
  let ledgerState: Statement
  let checkpoint: Statement
  let streamKey: Statement
  let streamEvents: Statement
  let eventByID: Statement
  let eventByObservation: Statement
  let archived: Statement
  let holder: Statement
  let progress: Statement
  let forget: Statement
  let work: Statement

  init(_ connection: Connection) throws(SQLiteError) {
    begin = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    insert = try connection.prepare(EventCodec.insert)
    newStream = try connection.prepare("INSERT INTO streams (upload) VALUES (?)")
    ledgerState = try connection.prepare(LedgerStateTable.write)
    // Run once a launch. By name: the tables of a newer program are not kept up by this one, and it
    // must see that.
    let names = Projections.derived.map { "'\($0.name)'" }.joined(separator: ", ")
    checkpoint = try connection.prepare(
      "UPDATE projections SET position = ?, launch = ? WHERE name IN (\(names))")
    streamKey = try connection.prepare("SELECT stream FROM streams WHERE upload = ?")
    streamEvents = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source) WHERE e.stream = ? ORDER BY revision")
    eventByID = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source) WHERE e.event_id = ?")
    eventByObservation = try connection.prepare(
      "SELECT \(EventCodec.columns) FROM \(EventCodec.source)"
        + " WHERE e.stream = ? AND e.observation = ?")
    archived = try connection.prepare("SELECT 1 FROM archived_streams WHERE stream = ?")
    holder = try connection.prepare(
      "SELECT s.upload FROM content_index AS c JOIN streams AS s ON s.stream = c.stream"
        + " WHERE c.hash = ?")
    progress = try connection.prepare(
      "INSERT INTO progress (stream, part, sent) VALUES (?, ?, ?)"
        + " ON CONFLICT (stream, part) DO UPDATE SET sent = excluded.sent")
    forget = try connection.prepare(
      "DELETE FROM progress WHERE stream = ?1 AND (?2 IS NULL OR part = ?2)")
    work = try connection.prepare(
      "SELECT s.upload FROM work AS w JOIN streams AS s ON s.stream = w.stream"
        + " WHERE w.not_before <= ?1 OR w.not_before > ?3"
        + " ORDER BY w.priority DESC, w.added LIMIT ?2")
  }
}
