#if os(Linux)
  import Foundation
  import WaybillEngine
  import WaybillModel

  extension CurlTransport.Options {
    /// The real deadlines, but no proxy between a test and its own server.
    static var test: CurlTransport.Options {
      var options = CurlTransport.Options()
      options.userAgent = "waybill/test"
      options.obeysProxyVariables = false
      return options
    }

    /// Deadlines for tests that wait for one.
    static var impatient: CurlTransport.Options {
      var options = test
      options.connectTimeout = .milliseconds(300)
      options.callTimeout = .milliseconds(400)
      options.stallTimeout = .milliseconds(300)
      options.replyTimeout = .milliseconds(300)
      return options
    }
  }

  extension TransferDescription {
    static func sample(part: Int, attempt: Int = 1) -> TransferDescription {
      TransferDescription(
        upload: UploadID(high: 1, low: 2), part: PartNumber(part), attempt: attempt,
        launch: LaunchGeneration(1))
    }
  }

  extension HTTPOutcome {
    var reply: HTTPReply? {
      if case .reply(let reply) = self { reply } else { nil }
    }

    var status: Int? { reply?.status }
  }

  extension Transport {
    /// Sends one part and waits for its completion.
    func send(_ request: HTTPRequest, part: Int = 0) async -> HTTPOutcome? {
      let description = TransferDescription.sample(part: part)
      await start(description, request)
      return await completions(1)[description]?.first
    }

    /// The next completions, by description.
    func completions(_ count: Int) async -> [TransferDescription: [HTTPOutcome]] {
      var outcomes: [TransferDescription: [HTTPOutcome]] = [:]
      var left = count
      guard left > 0 else { return outcomes }
      for await event in events {
        guard case .completed(let description, let outcome) = event else { continue }
        outcomes[description, default: []].append(outcome)
        left -= 1
        if left == 0 { break }
      }
      return outcomes
    }
  }

  extension Optional<HTTPOutcome> {
    var status: Int? { flatMap(\.status) }
    var reply: HTTPReply? { flatMap(\.reply) }
  }

  /// Runs a test between a transport and a server that does as its script says; ends both.
  func withServer(
    _ options: CurlTransport.Options = .test, script: @escaping NastyServer.Script,
    body: (CurlTransport, NastyServer) async throws -> Void
  ) async throws {
    let server = try NastyServer(script)
    defer { server.stop() }
    let transport = CurlTransport(options: options)
    try await body(transport, server)
    await transport.shutDown()
  }

  extension TestFile {
    /// How often this process has the file open.
    var openDescriptors: Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))
          == path
      }.count
    }
  }
#endif
