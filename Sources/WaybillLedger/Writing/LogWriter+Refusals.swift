internal import WaybillModel
internal import WaybillSQLite

/// What a single append is refused for, beside others of its transaction that are not.
extension LogWriter {
  static func conflict(_ revision: StreamRevision?) -> LedgerError {
    let place = revision.map { " is at revision \($0.value)" } ?? " has moved"
    return LedgerError(
      .conflict, "the stream\(place), which is not what was expected",
      remedy: "read it again and decide again")
  }

  /// Whether the account has signed out, also by an event of this very transaction.
  func isSealed(in transaction: Transaction) -> Bool {
    var state = state
    for event in transaction.ledgerEvents { state.evolve(event) }
    return state.isSealed
  }

  /// What comes in now would be somebody else's.
  static let sealed = LedgerError(
    .sealed, "the account of this ledger has signed out here",
    remedy: "sign in to it again ('waybill unseal'), or open the ledger of the account that is"
      + " signed in")

  /// Refuses to queue bytes that another live upload holds, and to end an upload as a duplicate of
  /// one that does not hold them any more; the unique index stands behind this.
  func contentConflict(
    _ request: AppendRequest, _ upload: Upload, in transaction: inout Transaction
  ) throws(SQLiteError) -> LedgerError? {
    let repeated = request.drafts.first {
      $0.kind == .uploadDeduplicated && $0.fields.code == "upload"
    }
    guard repeated != nil || request.drafts.contains(where: { $0.kind == .uploadQueued }) else {
      return nil
    }
    let hashed = request.drafts.first { $0.kind == .uploadHashed }?.fields.hash
    guard let hash = hashed ?? upload.hash else { return nil }
    var holder = transaction.hashes[hash]
    if holder == nil {
      hash.withBytes { statements.holder.bind(1, bytes: $0) }
      holder = try statements.holder.firstRow { UploadID($0.text(0)) } ?? nil
    }
    if let repeated {
      guard holder.map({ $0.description == repeated.fields.reference }) ?? false else {
        return LedgerError(
          .originalGone, "the upload with the same bytes no longer holds them",
          remedy: "look again, then queue this one or record it as a duplicate of another")
      }
      return nil
    }
    guard holder == nil || holder == upload.id else {
      return LedgerError(
        .duplicateContent, "another upload of this ledger holds the same bytes",
        remedy: "record this one as a duplicate of it")
    }
    transaction.hashes[hash] = upload.id
    return nil
  }
}
