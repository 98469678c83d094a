internal import WaybillHash
internal import WaybillModel
internal import WaybillSystem

/// Takes the bytes of one part as they arrive: hashes them and writes them to their place.
///
/// What it has written counts for nothing until a row says so: a part that is cut off or differs
/// from its digest leaves bytes that the next attempt overwrites. Holds the claim on the part.
final class PartReceiver {
  let session: Session
  let account: Account
  let part: Int
  let digest: ContentHash
  private let offset: Int64
  private let count: Int64
  // Nil when the part is held already: then the bytes are only checked.
  private let file: OpenFile?
  private let claims: Claims
  private let hasher = SHA256()
  private var received: Int64 = 0
  private var failure: SystemError?

  init(
    session: Session, account: Account, part: Int, digest: ContentHash,
    range: (offset: Int64, count: Int64), file: OpenFile?, claims: Claims
  ) {
    self.session = session
    self.account = account
    self.part = part
    self.digest = digest
    self.offset = range.offset
    self.count = range.count
    self.file = file
    self.claims = claims
  }

  deinit { claims.releasePart(part, of: session.uploadID) }

  var writes: Bool { file != nil }

  /// Takes the next bytes; never more than the part has.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    guard failure == nil, received + Int64(bytes.count) <= count else {
      received = min(received, count) + Int64(bytes.count)
      return
    }
    hasher.update(bytes)
    if let file {
      do {
        try file.write(bytes, at: offset + received)
      } catch {
        failure = error
      }
    }
    received += Int64(bytes.count)
  }

  /// Notes that the whole body has come: a newer request for the part waits its turn from now on.
  func arrived() { claims.completePart(part, of: session.uploadID) }

  /// Checks the whole part and puts it on stable storage.
  func finish() throws(Problem) {
    if let failure { throw Problem(failure) }
    guard received == count else {
      throw Problem(.wrongLength, "The part has \(count) bytes, \(received) came.")
    }
    guard hasher.finish() == digest else {
      throw Problem(.digestMismatch, "The bytes differ from their Content-Digest. Send them again.")
    }
    do {
      try file?.sync()
    } catch {
      throw Problem(error)
    }
  }
}
