internal import WaybillModel

/// Uploads with the events a photo has from its copy to its release, made from a running number so
/// that no two share an id, a name or a hash.
struct Lives: Sendable {
  /// Events of an upload that ended: ten, with one part.
  static let eventCount = 10
  /// Events of an upload whose part is on its way.
  static let unfinishedCount = 5

  private static let start: Int64 = 1_795_915_778_000_000
  private static let byteCount: Int64 = 3_500_000
  private static let partSize: Int64 = 4_194_304

  struct Life: Sendable {
    let upload: UploadID
    let events: [ProposedEvent]
    let byteCount: Int64
  }

  private var number: UInt64 = 0

  private mutating func next(_ make: (UploadID, ContentHash) -> [ProposedEvent]) -> Life {
    number += 1
    let time = Timestamp(microseconds: Lives.start + Int64(number) * 1000)
    let halves = UUIDv7.halves(time: time, random: number &* 0x9e37_79b9_7f4a_7c15)
    let upload = UploadID(high: halves.high, low: halves.low)
    var words = [number &* 0xbf58_476d_1ce4_e5b9, halves.low, halves.high, number]
    let hash = words.withUnsafeMutableBytes { ContentHash(unchecked: UnsafeRawBufferPointer($0)) }
    return Life(upload: upload, events: make(upload, hash), byteCount: Lives.byteCount)
  }

  /// An upload that was committed, and its copy released.
  mutating func ended() -> Life {
    next { upload, hash in
      Lives.opening(upload, hash) + [Lives.sent(), Lives.confirmed()] + Lives.ending(upload, hash)
    }
  }

  /// An upload whose part was handed to the transport.
  mutating func unfinished() -> Life {
    next { upload, hash in Lives.opening(upload, hash) + [Lives.sent()] }
  }

  /// An ended upload of which each event reaches stable storage before its append returns: the same
  /// ten, with the part confirmed twice instead of sent and confirmed.
  mutating func durable() -> Life {
    next { upload, hash in
      Lives.opening(upload, hash) + [Lives.confirmed(half: true), Lives.confirmed()]
        + Lives.ending(upload, hash)
    }
  }

  private static func opening(_ upload: UploadID, _ hash: ContentHash) -> [ProposedEvent] {
    let exported = Exported(
      file: StagedFileID(upload), name: FileName("IMG_\(upload.low % 100_000).HEIC"),
      byteCount: byteCount, source: .picker, captured: Timestamp(microseconds: start))
    let intent = Intent(
      destination: "https://photos.example/v1", operation: IdempotencyKey("op-\(upload)"))
    let offer = SessionOffer(
      session: SessionReference("ses-\(upload.low % 1_000_000_000)"), partSize: partSize,
      partCount: 1, expires: Timestamp(microseconds: start + 86_400_000_000))
    return [
      ProposedEvent(.exported(exported), cause: .command),
      ProposedEvent(.hashed(Hashed(hash: hash)), cause: .command),
      ProposedEvent(.queued(Queued(intent: intent)), cause: .command),
      ProposedEvent(.sessionOpened(SessionOpened(offer: offer)), cause: .server),
    ]
  }

  private static func sent() -> ProposedEvent {
    let sent = PartSent(part: PartNumber(0), attempt: 1, byteCount: byteCount)
    return ProposedEvent(.partSent(sent), cause: .transport)
  }

  private static func confirmed(half: Bool = false) -> ProposedEvent {
    let count = half ? byteCount / 2 : byteCount
    let confirmed = PartConfirmed(part: PartNumber(0), byteCount: count)
    return ProposedEvent(.partConfirmed(confirmed), cause: .server)
  }

  private static func ending(_ upload: UploadID, _ hash: ContentHash) -> [ProposedEvent] {
    let committed = Committed(
      remote: RemoteID("photo-\(upload.low % 1_000_000_000)"), version: 1, hash: hash, status: 200)
    return [
      ProposedEvent(.received(Received(byteCount: byteCount)), cause: .server),
      ProposedEvent(.verified(Verified(hash: hash)), cause: .server),
      ProposedEvent(.committed(committed), cause: .server),
      ProposedEvent(.copyReleased, cause: .command),
    ]
  }
}
