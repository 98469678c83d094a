public import WaybillModel

/// Moves bytes. Mirrors a system-owned background session, so that one engine serves a transport
/// that dies with the process (libcurl) and those that do not (the agent on Linux, URLSession in
/// the background).
///
/// A transport judges nothing: it follows no redirect, retries nothing and reports each reply, or
/// that none came, exactly once. Its events have one consumer.
public protocol Transport: Sendable {
  /// Whether a slice of a file can be sent as it is. A transport that sends whole files only is
  /// given a file for each part.
  var sendsSlices: Bool { get }

  /// Whether transfers go on when this process ends. An engine that stops leaves them alone.
  var outlivesProcess: Bool { get }

  /// Starts sending one part. Its completion arrives in `events`, also when it fails at once.
  ///
  /// Starting a description that is alive already changes nothing.
  func start(_ description: TransferDescription, _ request: HTTPRequest) async

  /// Makes one small call and waits for its reply.
  ///
  /// Cancelling the calling task ends the call with `.noReply(.cancelled)`.
  func call(_ request: HTTPRequest) async -> HTTPOutcome

  /// The parts being sent right now, and those that an earlier process started and whose completion
  /// nobody has taken from `events` yet.
  func liveTransfers() async -> [TransferDescription]

  /// Stops one transfer; its completion arrives as `.noReply(.cancelled)`.
  func cancel(_ description: TransferDescription) async

  /// A completion has been recorded: a later process need not hear of it. Until then a transport
  /// that outlives the process may report it again.
  func acknowledge(_ description: TransferDescription) async

  /// Progress and completions, in the order in which they happened for each transfer.
  var events: AsyncStream<TransportEvent> { get }

  /// Stops everything and ends `events`. Transfers of a system-owned session go on without us.
  func shutDown() async
}

extension Transport {
  /// Transfers end with the process, unless a transport says otherwise.
  public var outlivesProcess: Bool { false }

  /// Nothing is kept for a later process.
  public func acknowledge(_ description: TransferDescription) async {}
}

/// What a transport has to say about a transfer.
public enum TransportEvent: Sendable, Equatable {
  /// Bytes of the body handed to the network so far; only grows within one attempt.
  case progress(TransferDescription, sent: Int64)
  /// The transfer ended.
  case completed(TransferDescription, HTTPOutcome)
}
