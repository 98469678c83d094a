public import WaybillModel

/// One plausible value of everything, for tests that need some value and no special one.
public enum Samples {
  /// 2026-11-30T01:29:38Z.
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

  /// One event of a kind of upload streams; nil for a kind of the ledger's own stream.
  public static func uploadEvent(_ kind: EventKind) -> UploadEvent? {
    let part = PartNumber(2)
    return switch kind {
    case .uploadExported: .exported(exported())
    case .uploadHashed: .hashed(Hashed(hash: hash))
    case .uploadDeduplicated: .deduplicated(Deduplicated(original: .upload(otherUpload)))
    case .uploadQueued: .queued(Queued(intent: intent))
    case .sessionOpened: .sessionOpened(SessionOpened(offer: offer(holding: [0, 1])))
    case .partSent: .partSent(PartSent(part: part, attempt: 1, byteCount: 3_222_784))
    case .partFailed:
      .partFailed(
        PartFailed(
          part: part, attempt: 1, failure: .serverUnavailable,
          notBefore: time.adding(milliseconds: 750), status: 503))
    case .partConfirmed: .partConfirmed(PartConfirmed(part: part, byteCount: 3_222_784))
    case .uploadReceived: .received(Received(byteCount: 20_000_000))
    case .uploadVerified: .verified(Verified(hash: hash))
    case .uploadCommitted:
      .committed(Committed(remote: remote, version: 5, hash: hash, status: 200))
    case .uploadConflicted: .conflicted(Conflicted(currentVersion: 6))
    case .uploadCancelled: .cancelled(Cancelled(reason: .user))
    case .uploadRetried: .retried(Retried(round: 1))
    case .uploadPaused: .paused
    case .uploadResumed: .resumed
    case .attentionNeeded: .attentionNeeded(AttentionNeeded(reason: .tooLarge, status: 413))
    case .copyReleased: .copyReleased
    case .partRevoked: .partRevoked(PartRevoked(part: part, byteCount: 0, regression: 1))
    case .transferLost: .transferLost(TransferLost(part: part, attempt: 1))
    case .sessionExpired: .sessionExpired(SessionExpired(session: session))
    case .verificationRevoked: .verificationRevoked
    case .observationNoted:
      .noted(Noted(claim: .committedDespiteCancel, part: part, remote: remote))
    case .ledgerLaunched, .ledgerReconciled, .conditionsChanged, .ledgerSealed, .ledgerUnsealed,
      .ledgerTailLost, .ledgerArchived:
      nil
    }
  }

  /// One event of a kind of the ledger's own stream; nil for a kind of upload streams.
  public static func ledgerEvent(_ kind: EventKind) -> LedgerEvent? {
    switch kind {
    case .ledgerLaunched:
      .launched(
        Launched(
          mode: .foreground, generation: LaunchGeneration(3), app: "waybill 1.0", sqlite: "3.40.1"))
    case .ledgerReconciled: .reconciled(Reconciled(uploads: 12, events: 3))
    case .conditionsChanged:
      .conditionsChanged(Conditions(network: .online, credentials: .accepted))
    case .ledgerSealed: .sealed
    case .ledgerUnsealed: .unsealed
    case .ledgerTailLost:
      .tailLost(TailLost(markedPosition: GlobalPosition(120), lastPosition: GlobalPosition(117)))
    case .ledgerArchived:
      .archived(
        Archived(
          first: GlobalPosition(1), last: GlobalPosition(100), count: 100, digest: otherHash))
    default: nil
    }
  }

  /// The stored fields of one event of a kind.
  public static func fields(_ kind: EventKind) -> EventFields {
    uploadEvent(kind)?.fields ?? ledgerEvent(kind)?.fields ?? EventFields()
  }
}
