internal import WaybillModel
internal import WaybillSQLite

extension UploadService {
  // MARK: Commit

  /// `POST /v1/uploads/{id}/commit`: compares the hash of the assembled bytes with the promise and
  /// binds the photo in one transaction. Any repeat gives the same photo.
  func commit(_ id: String, account: Account) throws(Problem) -> Reply {
    try claims.claimCommit(of: id)
    defer { claims.releaseCommit(of: id) }
    let session = try liveSession(id, account)
    if let row = session.photo,
      let photo = try read({ (store) throws(SQLiteError) in
        try store.photo(row: row)
      })
    {
      return UploadService.photoReply(photo, status: 200)
    }
    try checkParts(session)
    guard try assembledHash(session) == session.sha256 else {
      try write { (store) throws(SQLiteError) in try store.deleteParts(session: session.row) }
      files.remove(id)
      throw Problem(
        .hashMismatch, "The assembled bytes differ from the promised sha256. Send all parts again.")
    }
    let bound = try write { (store) throws(SQLiteError) in
      try bind(store, session: session, account: account)
    }
    guard let bound else {
      throw Problem(.notFound, "The upload ended while it was committed. Open a new one.")
    }
    if bound.isNew { countCommit() } else { files.remove(id) }
    return UploadService.photoReply(bound.photo, status: 200)
  }

  private func checkParts(_ session: Session) throws(Problem) {
    let held = Set(
      try read { (store) throws(SQLiteError) in try store.parts(session: session.row) })
    let missing = (0..<session.partCount).filter { !held.contains($0) }
    guard missing.isEmpty else {
      var problem = Problem(.partsMissing, "Send the missing parts, then commit again.")
      problem.extra = [JSONValue.Member("missing", UploadService.list(missing))]
      throw problem
    }
  }

  /// The hash of all bytes as they lie on the disk; that of an only part is known, since it was
  /// hashed on its way there.
  private func assembledHash(_ session: Session) throws(Problem) -> ContentHash {
    if session.partCount == 1,
      let digest = try read({ (store) throws(SQLiteError) in
        try store.digest(session: session.row, part: 0)
      })
    {
      return digest
    }
    let hash: ContentHash?
    do {
      hash = try files.hash(
        session.uploadID, byteCount: session.byteCount, isCancelled: { isStopping })
    } catch {
      throw Problem(error)
    }
    guard let hash else { throw Problem(.stopping, "The server is stopping. Commit again later.") }
    return hash
  }

  /// One photo for each content of an account, whoever comes first.
  private func bind(
    _ store: Store, session: Session, account: Account
  ) throws(SQLiteError) -> (photo: Photo, isNew: Bool)? {
    guard let now = try store.session(uploadID: session.uploadID, account: account),
      now.state == .open, try store.parts(session: now.row).count == now.partCount
    else { return nil }
    if let photo = try store.photo(sha256: session.sha256, account: account) {
      try store.markCommitted(session: session.row, photo: photo.row)
      return (photo, false)
    }
    let row = try store.insertPhoto(
      photoID: UploadService.newID("p-"), account: account, session: session,
      now: UploadService.now())
    try store.markCommitted(session: session.row, photo: row)
    return try store.photo(row: row).map { ($0, true) }
  }

  // MARK: Photos

  private func knownPhoto(_ id: String, _ account: Account) throws(Problem) -> Photo {
    let found = try read { (store) throws(SQLiteError) in
      try store.photo(photoID: id, account: account)
    }
    guard let found else { throw Problem(.notFound, "There is no such photo.") }
    return found
  }

  private static func document(_ photo: Photo) -> JSONValue {
    .object([
      .init("photoId", .text(photo.photoID)), .init("sha256", .text(photo.sha256.description)),
      .init("byteCount", .integer(photo.byteCount)), .init("version", .integer(photo.version)),
      .init("fileName", photo.fileName.map { .text($0) } ?? .null),
    ])
  }

  /// `GET /v1/photos/{photoId}`
  func photo(_ id: String, account: Account) throws(Problem) -> Reply {
    let photo = try knownPhoto(id, account)
    return Reply(
      status: 200, body: .json(UploadService.document(photo), type: "application/json"))
  }

  /// `GET /v1/photos/{photoId}/content`
  func content(_ id: String, account: Account) throws(Problem) -> Reply {
    let photo = try knownPhoto(id, account)
    let type = "application/octet-stream"
    guard photo.byteCount > 0 else { return Reply(status: 200, body: .bytes([], type: type)) }
    guard files.byteCount(photo.file) == photo.byteCount else {
      throw Problem(
        .serverError, "The bytes of this photo are missing. Look after the data folder.")
    }
    do {
      let file = try files.openForReading(photo.file)
      return Reply(status: 200, body: .file(file, byteCount: photo.byteCount))
    } catch {
      throw Problem(error)
    }
  }

  /// `GET /v1/photos?after=&limit=`: oldest first, at most 100 photos and about 56 KiB a page.
  func photos(after: String?, limit: String?, account: Account) throws(Problem) -> Reply {
    let limit = try UploadService.pageLimit(limit)
    var row: Int64 = 0
    if let after, !after.isEmpty { row = try knownPhoto(after, account).row }
    let found = try read { (store) throws(SQLiteError) in
      try store.photos(account: account, after: row, limit: limit + 1)
    }
    var page: [JSONValue] = []
    var bytes = 0
    for photo in found.prefix(limit) {
      let document = UploadService.document(photo)
      bytes += document.serialized.utf8.count
      guard page.isEmpty || bytes <= 57_344 else { break }
      page.append(document)
    }
    let next: JSONValue = page.count < found.count ? .text(found[page.count - 1].photoID) : .null
    return Reply.json(200, [("photos", .array(page)), ("next", next)])
  }

  private static func pageLimit(_ text: String?) throws(Problem) -> Int {
    guard let text else { return 50 }
    guard let limit = Int(text), (1...100).contains(limit) else {
      throw Problem(.invalidRequest, "limit is no number of 1 to 100.")
    }
    return limit
  }
}
