package import WaybillModel

/// The URLs of sessions, which the log must not hold. A session whose URL is gone is unknown and is
/// opened anew.
extension Ledger {
  /// Keeps the URL of a session; one that was kept for the upload before is gone.
  ///
  /// - Throws: `LedgerError`; then the one before is still there.
  /// - Durability: it is on stable storage before the session is recorded.
  package func keep(_ session: SessionURL, of upload: UploadID) throws(LedgerError) {
    try sessions.keep(session, of: upload)
  }

  /// The URL of an upload's session; nil when none is kept, or that of another session.
  package func sessionURL(of upload: Upload) -> SessionURL? {
    guard let session = upload.session else { return nil }
    return sessions.url(of: upload.id).flatMap { $0.reference == session.reference ? $0 : nil }
  }

  /// Deletes the URL of a session that has ended.
  package func forgetSessionURL(of upload: UploadID) { sessions.forget(upload) }

  /// Deletes what belongs to no session that is still open, or has still to be given up: what a
  /// kill between keeping and recording, or between ending and deleting, leaves.
  package func sweepSessionURLs() async throws(LedgerError) {
    for id in sessions.uploads() {
      let upload = try await reader.upload(id)
      if let upload, upload.copyReleased == nil, sessionURL(of: upload) != nil { continue }
      forgetSessionURL(of: id)
    }
  }

  private var sessions: SessionFiles { SessionFiles(folder: "\(directory)/sessions") }
}
