internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let queue = Command(
    name: "queue", group: .look, summary: "list the uploads and where each stands",
    usage: [""], options: [.openOnly], machine: .jsonAndLines,
    examples: [
      Example("waybill queue", "every upload, oldest first"),
      Example("waybill queue --open --jsonl", "what has not ended, one JSON object a line"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let isOpenOnly = invocation.arguments.has("open")
      var list = QueueList(invocation)
      var page: GlobalPosition?
      repeat {
        let (rows, next) = try await Failure.from { [page] () async throws(LedgerError) in
          try await reader.queue(after: page)
        }
        for row in rows where !isOpenOnly || row.state.isOpen { try list.add(row) }
        page = next
      } while page != nil
      try list.end()
      if invocation.format == .text, !isOpenOnly { try await invocation.tellOfArchive(reader) }
      return .ok
    })
}

extension Option {
  fileprivate static let openOnly = Option("open", help: "only uploads that have not ended")
}

/// Prints the queue row by row, or gathers it where the shape needs the whole.
private struct QueueList {
  private let invocation: Invocation
  private var documents: [JSONValue] = []
  /// Whether there is room for sizes and shares beside what tells uploads and states apart.
  private let hasRoom: Bool
  private var table: Table

  init(_ invocation: Invocation) {
    self.invocation = invocation
    hasRoom = invocation.standardOutput.tableWidth ?? .max >= 64
    let amounts = [
      Table.Column(title: "size", side: .right), Table.Column(title: "sent", side: .right),
    ]
    table = Table(
      columns: [Table.Column(title: "id"), Table.Column(title: "name", shrinks: true)]
        + (hasRoom ? amounts : []) + [Table.Column(title: "state")])
  }

  mutating func add(_ row: QueuedUpload) throws(Failure) {
    switch invocation.format {
    case .jsonLines: try invocation.output.json(row.document)
    case .json: documents.append(row.document)
    case .text:
      let item = ItemState(row)
      let glyphs = invocation.standardOutput.glyphs
      let amounts = [
        Table.Cell(HumanText.byteCount(row.byteCount)),
        Table.Cell(HumanText.percentage(row.bytesSent, of: row.byteCount, glyphs: glyphs)),
      ]
      table.add(
        [Table.Cell(hasRoom ? row.id.short : row.id.shortest), Table.Cell(row.fileName.display)]
          + (hasRoom ? amounts : [])
          + [Table.Cell("\(item.glyph(glyphs)) \(item.word)", item.style)])
    }
  }

  func end() throws(Failure) {
    switch invocation.format {
    case .jsonLines: return
    case .json:
      try invocation.output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text("queue")),
          .init("uploads", .array(documents)),
        ]))
    case .text:
      if table.rows.isEmpty { return invocation.messages.note("nothing is in the queue") }
      let terminal = invocation.standardOutput
      let lines = table.lines(
        width: terminal.tableWidth, palette: terminal.palette, glyphs: terminal.glyphs)
      for line in lines {
        try invocation.output.line(line)
      }
    }
  }
}

extension Invocation {
  /// Says how many uploads a list does not show because they have moved into the archive.
  fileprivate func tellOfArchive(_ reader: LedgerReader) async throws(Failure) {
    let count = try await Failure.from { () async throws(LedgerError) in
      try await reader.archivedUploadCount()
    }
    guard count > 0 else { return }
    let are = count == 1 ? "is" : "are"
    messages.note(
      "\(HumanText.count(Int(count), "upload")) \(are) archived; 'waybill show ID' reads them")
  }
}

extension QueuedUpload.State {
  /// The word for machines: what is done is called as everywhere else.
  fileprivate var machineWord: String {
    if case .done = self { return StateWord.committed.rawValue }
    return word
  }

  fileprivate var isOpen: Bool {
    switch self {
    case .done, .cancelled: false
    case .queued, .uploading, .waiting, .failed: true
    }
  }

  /// Why it is held up, and until when, where it is.
  fileprivate var reason: (word: String, until: Timestamp?)? {
    switch self {
    case .waiting(let waiting): (waiting.reason.rawValue, waiting.until)
    case .failed(let reason): (reason.rawValue, nil)
    case .queued, .uploading, .done, .cancelled: nil
    }
  }
}

extension QueuedUpload {
  /// The row for machines.
  fileprivate var document: JSONValue {
    var members: [JSONValue.Member] = [
      .init("v", .integer(1)), .init("type", .text("upload")),
      .init("upload", .text(id.description)), .init("name", .text(fileName.repaired)),
      .init("bytes", .integer(byteCount)), .init("sent", .integer(bytesSent)),
      .init("state", .text(state.machineWord)),
      .init("reason", state.reason.map { .text($0.word) } ?? .null),
    ]
    var remote = JSONValue.null
    if case .done(let id) = state { remote = .text(id.text) }
    members.append(.init("remote_id", remote))
    if let until = state.reason?.until { members.append(.init("until", .text("\(until)"))) }
    if fileName.text == nil { members.append(.init("name_hex", .text(fileName.hex))) }
    return .object(members)
  }
}

extension UploadID {
  /// As much of the id as a table shows: its time and enough of the rest to tell most apart.
  var short: String { String(description.prefix(18)) }

  /// Its time alone, for windows in which more would take the place of the state.
  fileprivate var shortest: String { String(description.prefix(13)) }
}
