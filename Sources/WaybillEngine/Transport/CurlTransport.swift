#if os(Linux)
  internal import Glibc
  public import WaybillModel
  internal import WaybillSystem

  /// The transport on Linux: libcurl's multi interface on one thread of its own.
  ///
  /// Sends byte ranges straight from their files, reuses connections, follows no redirect, keeps no
  /// cookies and retries nothing, with one exception: a kept connection that turns out to be closed
  /// before one byte of a reply came is replaced, and the request sent again from its first byte.
  /// Transfers end with the process.
  ///
  /// Refused with `.noReply(.unusable)` before anything is sent: a URL that is neither `http` nor
  /// `https` or holds a user name, a header whose name is no token or whose value holds CR, LF or
  /// NUL, and the headers that frame a request (`Content-Length`, `Transfer-Encoding`, `Expect`).
  public final class CurlTransport: Transport {
    /// What has happened, in order for each transfer. Bounded: a newer progress replaces one of the
    /// same transfer that nobody has taken yet. Cancelling the consuming task ends it for good.
    public let events: AsyncStream<TransportEvent>

    /// libcurl reads any slice of a file.
    public let sendsSlices = true

    /// The version of libcurl in this process, such as `7.88.1`.
    package static var libraryVersion: String { CurlLoop.libraryVersion }

    private let inbox: RequestInbox
    private let mailbox: EventMailbox
    private let thread: Locked<pthread_t?>

    /// Starts the thread; no connection is made before the first request.
    ///
    /// - Parameter options: deadlines and bounds.
    public init(options: Options = Options()) {
      inbox = RequestInbox(maximumRequests: options.maximumRequests)
      mailbox = EventMailbox()
      events = mailbox.makeStream()
      thread = Locked(
        CurlThread.start(CurlThread(options: options, inbox: inbox, mailbox: mailbox)))
    }

    deinit {
      inbox.close()
      if let thread = thread.withLock({ $0.take() }) { pthread_detach(thread) }
    }

    /// Starts sending one part; its completion arrives in `events`, also when it fails at once.
    ///
    /// Starting a description that is alive already changes nothing, and so does a start after
    /// `shutDown`. Beyond `Options.maximumRequests` the completion is `.noReply(.notTaken)`.
    public func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      if inbox.submit(description, request) == .full {
        mailbox.post(completion: .noReply(.notTaken), of: description)
      }
    }

    /// Makes one small call and waits for its reply, `Options.callTimeout` at the longest.
    ///
    /// - Returns: `.noReply(.cancelled)` when the calling task is cancelled, after `shutDown` and
    ///   beyond `Options.maximumRequests`.
    public func call(_ request: HTTPRequest) async -> HTTPOutcome {
      guard let ticket = inbox.announceCall() else { return .noReply(.cancelled) }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { inbox.submit(ticket, request, $0) }
      } onCancel: {
        inbox.stopCall(ticket)
      }
    }

    /// The parts that are being sent or wait for a connection, oldest first.
    public func liveTransfers() async -> [TransferDescription] { inbox.liveTransfers() }

    /// Stops one transfer; its completion arrives as `.noReply(.cancelled)`.
    public func cancel(_ description: TransferDescription) async { inbox.stop(description) }

    /// Stops everything with `.noReply(.cancelled)`, ends `events`, closes every connection and
    /// file, and joins the thread. A second call waits for the first.
    public func shutDown() async {
      inbox.close()
      await inbox.waitForEnd()
      // The thread has nothing left to do but to return.
      if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }
  }

  extension CurlTransport {
    /// Deadlines and bounds of a `CurlTransport`.
    public struct Options: Sendable {
      /// How long resolving, connecting and the TLS handshake may take together.
      public var connectTimeout: Duration = .seconds(10)
      /// How long a call may take from `call` to its whole reply.
      public var callTimeout: Duration = .seconds(20)
      /// How long a transfer may go without `TransferDeadline.minimumBytes` of its body arriving.
      public var stallTimeout: Duration = .seconds(30)
      /// How long a transfer's reply may take to be whole once its body has arrived. What comes of
      /// it before is no sign of life.
      public var replyTimeout: Duration = .seconds(20)
      /// The least time between two progress events of one transfer.
      public var progressInterval: Duration = .milliseconds(500)
      /// The most connections at a time, at least 3; half of them are kept for calls, so that one
      /// that hangs holds up no other.
      public var maximumConnections = 8
      /// The most requests that are sent or wait at a time.
      public var maximumRequests = 1_024
      /// How many bytes are read from a file at a time, 16 KiB to 2 MiB; each transfer has one such
      /// buffer.
      public var uploadBufferBytes = 524_288
      /// A PEM file of certificate authorities to trust instead of the system's.
      public var certificateAuthorityFile: String?
      /// Who we say we are, such as `waybill/1.0`.
      public var userAgent = "waybill"
      /// Whether `https_proxy` and its relatives are obeyed.
      public var obeysProxyVariables = true

      /// The deadlines and bounds that are right outside of tests.
      public init() {}

      /// Transfers on the wire at a time.
      var maximumActiveTransfers: Int { max(1, maximumConnections - maximumActiveCalls) }

      /// Calls on the wire at a time: a status must not wait behind a queue of parts.
      var maximumActiveCalls: Int { max(2, maximumConnections / 2) }

      /// How often deadlines and progress are looked at while anything is live.
      var tick: Duration {
        let shortest = min(
          progressInterval, stallTimeout / 8, replyTimeout / 8, callTimeout / 8)
        return min(max(shortest, .milliseconds(5)), .seconds(1))
      }
    }
  }

  /// What the loop thread is given when it starts.
  final class CurlThread: Sendable {
    let options: CurlTransport.Options
    let inbox: RequestInbox
    let mailbox: EventMailbox

    init(options: CurlTransport.Options, inbox: RequestInbox, mailbox: EventMailbox) {
      self.options = options
      self.inbox = inbox
      self.mailbox = mailbox
    }

    static func start(_ body: CurlThread) -> pthread_t {
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil, runCurlThread, Unmanaged.passRetained(body).toOpaque())
      precondition(code == 0, "the system gives no thread (error \(code)); are there too many?")
      return thread
    }
  }

  /// Owns the one reference that `CurlThread.start` passed on.
  private func runCurlThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let body = Unmanaged<CurlThread>.fromOpaque(context).takeRetainedValue()
    // Signals are the process's business, and a broken pipe is an error code here.
    var everySignal = sigset_t()
    sigfillset(&everySignal)
    pthread_sigmask(SIG_BLOCK, &everySignal, nil)
    CurlLoop(options: body.options, inbox: body.inbox, mailbox: body.mailbox).run()
    return nil
  }
#endif
