internal import WaybillModel
internal import WaybillSQLite

extension UploadService {
  /// Checks everything that can be known before the body of a part is read.
  func beginPart(
    _ id: String, part: Int, head: RequestHead, account: Account
  ) throws(Problem) -> PartReceiver {
    if let type = head.contentType, type.lowercased() != "application/octet-stream" {
      throw Problem(.unsupportedMediaType, "Send the part as application/octet-stream.")
    }
    let session = try liveSession(id, account)
    guard let range = session.range(ofPart: part) else {
      throw Problem(.notFound, "The upload has parts 0 to \(session.partCount - 1) only.")
    }
    let digest = try head.checkedDigest()
    guard head.contentLength == range.count else {
      throw Problem(.wrongLength, "Part \(part) has \(range.count) bytes; say so and send these.")
    }
    try claims.claimPart(part, of: session.uploadID, socket: head.socket)
    do throws(Problem) {
      // Asked again, now that no other request can store this part or commit around it.
      let (known, held) = try read { (store) throws(SQLiteError) in
        (
          try store.session(uploadID: id, account: account),
          try store.digest(session: session.row, part: part)
        )
      }
      let state = try UploadService.alive(known).state
      guard held == nil || held == digest else {
        throw Problem(.partDiffers, "Part \(part) is held with other bytes. Open a new upload.")
      }
      let file = held == nil && state == .open ? try partsFile(session) : nil
      return PartReceiver(
        session: session, account: account, part: part, digest: digest, range: range, file: file,
        claims: claims)
    } catch {
      claims.releasePart(part, of: session.uploadID)
      throw error
    }
  }

  private func partsFile(_ session: Session) throws(Problem) -> OpenFile {
    do {
      return try files.openForParts(session.uploadID, byteCount: session.byteCount)
    } catch {
      throw Problem(error)
    }
  }

  /// `PUT /v1/uploads/{id}/parts/{n}`, once the body is there: makes it durable and counts it.
  func finishPart(_ receiver: PartReceiver) throws(Problem) -> Reply {
    try receiver.finish()
    let id = receiver.session.uploadID
    let kept = try receiver.writes ? keep(receiver) : again(receiver)
    let session = kept.session
    if session.isAutomatic, kept.received.count == session.partCount {
      do {
        var reply = try commit(id, account: receiver.account)
        reply.status = 201
        return reply
      } catch let refusal where refusal.slug == .commitInProgress {
        // The request that completed the set at the same time reports the photo.
      }
    }
    return Reply.json(
      200,
      [
        ("received", UploadService.list(kept.received)),
        ("partCount", .integer(Int64(session.partCount))),
      ])
  }

  private func keep(
    _ receiver: PartReceiver
  ) throws(Problem) -> (session: Session, received: [Int]) {
    let row = receiver.session.row
    let id = receiver.session.uploadID
    let kept = try write { (store) throws(SQLiteError) -> (Session, [Int])? in
      guard let session = try store.session(uploadID: id, account: receiver.account),
        session.state == .open
      else { return nil }
      try store.insertPart(session: row, part: receiver.part, digest: receiver.digest)
      return (session, try store.parts(session: row))
    }
    guard let kept else {
      // Its file may have been made anew after the session went. No photo can use it: a session
      // that lacks a part is not committed.
      files.remove(id)
      throw Problem(.notFound, "The upload ended while the part was sent. Open a new one.")
    }
    return kept
  }

  /// The same part once more: nothing to store, but it must still be there.
  private func again(
    _ receiver: PartReceiver
  ) throws(Problem) -> (session: Session, received: [Int]) {
    let session = try liveSession(receiver.session.uploadID, receiver.account)
    let received = try held(session)
    guard received.contains(receiver.part) else {
      throw Problem(.partInProgress, "The part was given up meanwhile. Send it again.")
    }
    return (session, received)
  }

  /// The parts that count as held: all of them once there is a photo, even if its bytes came by
  /// another session.
  func held(_ session: Session) throws(Problem) -> [Int] {
    guard session.photo == nil else { return Array(0..<session.partCount) }
    return try read { (store) throws(SQLiteError) in try store.parts(session: session.row) }
  }

  // MARK: Status and giving up

  /// `GET /v1/uploads/{id}`
  func status(_ id: String, account: Account) throws(Problem) -> Reply {
    let session = try liveSession(id, account)
    let received = try held(session)
    let photo = try session.photo.flatMap { (row) throws(Problem) in
      try read { (store) throws(SQLiteError) in try store.photo(row: row) }
    }
    let isWhole = received.count == session.partCount
    let state = photo != nil ? "committed" : isWhole ? "received" : "open"
    return Reply.json(
      200,
      [
        ("received", UploadService.list(received)),
        ("partCount", .integer(Int64(session.partCount))), ("state", .text(state)),
        ("photoId", photo.map { .text($0.photoID) } ?? .null),
        ("sha256", photo.map { .text($0.sha256.description) } ?? .null),
        ("version", photo.map { .integer($0.version) } ?? .null),
        ("expiresAt", .text(session.expiresAt.description)),
      ])
  }

  /// `DELETE /v1/uploads/{id}`: unknown, foreign and already deleted are all the same.
  func abandon(_ id: String, account: Account) throws(Problem) -> Reply {
    try claims.claimCommit(of: id)
    defer { claims.releaseCommit(of: id) }
    let state = try forget(id, account: account, evenCommitted: false)
    guard state != .committed else {
      throw Problem(.alreadyCommitted, "The upload is a photo already.")
    }
    return .noContent
  }

  /// Takes a session out of the store, then its bytes unless a photo uses them.
  @discardableResult
  func forget(
    _ id: String, account: Account, evenCommitted: Bool
  ) throws(Problem) -> Session.State? {
    let state = try write { (store) throws(SQLiteError) -> Session.State? in
      guard let session = try store.session(uploadID: id, account: account) else { return nil }
      if session.state != .committed || evenCommitted { try store.deleteSession(session.row) }
      return session.state
    }
    if state != nil, state != .committed { files.remove(id) }
    return state
  }

  // MARK: Rehearsed losses

  /// The upload of a session, for a script that is aimed at it.
  func faultTarget(of id: String, account: Account) -> FaultTarget? {
    let session = try? read { (store) throws(SQLiteError) in
      try store.session(uploadID: id, account: account)
    }
    return session.flatMap { $0 }.map { FaultTarget(fileName: $0.fileName, sha256: $0.sha256) }
  }

  /// What `forget` and `lose=K` of a fault script do before a request is handled.
  func rehearse(_ plan: FaultPlan, route: Route, key: String?, account: Account) throws(Problem) {
    guard plan.forgetsSession || !plan.losesParts.isEmpty else { return }
    let session = try read { (store) throws(SQLiteError) -> Session? in
      guard route.id.isEmpty else {
        return try store.session(uploadID: route.id, account: account)
      }
      return try key.flatMap { (key) throws(SQLiteError) in
        try store.session(key: key, account: account)
      }
    }
    guard let session else { return }
    if plan.forgetsSession {
      try forget(session.uploadID, account: account, evenCommitted: true)
      return
    }
    try write { (store) throws(SQLiteError) in
      for part in plan.losesParts { try store.deletePart(session: session.row, part: part) }
    }
  }
}
