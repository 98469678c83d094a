internal import WaybillModel
internal import WaybillSQLite

extension Store {
  // MARK: Finding

  func session(uploadID: String, account: Account) throws(SQLiteError) -> Session? {
    let found = try statement(
      """
      SELECT session, upload_id, sha256, byte_count, part_size_bytes, part_count, file_name,
             is_automatic, state, expires_at, photo
      FROM sessions WHERE upload_id = ?1 AND account = ?2
      """)
    found.bind(1, uploadID)
    found.bind(2, account.name)
    return try found.firstRow(Store.readSession) ?? nil
  }

  func session(key: String, account: Account) throws(SQLiteError) -> Session? {
    let found = try statement(
      """
      SELECT session, upload_id, sha256, byte_count, part_size_bytes, part_count, file_name,
             is_automatic, state, expires_at, photo
      FROM sessions WHERE idempotency_key = ?1 AND account = ?2
      """)
    found.bind(1, key)
    found.bind(2, account.name)
    return try found.firstRow(Store.readSession) ?? nil
  }

  private static func readSession(_ row: borrowing Row) -> Session? {
    guard let sha256 = ContentHash(row.bytes(2)),
      let state = Session.State(rawValue: row.text(8))
    else { return nil }
    return Session(
      row: row.int(0), uploadID: row.text(1), sha256: sha256, byteCount: row.int(3),
      partSize: row.int(4), partCount: Int(row.int(5)), fileName: row.optionalText(6),
      isAutomatic: row.int(7) == 1, state: state,
      expiresAt: Timestamp(microseconds: row.int(9)), photo: row.optionalInt(10))
  }

  func openSessionCount(account: Account) throws(SQLiteError) -> Int64 {
    let count = try statement(
      "SELECT count(*) FROM sessions WHERE account = ?1 AND state = 'open'")
    count.bind(1, account.name)
    return try count.firstRow { $0.int(0) } ?? 0
  }

  /// The bytes an account has as photos, and those its open sessions may still become.
  func heldBytes(account: Account, now: Timestamp) throws(SQLiteError) -> Int64 {
    let held = try statement(
      """
      SELECT (SELECT CAST(total(byte_count) AS INTEGER) FROM photos WHERE account = ?1)
        + (SELECT CAST(total(byte_count) AS INTEGER) FROM sessions
           WHERE account = ?1 AND state = 'open' AND expires_at > ?2)
      """)
    held.bind(1, account.name)
    held.bind(2, now.microseconds)
    return try held.firstRow { $0.int(0) } ?? 0
  }

  // MARK: Changing

  /// Adds a session; `photo` makes it one that is committed from the start.
  func insertSession(
    uploadID: String, account: Account, key: String?, promise: UploadPromise, partSize: Int64,
    partCount: Int, expiresAt: Timestamp, photo: Int64?
  ) throws(SQLiteError) {
    let insert = try statement(
      """
      INSERT INTO sessions (upload_id, account, idempotency_key, sha256, byte_count,
        part_size_bytes, part_count, file_name, is_automatic, state, expires_at, photo)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      """)
    insert.bind(1, uploadID)
    insert.bind(2, account.name)
    insert.bind(3, key)
    insert.bind(4, blob: promise.sha256.bytes)
    insert.bind(5, promise.byteCount)
    insert.bind(6, partSize)
    insert.bind(7, Int64(partCount))
    insert.bind(8, promise.fileName)
    insert.bind(9, promise.isAutomatic ? 1 : 0)
    insert.bind(10, (photo == nil ? Session.State.open : .committed).rawValue)
    insert.bind(11, expiresAt.microseconds)
    insert.bind(12, photo)
    try insert.run()
  }

  func markCommitted(session: Int64, photo: Int64) throws(SQLiteError) {
    let update = try statement(
      "UPDATE sessions SET state = 'committed', photo = ?2 WHERE session = ?1")
    update.bind(1, session)
    update.bind(2, photo)
    try update.run()
  }

  /// Ends a session for good but remembers that it was there; its key is free again.
  func markExpired(session: Int64) throws(SQLiteError) {
    let update = try statement(
      "UPDATE sessions SET state = 'expired', idempotency_key = NULL WHERE session = ?1")
    update.bind(1, session)
    try update.run()
    try deleteParts(session: session)
  }

  func deleteSession(_ session: Int64) throws(SQLiteError) {
    let delete = try statement("DELETE FROM sessions WHERE session = ?1")
    delete.bind(1, session)
    try delete.run()
  }

  /// Open sessions whose time is over, oldest first: row and upload id.
  func overdueSessions(
    at now: Timestamp, limit: Int
  ) throws(SQLiteError) -> [(row: Int64, uploadID: String)] {
    let overdue = try statement(
      """
      SELECT session, upload_id FROM sessions
      WHERE state = 'open' AND expires_at <= ?1 ORDER BY expires_at
      """)
    overdue.bind(1, now.microseconds)
    return try rows(of: overdue, limit: limit) { ($0.int(0), $0.text(1)) }
  }

  /// Forgets up to eight sessions that ended before a moment, with their keys.
  func deleteSomeSessions(endedBefore moment: Timestamp) throws(SQLiteError) {
    let delete = try statement(
      """
      DELETE FROM sessions WHERE session IN (
        SELECT session FROM sessions WHERE state <> 'open' AND expires_at < ?1
        ORDER BY expires_at LIMIT 8)
      """)
    delete.bind(1, moment.microseconds)
    try delete.run()
  }

  // MARK: Parts

  /// The parts held, in order.
  func parts(session: Int64) throws(SQLiteError) -> [Int] {
    let parts = try statement("SELECT part FROM parts WHERE session = ?1 ORDER BY part")
    parts.bind(1, session)
    return try rows(of: parts, limit: Int(ServerOptions.maximumPartCount)) { Int($0.int(0)) }
  }

  func digest(session: Int64, part: Int) throws(SQLiteError) -> ContentHash? {
    let digest = try statement("SELECT sha256 FROM parts WHERE session = ?1 AND part = ?2")
    digest.bind(1, session)
    digest.bind(2, Int64(part))
    return try digest.firstRow { ContentHash($0.bytes(0)) } ?? nil
  }

  func insertPart(session: Int64, part: Int, digest: ContentHash) throws(SQLiteError) {
    let insert = try statement("INSERT INTO parts (session, part, sha256) VALUES (?1, ?2, ?3)")
    insert.bind(1, session)
    insert.bind(2, Int64(part))
    digest.withBytes { insert.bind(3, bytes: $0) }
    try insert.run()
  }

  func deletePart(session: Int64, part: Int) throws(SQLiteError) {
    let delete = try statement("DELETE FROM parts WHERE session = ?1 AND part = ?2")
    delete.bind(1, session)
    delete.bind(2, Int64(part))
    try delete.run()
  }

  func deleteParts(session: Int64) throws(SQLiteError) {
    let delete = try statement("DELETE FROM parts WHERE session = ?1")
    delete.bind(1, session)
    try delete.run()
  }
}
