package import WaybillLedger
package import WaybillModel

/// One protocol as pure functions: what to send next as a request, and what the outcome proves.
///
/// No request carries a credential; the shell adds it at send time, for the destination only. A
/// request that cannot be made yet, or no longer, is nil. The same upload gives the same request.
package protocol TransferAdapter: Sendable {
  /// Opens a session.
  func open(_ upload: Upload) -> HTTPRequest?

  /// Carries the bytes of a part that are to be sent now, `Upload.unsent`.
  ///
  /// - Parameters:
  ///   - part: which.
  ///   - upload: its upload.
  ///   - path: the staged copy, one of our own files.
  ///   - digest: the SHA-256 of those bytes, taken from the copy.
  func part(
    _ part: PartNumber, of upload: Upload, at path: String, digest: ContentHash
  ) -> HTTPRequest?

  /// Asks what the server holds.
  func status(_ upload: Upload) -> HTTPRequest?

  /// Asks for the proof that ends the upload.
  func commit(_ upload: Upload) -> HTTPRequest?

  /// Gives a session up; the server may drop its bytes.
  func delete(_ session: SessionReference) -> HTTPRequest?

  /// What the outcome of a call proves; total.
  ///
  /// - Parameters:
  ///   - outcome: the reply, or why none came.
  ///   - endpoint: the call it belongs to.
  ///   - upload: the upload the call was made for.
  ///   - now: the local moment of the outcome.
  func verdict(
    on outcome: HTTPOutcome, of endpoint: ReplyClassifier.Endpoint, for upload: Upload,
    now: Timestamp
  ) -> Verdict

  /// The URL of the session that an outcome of the opening names, where the protocol keeps one. It
  /// is as good as a credential and goes into no event.
  func sessionURL(openedBy outcome: HTTPOutcome) -> SessionURL?
}

extension TransferAdapter {
  package func sessionURL(openedBy outcome: HTTPOutcome) -> SessionURL? { nil }
}

extension AdapterKind {
  /// The adapter that speaks this protocol with a service.
  ///
  /// - Parameter session: the URL of the upload's session, where there is one.
  package func adapter(for destination: Destination, session: SessionURL?) -> any TransferAdapter {
    switch self {
    case .parts: PartsAdapter(destination: destination)
    case .tus: TusAdapter(destination: destination, session: session)
    }
  }
}
