package import WaybillLedger
package import WaybillModel

/// The resumable upload protocol tus 1.0 (https://tus.io/protocols/resumable-upload) as pure
/// functions: the core with the extensions creation, checksum, expiration and termination.
///
/// The server owns the offset, so one part is on its way at a time. Every part carries its SHA-256.
/// tus has no commit; in its place the server is asked whether it checks what it is sent.
package struct TusAdapter: TransferAdapter {
  /// The length of a part, unless the file has too many of them: 8 MiB.
  package static let partSizeBytes: Int64 = 8_388_608

  /// `application/octet-stream` in base 64. The protocol does not ask for a type, but common
  /// servers refuse to give the status of an upload without one.
  private static let fileType = "YXBwbGljYXRpb24vb2N0ZXQtc3RyZWFt"

  /// The service the requests go to.
  package let destination: Destination
  /// The URL of the upload's session, where there is one.
  package let session: SessionURL?

  /// Makes the adapter for one upload.
  package init(destination: Destination, session: SessionURL?) {
    self.destination = destination
    self.session = session
  }

  package func open(_ upload: Upload) -> HTTPRequest? {
    guard let copy = upload.copy, upload.hash != nil, upload.intent != nil else { return nil }
    let name = Base64.encode(copy.name.bytes)
    let filename = name.isEmpty ? "filename" : "filename \(name)"
    return request(
      .post, destination.url,
      [
        HTTPHeader("Upload-Length", "\(copy.byteCount)"),
        HTTPHeader("Upload-Metadata", "\(filename),filetype \(TusAdapter.fileType)"),
      ])
  }

  package func part(
    _ part: PartNumber, of upload: Upload, at path: String, digest: ContentHash
  ) -> HTTPRequest? {
    guard let unsent = upload.unsent(part), let url = url(of: upload.session?.reference) else {
      return nil
    }
    var carrier = request(
      .patch, url,
      [
        HTTPHeader("Content-Type", "application/offset+octet-stream"),
        HTTPHeader("Upload-Offset", "\(unsent.offset)"),
        HTTPHeader("Upload-Checksum", "sha256 \(digest.base64)"),
      ])
    carrier.body = .file(FileSlice(path: path, offset: unsent.offset, count: unsent.count))
    return carrier
  }

  package func status(_ upload: Upload) -> HTTPRequest? {
    url(of: upload.session?.reference).map { request(.head, $0) }
  }

  /// Asks what the server checks; the one request without a version, as the protocol wants it.
  package func commit(_ upload: Upload) -> HTTPRequest? {
    guard upload.session != nil, upload.intent != nil else { return nil }
    return HTTPRequest(method: .options, url: destination.url)
  }

  package func delete(_ session: SessionReference) -> HTTPRequest? {
    url(of: session).map { request(.delete, $0) }
  }

  package func verdict(
    on outcome: HTTPOutcome, of endpoint: ReplyClassifier.Endpoint, for upload: Upload,
    now: Timestamp
  ) -> Verdict {
    switch outcome {
    case .noReply(let reason): ReplyClassifier.verdict(on: reason)
    case .reply(let reply):
      TusReply(
        reply: reply, endpoint: endpoint, upload: upload, url: destination.url, now: now
      ).verdict
    }
  }

  package func sessionURL(openedBy outcome: HTTPOutcome) -> SessionURL? {
    guard case .reply(let reply) = outcome, reply.status == 201 else { return nil }
    return SessionURL(location: reply, url: destination.url)
  }

  /// The URL of a session, if it is the one the log means.
  private func url(of reference: SessionReference?) -> String? {
    guard let session, session.reference == reference else { return nil }
    return session.reveal { $0 }
  }

  private func request(
    _ method: HTTPRequest.Method, _ url: String, _ headers: [HTTPHeader] = []
  ) -> HTTPRequest {
    HTTPRequest(
      method: method, url: url,
      headers: [HTTPHeader("Tus-Resumable", TusReply.version)] + headers)
  }
}

extension SessionURL {
  /// The session a reply to a request for `url` names; nil unless it is one of the same origin.
  init?(location reply: HTTPReply, url: String) {
    guard let location = reply.header("Location"),
      let resolved = SessionLocation.resolve(location, against: url)
    else { return nil }
    self.init(resolved)
  }
}
