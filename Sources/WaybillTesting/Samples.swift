public import WaybillModel

/// One plausible value of everything, for tests that need some value and no special one.
public enum Samples {
  /// 2026-11-29T01:29:38Z.
  public static let time = Timestamp(seconds: 1_795_915_778)
  /// An upload.
  public static let upload = UploadID(high: 0x01a2_24f5_0c90_7000, low: 0x8000_0000_0000_0001)
  /// Another upload.
  public static let otherUpload = UploadID(
    high: 0x01a2_24f5_0c90_7000, low: 0x8000_0000_0000_0002)
  /// The hash of the sample's bytes.
  public static let hash = hash(filledWith: 0xa5)
  /// The hash of other bytes.
  public static let otherHash = hash(filledWith: 0x3c)
  /// The server's session.
  public static let session = SessionReference("ses-1")
  /// The server's name for the object.
  public static let remote = RemoteID("photo-1")
  /// The part size most samples use: 8 MiB.
  public static let partSize: Int64 = 8_388_608
  /// Where the samples go, and under which key.
  public static let intent = Intent(
    destination: "https://photos.example/v1", operation: IdempotencyKey("op-1"), priority: .urgent,
    baseVersion: 4)

  /// The same, to a server that owns the offset.
  public static let sequentialIntent = Intent(
    destination: "tus+https://photos.example/files", operation: IdempotencyKey("op-1"))

  /// A hash of 32 equal bytes.
  public static func hash(filledWith byte: UInt8) -> ContentHash {
    ContentHash([UInt8](repeating: byte, count: 32)) ?? .zero
  }

  /// A durable copy of a file of that length.
  public static func exported(byteCount: Int64 = 20_000_000) -> Exported {
    Exported(
      file: StagedFileID(upload), name: FileName("café 1.heic"), byteCount: byteCount,
      source: .picker, captured: Timestamp(seconds: 1_795_000_000))
  }

  /// A server's offer for a file of that length.
  public static func offer(
    _ session: SessionReference = session, byteCount: Int64 = 20_000_000,
    partSize: Int64 = partSize, holding received: [Int] = []
  ) -> SessionOffer {
    SessionOffer(
      session: session, partSize: partSize,
      partCount: Int((byteCount + partSize - 1) / partSize),
      expires: Timestamp(seconds: 1_796_000_000), received: PartSet(received))
  }

  /// The object as the server states it once it is bound.
  public static func stored(hash: ContentHash? = hash) -> StoredObject {
    StoredObject(remote: remote, version: 5, hash: hash, status: 200)
  }

  /// The events of an upload that is queued: exported, hashed, queued.
  public static func queued(byteCount: Int64 = 20_000_000) -> [UploadEvent] {
    [
      .exported(exported(byteCount: byteCount)), .hashed(Hashed(hash: hash)),
      .queued(Queued(intent: intent)),
    ]
  }

  /// The events of an upload with an open session.
  public static func opened(byteCount: Int64 = 20_000_000, holding: [Int] = []) -> [UploadEvent] {
    let offer = offer(byteCount: byteCount, holding: holding)
    return queued(byteCount: byteCount) + [.sessionOpened(SessionOpened(offer: offer))]
  }
}
