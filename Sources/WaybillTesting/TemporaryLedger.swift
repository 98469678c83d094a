public import WaybillLedger
public import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A ledger in a fresh folder of its own, deleted when the last reference goes.
///
/// Keep it alive for as long as the ledger is used: `withExtendedLifetime`, or hold it in a suite.
public final class TemporaryLedger: Sendable {
  /// The fresh folder, mode 0700; room for files beside the ledger.
  public let folder: String
  /// The folder of the ledger, below `folder`; not there before the first `open`.
  public var directory: String { folder + "/ledger" }
  /// The database of the ledger.
  public var database: String { directory + "/ledger.sqlite" }
  /// The head mark of the ledger.
  public var headMark: String { directory + "/head" }

  /// Makes the fresh folder in the system's folder for temporary files.
  public init() {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/waybill-XXXXXX".utf8CString)
    folder = template.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let made = mkdtemp(base) else {
        preconditionFailure("no folder for temporary files can be made in \(parent)")
      }
      return String(cString: made)
    }
  }

  deinit { TemporaryLedger.remove(folder) }

  /// Opens the ledger for writing; `time`, when given, is the moment of every event.
  public func open(
    app: String = "test 1.0", time: Timestamp? = nil
  ) async throws(LedgerError) -> Ledger {
    var options = LedgerOptions(app: app)
    if let time { options.clock = { time } }
    return try await Ledger.open(directory: directory, options: options)
  }

  /// Opens the ledger for reading, beside whoever writes.
  public func reader() async throws(LedgerError) -> LedgerReader {
    try await LedgerReader.open(directory)
  }

  /// Deletes a folder and what is in it, at most a few levels deep; links are not followed.
  private static func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    try? Folder.forEachName(in: path) { remove("\(path)/\(String(decoding: $0, as: UTF8.self))") }
    rmdir(path)
  }
}

/// The life of one upload as the events of its stream, up to a stage; made without a server.
///
/// The same number always gives the same upload, hash and events, so that a test that fails can be
/// run again.
public struct UploadLife: Sendable {
  /// How far a life goes.
  public enum Stage: Int, Comparable, CaseIterable, Sendable {
    /// A copy, not yet hashed.
    case exported
    /// Hash and intent are recorded.
    case queued
    /// A session is open and the first part is on its way.
    case sending
    /// The server holds every byte.
    case received
    /// Available everywhere.
    case committed

    /// Orders from the start to the end of a life.
    public static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
  }

  /// The length of each part, in bytes.
  public static let partSize = PartPlan.partSizeRange.lowerBound

  /// The upload.
  public let id: UploadID
  /// The hash of its bytes.
  public let hash: ContentHash
  /// The events up to the stage, in order.
  public let events: [ProposedEvent]

  /// Makes the life of the upload with a number.
  ///
  /// - Parameters:
  ///   - number: which upload; its id and its hash follow from it.
  ///   - stage: the last stage.
  ///   - partCount: how many parts it has, from 1.
  ///   - name: the person's name for the file; one made from the number when nil.
  public init(
    _ number: UInt64, to stage: Stage = .committed, partCount: Int = 2, name: FileName? = nil
  ) {
    id = UploadID(high: 0x0193_7a00_0000_7000, low: 0x8000_0000_0000_0000 | number)
    let bytes = (0..<32).map {
      UInt8(truncatingIfNeeded: number >> UInt64(8 * ($0 % 8))) ^ UInt8($0)
    }
    hash = bytes.withUnsafeBytes { ContentHash(unchecked: $0) }
    let all = UploadLife.whole(
      id, hash, number: number, partCount: partCount, name: name ?? FileName("photo \(number).heic")
    )
    events = all.filter { $0.stage <= stage }.map(\.event)
  }

  private static func whole(
    _ id: UploadID, _ hash: ContentHash, number: UInt64, partCount: Int, name: FileName
  ) -> [(stage: Stage, event: ProposedEvent)] {
    let byteCount = partSize * Int64(partCount)
    let exported = Exported(
      file: StagedFileID(id), name: name, byteCount: byteCount, source: .file)
    let intent = Intent(
      destination: "http://127.0.0.1:8080", operation: IdempotencyKey("operation-\(number)"))
    let offer = SessionOffer(
      session: SessionReference("session-\(number)"), partSize: partSize, partCount: partCount,
      expires: nil)
    var life: [(stage: Stage, event: ProposedEvent)] = [
      (.exported, ProposedEvent(.exported(exported), cause: .command)),
      (.queued, ProposedEvent(.hashed(Hashed(hash: hash)), cause: .command)),
      (.queued, ProposedEvent(.queued(Queued(intent: intent)), cause: .command)),
      (.sending, ProposedEvent(.sessionOpened(SessionOpened(offer: offer)), cause: .server)),
    ]
    for index in 0..<partCount {
      let part = PartNumber(index)
      let sent = PartSent(part: part, attempt: 1, byteCount: partSize)
      let confirmed = PartConfirmed(part: part, byteCount: partSize)
      life.append(
        (index == 0 ? .sending : .received, ProposedEvent(.partSent(sent), cause: .command)))
      life.append((.received, ProposedEvent(.partConfirmed(confirmed), cause: .transport)))
    }
    let committed = Committed(
      remote: RemoteID("photo-\(number)"), version: 1, hash: hash, status: 200)
    life += [
      (.received, ProposedEvent(.received(Received(byteCount: byteCount)), cause: .server)),
      (.committed, ProposedEvent(.verified(Verified(hash: hash)), cause: .server)),
      (.committed, ProposedEvent(.committed(committed), cause: .server)),
    ]
    return life
  }

  /// Appends the whole life in one append.
  @discardableResult
  public func append(to ledger: Ledger) async throws(LedgerError) -> [RecordedEvent] {
    try await ledger.append(events, to: id, expecting: .none)
  }
}
