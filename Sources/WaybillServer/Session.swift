internal import WaybillModel

/// What the store knows about one upload session.
struct Session {
  enum State: String {
    case open, committed, expired
  }

  let row: Int64
  let uploadID: String
  let sha256: ContentHash
  let byteCount: Int64
  let partSize: Int64
  let partCount: Int
  let fileName: String?
  let isAutomatic: Bool
  let state: State
  let expiresAt: Timestamp
  let photo: Int64?

  func hasExpired(at now: Timestamp) -> Bool {
    state == .expired || state == .open && expiresAt <= now
  }

  /// First byte and length of a part, or nil when there is no such part.
  func range(ofPart part: Int) -> (offset: Int64, count: Int64)? {
    guard (0..<partCount).contains(part) else { return nil }
    let offset = Int64(part) * partSize
    return (offset, min(partSize, byteCount - offset))
  }
}

/// What a client promises when it opens a session.
struct UploadPromise {
  let sha256: ContentHash
  let byteCount: Int64
  let fileName: String?
  let isAutomatic: Bool
}

/// One committed photo.
struct Photo {
  let row: Int64
  let photoID: String
  let sha256: ContentHash
  let byteCount: Int64
  let fileName: String?
  let version: Int64
  let file: String
}
