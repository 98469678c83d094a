internal import WaybillModel
internal import WaybillSQLite

extension Store {
  func photo(sha256: ContentHash, account: Account) throws(SQLiteError) -> Photo? {
    let found = try statement(
      """
      SELECT photo, photo_id, sha256, byte_count, file_name, version, file
      FROM photos WHERE account = ?1 AND sha256 = ?2
      """)
    found.bind(1, account.name)
    found.bind(2, blob: sha256.bytes)
    return try found.firstRow(Store.readPhoto) ?? nil
  }

  func photo(photoID: String, account: Account) throws(SQLiteError) -> Photo? {
    let found = try statement(
      """
      SELECT photo, photo_id, sha256, byte_count, file_name, version, file
      FROM photos WHERE photo_id = ?1 AND account = ?2
      """)
    found.bind(1, photoID)
    found.bind(2, account.name)
    return try found.firstRow(Store.readPhoto) ?? nil
  }

  func photo(row: Int64) throws(SQLiteError) -> Photo? {
    let found = try statement(
      """
      SELECT photo, photo_id, sha256, byte_count, file_name, version, file
      FROM photos WHERE photo = ?1
      """)
    found.bind(1, row)
    return try found.firstRow(Store.readPhoto) ?? nil
  }

  /// Photos of an account behind a row, oldest first.
  func photos(
    account: Account, after row: Int64, limit: Int
  ) throws(SQLiteError) -> [Photo] {
    let found = try statement(
      """
      SELECT photo, photo_id, sha256, byte_count, file_name, version, file
      FROM photos WHERE account = ?1 AND photo > ?2 ORDER BY photo
      """)
    found.bind(1, account.name)
    found.bind(2, row)
    return try rows(of: found, limit: limit, Store.readPhoto).compactMap { $0 }
  }

  private static func readPhoto(_ row: borrowing Row) -> Photo? {
    guard let sha256 = ContentHash(row.bytes(2)) else { return nil }
    return Photo(
      row: row.int(0), photoID: row.text(1), sha256: sha256, byteCount: row.int(3),
      fileName: row.optionalText(4), version: row.int(5), file: row.text(6))
  }

  /// Adds the photo that a session's bytes have become and gives its row.
  func insertPhoto(
    photoID: String, account: Account, session: Session, now: Timestamp
  ) throws(SQLiteError) -> Int64 {
    let insert = try statement(
      """
      INSERT INTO photos (photo_id, account, sha256, byte_count, file_name, version, file,
        committed_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)
      """)
    insert.bind(1, photoID)
    insert.bind(2, account.name)
    insert.bind(3, blob: session.sha256.bytes)
    insert.bind(4, session.byteCount)
    insert.bind(5, session.fileName)
    insert.bind(6, session.uploadID)
    insert.bind(7, now.microseconds)
    try insert.run()
    return lastInsertedRow
  }

  func photoCount() throws(SQLiteError) -> Int64 {
    try statement("SELECT count(*) FROM photos").firstRow { $0.int(0) } ?? 0
  }

  /// The names below files/ that rows speak of: open sessions and photos.
  func namedFiles() throws(SQLiteError) -> Set<String> {
    let names = try statement(
      "SELECT file FROM photos UNION ALL SELECT upload_id FROM sessions WHERE state = 'open'")
    return Set(try rows(of: names, limit: Int.max) { $0.text(0) })
  }

  /// Open sessions that hold parts: row, upload id and the size their file must have.
  func sessionsWithParts() throws(SQLiteError) -> [(row: Int64, uploadID: String, bytes: Int64)] {
    let found = try statement(
      """
      SELECT session, upload_id, byte_count FROM sessions AS s WHERE state = 'open'
        AND EXISTS (SELECT 1 FROM parts AS p WHERE p.session = s.session)
      """)
    return try rows(of: found, limit: Int.max) { ($0.int(0), $0.text(1), $0.int(2)) }
  }
}
