/// A wish about one upload.
public enum UploadCommand: Equatable, Sendable {
  /// Record the durable copy in the staging folder.
  case export(Exported)
  /// Record the hash of the copy.
  case hash(ContentHash)
  /// Make the intent durable.
  case queue(Intent)
  /// End the stream because the same bytes are queued or stored already.
  case deduplicate(Deduplicated.Original)
  /// Announce that a part is handed to the transport.
  case send(PartNumber)
  /// Give it up.
  case cancel(CancelReason)
  /// Try again from where it stands.
  case retry
  /// Hold it back.
  case pause
  /// No longer hold it back.
  case resume
  /// Record that the copy was deleted.
  case releaseCopy
}

extension Upload {
  /// The events that grant a command, in order; none when what is wished for holds already.
  ///
  /// - Throws: `Rejection` when the command cannot be granted in this state; nothing follows.
  public func decide(_ command: UploadCommand) throws(Rejection) -> [ProposedEvent] {
    switch command {
    case .export(let exported):
      guard revision == .none else { throw .alreadyDone }
      return [ProposedEvent(.exported(exported), cause: .command)]
    case .hash(let hash):
      try requireOpen()
      guard copy != nil else { throw .tooEarly }
      guard self.hash == nil else { throw .alreadyDone }
      return [ProposedEvent(.hashed(Hashed(hash: hash)), cause: .command)]
    case .queue(let intent):
      try requireOpen()
      guard hash != nil else { throw .tooEarly }
      guard self.intent == nil else { throw .alreadyDone }
      return [ProposedEvent(.queued(Queued(intent: intent)), cause: .command)]
    case .deduplicate(let original):
      try requireOpen()
      guard hash != nil else { throw .tooEarly }
      guard intent == nil else { throw .alreadyDone }
      return [ProposedEvent(.deduplicated(Deduplicated(original: original)), cause: .command)]
    case .send(let part): return try decideSend(part)
    case .cancel(let reason):
      if case .cancelled = ending { return [] }
      try requireOpen()
      return [ProposedEvent(.cancelled(Cancelled(reason: reason)), cause: .command)]
    case .retry:
      try requireOpen()
      let isHeldUp =
        attention != nil || paused != nil || delay != nil || parts.contains { $0.failure != nil }
      return isHeldUp ? [ProposedEvent(.retried(Retried(round: round + 1)), cause: .command)] : []
    case .pause:
      try requireOpen()
      return paused == nil ? [ProposedEvent(.paused, cause: .command)] : []
    case .resume:
      try requireOpen()
      return paused == nil ? [] : [ProposedEvent(.resumed, cause: .command)]
    case .releaseCopy:
      guard ending != nil else { throw .copyStillNeeded }
      guard copy != nil, copyReleased == nil else { return [] }
      return [ProposedEvent(.copyReleased, cause: .command)]
    }
  }

  private func requireOpen() throws(Rejection) {
    guard revision != .none else { throw .unknownUpload }
    guard ending == nil else { throw .ended }
  }

  private func decideSend(_ part: PartNumber) throws(Rejection) -> [ProposedEvent] {
    try requireOpen()
    guard attention == nil else { throw .needsAttention }
    guard paused == nil else { throw .paused }
    guard let unsent = unsent(part) else { throw .tooEarly }
    guard parts[part.index].flight == nil else { throw .alreadyInFlight }
    guard !isConfirmed(part) else { throw .alreadyDone }
    if isSequential {
      guard flights.isEmpty, part == firstUnconfirmed else { throw .tooEarly }
    }
    let sent = PartSent(
      part: part, attempt: parts[part.index].attempt + 1, byteCount: unsent.count)
    return [ProposedEvent(.partSent(sent), cause: .command)]
  }
}
