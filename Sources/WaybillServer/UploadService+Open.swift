internal import WaybillModel
internal import WaybillSQLite

extension UploadService {
  /// The most bytes kept of a name; it is for people only, so a longer one is cut.
  static let maximumNameBytes = 1024

  /// `POST /v1/uploads`: a session for these bytes, or the photo they already are.
  func open(key: String?, body: [UInt8], account: Account) throws(Problem) -> Reply {
    let promise = try promise(body)
    try expireOverdueSessions(limit: 8)
    let opened = try write { (store) throws(SQLiteError) in
      try openRow(store, key: key, promise: promise, account: account)
    }
    switch opened {
    case .photo(let photo):
      return UploadService.photoReply(photo, status: 200)
    case .refused(let problem):
      throw problem
    case .session(let session, let received):
      if session.isAutomatic, session.partCount == received.count {
        return try commit(session.uploadID, account: account)
      }
      return Reply.json(
        201,
        [
          ("uploadId", .text(session.uploadID)), ("partSize", .integer(session.partSize)),
          ("partCount", .integer(Int64(session.partCount))),
          ("expiresAt", .text(session.expiresAt.description)),
          ("received", UploadService.list(received)),
        ])
    }
  }

  private enum Opened {
    case photo(Photo)
    case session(Session, received: [Int])
    case refused(Problem)
  }

  private func openRow(
    _ store: Store, key: String?, promise: UploadPromise, account: Account
  ) throws(SQLiteError) -> Opened {
    let now = UploadService.now()
    let horizon = now.adding(milliseconds: -UploadService.memoryMilliseconds)
    try store.deleteSomeSessions(endedBefore: horizon)
    var known = try key.flatMap { (key) throws(SQLiteError) in
      try store.session(key: key, account: account)
    }
    if let session = known {
      guard session.sha256 == promise.sha256, session.byteCount == promise.byteCount else {
        return .refused(
          Problem(.keyReused, "This Idempotency-Key belongs to other bytes. Use a new one."))
      }
      if session.hasExpired(at: now) {
        try store.markExpired(session: session.row)
        known = nil
      }
    }
    if let photo = try store.photo(sha256: promise.sha256, account: account),
      photo.byteCount == promise.byteCount
    {
      if known == nil, key != nil {
        try insert(store, key: key, promise: promise, account: account, now: now, photo: photo.row)
      }
      return .photo(photo)
    }
    if let session = known {
      return .session(session, received: try store.parts(session: session.row))
    }
    guard try store.openSessionCount(account: account) < UploadService.maximumOpenSessions else {
      return .refused(
        Problem(.tooManySessions, "Too many uploads are open. Commit or delete some first."))
    }
    if let quotaBytes {
      let free = quotaBytes - (try store.heldBytes(account: account, now: now))
      guard promise.byteCount <= free else { return .refused(UploadService.quotaExceeded(free)) }
    }
    let id = try insert(
      store, key: key, promise: promise, account: account, now: now, photo: nil)
    guard let session = try store.session(uploadID: id, account: account) else {
      throw SQLiteError(code: .error, message: "the row just inserted is not there")
    }
    return .session(session, received: [])
  }

  private static func quotaExceeded(_ free: Int64) -> Problem {
    var problem = Problem(
      .quotaExceeded, "The account has no room for this file. Delete something, or ask for more.")
    problem.extra = [JSONValue.Member("availableBytes", .integer(max(free, 0)))]
    return problem
  }

  @discardableResult
  private func insert(
    _ store: Store, key: String?, promise: UploadPromise, account: Account, now: Timestamp,
    photo: Int64?
  ) throws(SQLiteError) -> String {
    let id = UploadService.newID("u-")
    let partSize = partSize(for: promise.byteCount)
    try store.insertSession(
      uploadID: id, account: account, key: key, promise: promise, partSize: partSize,
      partCount: Int((promise.byteCount + partSize - 1) / partSize),
      expiresAt: now.adding(milliseconds: sessionLifetimeSeconds * 1000), photo: photo)
    return id
  }

  /// The usual part size, doubled until 10,000 parts are enough.
  private func partSize(for byteCount: Int64) -> Int64 {
    var size = partSizeBytes
    while (byteCount + size - 1) / size > ServerOptions.maximumPartCount,
      size < ServerOptions.maximumPartSizeBytes
    {
      size = min(size * 2, ServerOptions.maximumPartSizeBytes)
    }
    return size
  }

  private func promise(_ body: [UInt8]) throws(Problem) -> UploadPromise {
    let document: JSONValue
    do {
      document = try JSONValue.read(body, maximumDepth: 8)
    } catch {
      throw Problem(.invalidRequest, "The body is no JSON document: \(error).")
    }
    guard let sha256 = document["sha256"]?.text.flatMap({ ContentHash(hex: $0) }) else {
      throw Problem(.invalidRequest, "sha256 is no text of 64 hexadecimal digits.")
    }
    guard let byteCount = document["byteCount"]?.integer, byteCount >= 0 else {
      throw Problem(.invalidRequest, "byteCount is no whole number from 0.")
    }
    guard byteCount <= maximumByteCount else {
      throw Problem(.tooLarge, "The server takes files of up to \(maximumByteCount) bytes.")
    }
    let mode = document["commit"] ?? .text("explicit")
    guard mode == .text("explicit") || mode == .text("auto") else {
      throw Problem(.invalidRequest, "commit is neither \"explicit\" nor \"auto\".")
    }
    let name: String?
    switch document["fileName"] {
    case nil, .null: name = nil
    case .text(let text): name = UploadService.cut(text)
    default: throw Problem(.invalidRequest, "fileName is no text.")
    }
    return UploadPromise(
      sha256: sha256, byteCount: byteCount, fileName: name, isAutomatic: mode == .text("auto"))
  }

  /// The upload that the body of an opening is about, for a script that is aimed at it.
  static func faultTarget(ofOpening body: [UInt8]) -> FaultTarget? {
    guard let document = try? JSONValue.read(body, maximumDepth: 8),
      let sha256 = document["sha256"]?.text.flatMap({ ContentHash(hex: $0) })
    else { return nil }
    return FaultTarget(fileName: document["fileName"]?.text, sha256: sha256)
  }

  private static func cut(_ name: String) -> String {
    guard name.utf8.count > maximumNameBytes else { return name }
    var kept = String.UnicodeScalarView()
    var bytes = 0
    for scalar in name.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= maximumNameBytes else { break }
      kept.append(scalar)
    }
    return String(kept)
  }

  static func list(_ parts: [Int]) -> JSONValue { .array(parts.map { .integer(Int64($0)) }) }

  static func photoReply(_ photo: Photo, status: Int) -> Reply {
    Reply.json(
      status,
      [
        ("photoId", .text(photo.photoID)), ("sha256", .text(photo.sha256.description)),
        ("version", .integer(photo.version)),
      ])
  }
}
