#if os(Linux)
  import WaybillEngine
  import WaybillModel
  import WaybillSystem

  /// The real transport, with a record of what was asked of it.
  final class WatchedTransport: Transport {
    struct Request: Sendable {
      let method: HTTPRequest.Method
      let path: String
      let part: TransferDescription?
      let byteCount: Int64
      let time: ContinuousClock.Instant

      /// The endpoint in one word.
      var word: String {
        if part != nil { return "part" }
        switch method {
        case .get: return "status"
        case .delete: return "delete"
        default: return path.hasSuffix("/commit") ? "commit" : "open"
        }
      }
    }

    private struct Record {
      var requests: [Request] = []
      var peak = 0
    }

    private let base: CurlTransport
    private let record = Locked(Record())
    var events: AsyncStream<TransportEvent> { base.events }
    var sendsSlices: Bool { base.sendsSlices }

    init(_ options: CurlTransport.Options = .test) { base = CurlTransport(options: options) }

    var requests: [Request] { record.withLock { $0.requests } }
    var words: [String] { requests.map(\.word) }
    /// The most transfers that were alive at once.
    var peak: Int { record.withLock { $0.peak } }

    private func note(_ request: HTTPRequest, _ part: TransferDescription?) {
      var byteCount: Int64 = 0
      if case .file(let slice) = request.body { byteCount = slice.count }
      let noted = Request(
        method: request.method, path: request.url, part: part, byteCount: byteCount, time: .now)
      record.withLock { $0.requests.append(noted) }
    }

    func start(_ description: TransferDescription, _ request: HTTPRequest) async {
      note(request, description)
      await base.start(description, request)
      let count = await base.liveTransfers().count
      record.withLock { $0.peak = max($0.peak, count) }
    }

    func call(_ request: HTTPRequest) async -> HTTPOutcome {
      note(request, nil)
      return await base.call(request)
    }

    func liveTransfers() async -> [TransferDescription] { await base.liveTransfers() }
    func cancel(_ description: TransferDescription) async { await base.cancel(description) }
    func shutDown() async { await base.shutDown() }
  }
#endif
