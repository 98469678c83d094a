public import WaybillModel

/// Our own protocol of parts as pure functions: what to send next as a request, and what a verdict
/// on its outcome claims.
///
/// No request carries a credential; the shell adds it at send time, for this destination only.
public struct PartsAdapter: TransferAdapter, Hashable {
  /// The service the requests go to.
  public let destination: Destination

  /// Makes the adapter for one service.
  public init(destination: Destination) { self.destination = destination }
}

// MARK: Requests

extension PartsAdapter {
  /// Opens a session; nil until the upload has a copy, a hash and an intent.
  ///
  /// Every attempt carries the same key, so that a lost reply cannot lead to a second session.
  public func open(_ upload: Upload) -> HTTPRequest? {
    guard let copy = upload.copy, let hash = upload.hash, let intent = upload.intent else {
      return nil
    }
    let document = JSONValue.object([
      JSONValue.Member("sha256", .text(hash.description)),
      JSONValue.Member("byteCount", .integer(copy.byteCount)),
      JSONValue.Member("fileName", .text(copy.name.repaired)),
      JSONValue.Member("commit", .text("explicit")),
    ])
    return post(to: "\(destination.url)/v1/uploads", document, key: intent.operation)
  }

  /// Carries one part; nil without a session or for a part it does not have.
  ///
  /// - Parameters:
  ///   - part: which.
  ///   - upload: its upload.
  ///   - path: the staged copy, one of our own files.
  ///   - digest: the SHA-256 of the part's bytes, taken from the copy.
  public func part(
    _ part: PartNumber, of upload: Upload, at path: String, digest: ContentHash
  ) -> HTTPRequest? {
    guard let session = upload.session, let unsent = upload.unsent(part) else { return nil }
    let slice = FileSlice(path: path, offset: unsent.offset, count: unsent.count)
    return HTTPRequest(
      method: .put, url: "\(url(of: session.reference))/parts/\(part.index)",
      headers: [
        HTTPHeader("Content-Type", "application/octet-stream"),
        HTTPHeader("Content-Digest", "sha-256=:\(digest.base64):"),
      ], body: .file(slice))
  }

  /// Asks what the server holds; nil without a session.
  public func status(_ upload: Upload) -> HTTPRequest? {
    upload.session.map { HTTPRequest(method: .get, url: url(of: $0.reference)) }
  }

  /// Binds the object to its record; nil without a session and an intent.
  public func commit(_ upload: Upload) -> HTTPRequest? {
    guard let session = upload.session, let intent = upload.intent else { return nil }
    let base = intent.baseVersion.map { JSONValue.Member("baseVersion", .integer($0)) }
    return post(
      to: "\(url(of: session.reference))/commit", .object(base.map { [$0] } ?? []),
      key: intent.operation)
  }

  /// Gives a session up; the server may drop its bytes.
  public func delete(_ session: SessionReference) -> HTTPRequest? {
    HTTPRequest(method: .delete, url: url(of: session))
  }

  package func verdict(
    on outcome: HTTPOutcome, of endpoint: ReplyClassifier.Endpoint, for upload: Upload,
    now: Timestamp
  ) -> Verdict {
    ReplyClassifier.classify(outcome, endpoint: endpoint, now: now)
  }

  private func url(of session: SessionReference) -> String {
    "\(destination.url)/v1/uploads/\(PartsAdapter.escaped(session.text))"
  }

  private func post(
    to url: String, _ document: JSONValue, key: IdempotencyKey
  ) -> HTTPRequest {
    HTTPRequest(
      method: .post, url: url,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("Idempotency-Key", PartsAdapter.escaped(key.text)),
      ], body: .bytes([UInt8](document.serialized.utf8)))
  }

  /// The text itself if it is a name of the protocol. A damaged or foreign ledger may hold another,
  /// which must neither leave its place in the URL nor begin a new header line.
  private static func escaped(_ name: String) -> String {
    var out = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        out += byte < 0x10 ? "%0" : "%"
        out += String(byte, radix: 16, uppercase: true)
      }
    }
    return out
  }
}
