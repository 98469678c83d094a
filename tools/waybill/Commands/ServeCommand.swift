internal import WaybillModel
internal import WaybillServer

extension Command {
  static let serve = Command(
    name: "serve", group: .serve, summary: "run the reference server",
    usage: ["--data DIR --token-file FILE [--listen ADDRESS:PORT]"],
    details: [
      "Prints 'listening on http://ADDRESS:PORT' as its first line and serves until it is asked to"
        + " stop. The token file has one 'TOKEN ACCOUNT [read-only]' a line.",
      "A client has 20 seconds for the head of a request, and 30 KiB of a body must come in each"
        + " 30 seconds; a slower one is cut off. Heads are at most 32 KiB, documents 64 KiB.",
      "--fault rehearses failures: ENDPOINT[@FILE][#N|#N-M|*]:ACTION, with ENDPOINT open, part,"
        + " status, commit, abandon or any, and FILE the name of the one file it is for; several"
        + " with commas. ACTION is one of drop, drop-reply, truncated, forget, lose=PART,"
        + " delay=MILLISECONDS, drip=MILLISECONDS, wrong-hash, redirect=URL, set=FIELD:TEXT,"
        + " header=NAME:VALUE, skew=SECONDS, html, empty or an answer"
        + " STATUS[/retry-after=VALUE][/slug=WORD][/bare|/html][/done], where done does the work"
        + " first.",
    ],
    options: [
      Option("data", .path, help: "folder for the server's database and files"),
      Option("token-file", .path, help: "file with one 'TOKEN ACCOUNT' a line"),
      Option("listen", .text("ADDRESS:PORT"), help: "127.0.0.1:8080 if not given; port 0 picks"),
      Option("part-size", .byteCount(65_536...67_108_864), help: "bytes of each part; 8MiB"),
      Option(
        "session-lifetime", .duration(.seconds(1)...(.seconds(366 * 86_400))),
        help: "how long an upload stays open; 7d"),
      Option(
        "quota", .byteCount(0...(1 << 60)), help: "bytes an account may hold; else no limit"),
      Option(
        "requests-per-minute", .number(1...1_000_000), help: "for each account; else no limit"),
      Option("opens-per-hour", .number(1...1_000_000), help: "for each account; else no limit"),
      Option("fault", .text("RULES"), repeats: true, help: "failures to rehearse"),
    ], machine: .none,
    examples: [
      Example("waybill serve --data ./server --token-file tokens", "serve on 127.0.0.1:8080"),
      Example(
        "waybill serve --data d --token-file t --fault 'commit#1:drop-reply'",
        "lose the reply of the first commit"),
      Example(
        "waybill serve --data d --token-file t --fault 'commit#1:503/done'",
        "commit, but say 503 the first time"),
    ],
    exitCodes: [.ok, .error, .usage],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let options = try invocation.serverOptions()
      let interrupts = try Interrupts.listen()
      let server = try Failure.fromServer { () throws(ServerError) in
        try WaybillServer.start(options)
      }
      if !server.isLoopback {
        invocation.messages.warning(
          "no TLS: who is on the network can read tokens and photos; put a proxy with TLS in front")
      }
      try invocation.output.line("listening on \(server.baseURL)")
      try invocation.output.flush()
      for await _ in interrupts { break }
      // A server that has stopped has let go of its database.
      let photos = server.photoCount
      server.stop()
      let counts = server.counts
      invocation.messages.note(
        "stopped; \(HumanText.byteCount(counts.bodyBytes)) received,"
          + " \(HumanText.count(photos, "photo")) held")
      for fault in server.firedFaults {
        invocation.messages.note(
          "fault \(fault.rule) fired \(HumanText.count(fault.count, "time"))")
      }
      return .ok
    })
}

extension Invocation {
  fileprivate func serverOptions() throws(Failure) -> ServerOptions {
    guard let data = arguments.path("data")?.text else {
      throw Failure.usage("no data folder is given: name it with --data DIR", command: "serve")
    }
    guard let tokenFile = arguments.path("token-file")?.text else {
      throw Failure.usage(
        "no token file is given: name it with --token-file FILE", command: "serve")
    }
    let tokens = try Failure.fromServer { () throws(ServerError) in
      try AccessTokens(contentsOf: tokenFile)
    }
    var options = ServerOptions(dataDirectory: data, tokens: tokens)
    (options.address, options.port) = try listenAddress()
    if let size = arguments.number("part-size") { options.partSizeBytes = size }
    if let lifetime = arguments.duration("session-lifetime") {
      options.sessionLifetimeSeconds = lifetime.components.seconds
    }
    options.quotaBytes = arguments.number("quota")
    options.requestsPerMinute = arguments.number("requests-per-minute").map { Int($0) }
    options.openingsPerHour = arguments.number("opens-per-hour").map { Int($0) }
    let rules = arguments.texts("fault").joined(separator: ",")
    if !rules.isEmpty {
      options.faults = try Failure.fromServer { () throws(ServerError) in try FaultScript(rules) }
    }
    return options
  }

  private func listenAddress() throws(Failure) -> (address: String, port: UInt16) {
    let text = arguments.text("listen") ?? "127.0.0.1:8080"
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else {
      throw Failure.usage(
        "--listen '\(EscapedText.escape(text))' is no ADDRESS:PORT such as 127.0.0.1:8080",
        command: "serve")
    }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
    }
    return (address, port)
  }
}

extension Failure {
  /// Runs work of the server and gives its errors the program's form.
  fileprivate static func fromServer<T>(
    _ work: () throws(ServerError) -> T
  ) throws(Failure) -> T {
    do {
      return try work()
    } catch {
      throw Failure(error)
    }
  }
}
