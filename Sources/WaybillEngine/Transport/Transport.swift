public import WaybillModel

/// Moves bytes. Mirrors a system-owned background session, so that one engine serves a transport
/// that dies with the process (libcurl) and one that does not (URLSession in the background).
///
/// A transport judges nothing: it follows no redirect, retries nothing and reports each reply, or
/// that none came, exactly once. Its events have one consumer.
public protocol Transport: Sendable {
  /// Whether a slice of a file can be sent as it is. A transport that sends whole files only is
  /// given a file for each part.
  var sendsSlices: Bool { get }

  /// Starts sending one part. Its completion arrives in `events`, also when it fails at once.
  ///
  /// Starting a description that is alive already changes nothing.
  func start(_ description: TransferDescription, _ request: HTTPRequest) async

  /// Makes one small call and waits for its reply.
  ///
  /// Cancelling the calling task ends the call with `.noReply(.cancelled)`.
  func call(_ request: HTTPRequest) async -> HTTPOutcome

  /// The parts being sent right now, also those that an earlier process started.
  func liveTransfers() async -> [TransferDescription]

  /// Stops one transfer; its completion arrives as `.noReply(.cancelled)`.
  func cancel(_ description: TransferDescription) async

  /// Progress and completions, in the order in which they happened for each transfer.
  var events: AsyncStream<TransportEvent> { get }

  /// Stops everything and ends `events`. Transfers of a system-owned session go on without us.
  func shutDown() async
}

/// What a transport has to say about a transfer.
public enum TransportEvent: Sendable, Equatable {
  /// Bytes of the body handed to the network so far; only grows within one attempt.
  case progress(TransferDescription, sent: Int64)
  /// The transfer ended.
  case completed(TransferDescription, HTTPOutcome)
}
