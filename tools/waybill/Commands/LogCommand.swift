internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let log = Command(
    name: "log", group: .look, summary: "print the events of the log, newest last",
    usage: ["[--upload ID] [--kind KIND]… [-n N] [-f]"],
    options: [
      Option("follow", short: "f", help: "go on with new events as they are recorded"),
      Option("number", short: "n", .number(1...1_000_000), help: "only the newest N events"),
      Option("reverse", short: "r", help: "newest first"),
      Option("upload", .text("ID"), help: "only this upload, by a beginning of its id"),
      Option("kind", .text("KIND"), repeats: true, help: "only this kind, such as part.sent"),
      Option(
        "since", .text("TIME"),
        help: "only events at or after an RFC 3339 time, or so long ago, such as 2h"),
      Option("until", .text("TIME"), help: "only events before such a time"),
      Option("launch", .number(1...Int64.max), help: "only events of this launch"),
      Option("after", .number(0...Int64.max), help: "only events behind this position"),
    ], machine: .jsonAndLines,
    examples: [
      Example("waybill log -n 20", "the newest twenty events"),
      Example("waybill log --since 1h --upload 019ad2c1", "one upload in the last hour"),
      Example("waybill log -f -n 10", "the newest ten, then each new one until Ctrl-C"),
      Example("waybill log --kind part.failed --jsonl", "every failure, one JSON object a line"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt, .interrupted],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      var query = try await invocation.eventQuery(reader)
      let follows = invocation.arguments.has("follow")
      var following = query
      if follows {
        try invocation.checkFollowing()
        following.after = max(try await head(reader), query.after ?? .start)
        query.before = following.after?.next
      }
      var list = EventList(invocation)
      if let number = invocation.arguments.number("number") {
        for event in try await newest(Int(number), query, reader) { try list.add(event) }
      } else {
        try await forEach(query, reader) { (event) throws(Failure) in try list.add(event) }
      }
      if follows { return try await follow(following, reader, &list, invocation.output) }
      try list.end()
      return .ok
    })

  /// Prints new events until Ctrl-C, or until nobody reads them any more.
  private static func follow(
    _ query: EventQuery, _ reader: LedgerReader, _ list: inout EventList, _ output: Output
  ) async throws(Failure) -> ExitCode {
    let interrupts = try Interrupts.listen()
    let stopping = Task { for await _ in interrupts { await reader.close() } }
    defer { stopping.cancel() }
    var updates = reader.updates(query).makeAsyncIterator()
    while true {
      try output.flush()
      let page: [RecordedEvent]?
      do {
        page = try await updates.next()
      } catch {
        throw Failure(error)
      }
      guard let page else { return .interrupted }
      for event in page { try list.add(event) }
    }
  }

  private static func head(_ reader: LedgerReader) async throws(Failure) -> GlobalPosition {
    try await Failure.from { () async throws(LedgerError) in try await reader.head() }
  }

  /// The newest events, oldest first unless the query is reversed.
  private static func newest(
    _ number: Int, _ query: EventQuery, _ reader: LedgerReader
  ) async throws(Failure) -> [RecordedEvent] {
    var backwards = query
    backwards.isReversed = true
    var events: [RecordedEvent] = []
    while events.count < number {
      let page = try await page(backwards, reader, limit: number - events.count)
      events += page
      guard page.count == LedgerReader.maximumPage, let last = page.last else { break }
      backwards.before = last.position
    }
    return query.isReversed ? events : events.reversed()
  }

  /// Every event of a query, page by page.
  private static func forEach(
    _ query: EventQuery, _ reader: LedgerReader,
    _ body: (RecordedEvent) throws(Failure) -> Void
  ) async throws(Failure) {
    var query = query
    while true {
      let page = try await page(query, reader, limit: LedgerReader.maximumPage)
      for event in page { try body(event) }
      guard page.count == LedgerReader.maximumPage, let last = page.last else { return }
      if query.isReversed { query.before = last.position } else { query.after = last.position }
    }
  }

  private static func page(
    _ query: EventQuery, _ reader: LedgerReader, limit: Int
  ) async throws(Failure) -> [RecordedEvent] {
    try await Failure.from { () async throws(LedgerError) in
      try await reader.events(query, limit: limit)
    }
  }
}

extension Invocation {
  /// What the options of `log` ask for.
  fileprivate func eventQuery(_ reader: LedgerReader) async throws(Failure) -> EventQuery {
    var query = EventQuery()
    query.isReversed = arguments.has("reverse")
    query.kinds = arguments.texts("kind")
    for kind in query.kinds where EventKind(rawValue: kind) == nil {
      let near = Suggestion.nearest(to: kind, among: EventKind.allCases.map(\.rawValue))
      messages.warning(
        "this version knows no kind '\(EscapedText.escape(kind))'"
          + (near.map { "; did you mean \($0)?" } ?? ""))
    }
    if let text = arguments.text("upload") {
      let id = try await upload(named: text, in: reader)
      query.upload = id
      let isArchived = try await Failure.from { () async throws(LedgerError) in
        try await reader.segment(of: id) != nil
      }
      if isArchived {
        messages.note(
          "only the end of this upload is in the log; 'waybill show \(id)' reads the rest")
      }
    }
    query.since = try time("since")
    query.until = try time("until")
    query.launch = arguments.number("launch").map { LaunchGeneration($0) }
    query.after = arguments.number("after").map { GlobalPosition($0) }
    return query
  }

  /// Refuses what cannot go on for ever.
  fileprivate func checkFollowing() throws(Failure) {
    if arguments.has("reverse") {
      throw Failure.usage("-f goes forward and -r backward: leave one out", command: command.name)
    }
    if format == .json {
      throw Failure.usage("a JSON document has an end: follow with --jsonl", command: command.name)
    }
  }

  private func time(_ option: String) throws(Failure) -> Timestamp? {
    guard let text = arguments.text(option) else { return nil }
    if let time = Timestamp(rfc3339: text) { return time }
    if let (seconds, _) = try? Quantity.duration(text).components, seconds < 1 << 40 {
      return SystemClock.now.adding(milliseconds: -seconds * 1000)
    }
    throw Failure.usage(
      "--\(option) '\(EscapedText.escape(text))' is neither a time such as"
        + " 2026-11-30T08:00:00Z nor so long ago, such as 2h", command: command.name)
  }
}

/// Prints events one by one, or gathers them where the shape needs the whole.
struct EventList {
  private let invocation: Invocation
  /// Whether each line names its upload, which lines about one upload need not.
  private let namesUploads: Bool
  private var documents: [JSONValue] = []
  private var day = ""

  init(_ invocation: Invocation, namesUploads: Bool = true) {
    self.invocation = invocation
    self.namesUploads = namesUploads
  }

  mutating func add(_ event: RecordedEvent) throws(Failure) {
    switch invocation.format {
    case .jsonLines: try invocation.output.json(event.document)
    case .json: documents.append(event.document)
    case .text:
      let today = invocation.times.day(event.time)
      if today != day {
        try invocation.output.line(invocation.standardOutput.palette.paint(today, .heading))
        day = today
      }
      try invocation.output.line(line(event))
    }
  }

  private func line(_ event: RecordedEvent) -> String {
    let place = TextWidth.pad(String(event.position.value), 7, side: .right)
    let kind = TextWidth.pad(EscapedText.escape(event.kindName), 23)
    let upload =
      namesUploads ? TextWidth.pad(event.upload?.short ?? "ledger", 18) + "  " : ""
    let correction = event.compensates.map { " (corrects \($0.value))" } ?? ""
    let detail = event.detail(invocation.times) + correction
    let line = "\(place)  \(invocation.times.ofDay(event.time))  \(upload)\(kind)  \(detail)"
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  func end() throws(Failure) {
    guard invocation.format == .json else { return }
    try invocation.output.json(
      .object([
        .init("v", .integer(1)), .init("type", .text("log")), .init("events", .array(documents)),
      ]))
  }
}
