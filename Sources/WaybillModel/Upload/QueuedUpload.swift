/// One row of the queue: what an app lists.
public struct QueuedUpload: Equatable, Sendable {
  /// The upload.
  public let id: UploadID
  /// The person's name for the file.
  public let fileName: FileName
  /// The length of the file in bytes.
  public let byteCount: Int64
  /// Bytes of confirmed parts and of the parts in flight; never more than `byteCount`.
  public let bytesSent: Int64
  /// Bytes the server acknowledged; what is only on its way is not among them.
  public let bytesConfirmed: Int64
  /// Where it stands.
  public let state: State

  /// Where a queued upload stands.
  public enum State: Equatable, Sendable {
    /// In line.
    case queued
    /// Bytes are moving, or the server is checking them.
    case uploading
    /// Held up.
    case waiting(Waiting)
    /// Available everywhere under this remote id.
    case done(RemoteID)
    /// A person has to decide.
    case failed(AttentionReason)
    /// Given up.
    case cancelled

    /// The stable word of the state.
    public var word: String {
      switch self {
      case .queued: "queued"
      case .uploading: "uploading"
      case .waiting: "waiting"
      case .done: "done"
      case .failed: "failed"
      case .cancelled: "cancelled"
      }
    }
  }

  /// Makes a row from its values.
  public init(
    id: UploadID, fileName: FileName, byteCount: Int64, bytesSent: Int64, bytesConfirmed: Int64,
    state: State
  ) {
    self.id = id
    self.fileName = fileName
    self.byteCount = byteCount
    self.bytesSent = bytesSent
    self.bytesConfirmed = bytesConfirmed
    self.state = state
  }

  /// The row of a folded upload, with what is known of parts in flight; nil for an upload that is
  /// in no queue: one without a copy, or one that ended as a duplicate.
  ///
  /// - Parameters:
  ///   - upload: the upload as its events left it.
  ///   - progress: bytes handed to the network of the parts in flight.
  public init?(_ upload: Upload, progress: Int64 = 0) {
    guard let copy = upload.copy else { return nil }
    switch (upload.ending, upload.state) {
    case (.deduplicated, _): return nil
    case (.cancelled, _): state = .cancelled
    case (_, .committed(let remote)): state = .done(remote)
    case (_, .needsAttention(let reason, _)): state = .failed(reason)
    case (_, .queued(let waiting)): state = waiting.map { .waiting($0) } ?? .queued
    case (_, .sending): state = .uploading
    case (_, .verifying): state = upload.waiting.map { .waiting($0) } ?? .uploading
    case (_, .savedLocally), (_, nil): state = .queued
    }
    id = upload.id
    fileName = copy.name
    byteCount = copy.byteCount
    let inFlight = min(max(progress, 0), upload.bytesInFlight)
    bytesSent = min(upload.confirmedBytes + inFlight, copy.byteCount)
    bytesConfirmed = min(upload.confirmedBytes, copy.byteCount)
  }
}

extension QueuedUpload.State {
  /// The state while some conditions hold: what is in line or on its way waits for what holds
  /// everything up.
  public func held(by conditions: Conditions) -> QueuedUpload.State {
    held(by: conditions.waiting)
  }

  /// The state while everything waits for something, or for nothing.
  public func held(by waiting: Waiting?) -> QueuedUpload.State {
    switch self {
    case .queued, .uploading: waiting.map { .waiting($0) } ?? self
    case .waiting, .done, .failed, .cancelled: self
    }
  }
}
