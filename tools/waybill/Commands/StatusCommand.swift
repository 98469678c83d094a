internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let status = Command(
    name: "status", group: .look, summary: "how many uploads stand where, and their bytes",
    usage: [""],
    examples: [
      Example("waybill status", "the six states of the default ledger"),
      Example("waybill status --ledger ./ledger --json", "the same for a script"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let (counts, state) = try await Failure.from { () async throws(LedgerError) in
        (try await reader.counts(), try await reader.state())
      }
      if invocation.format == .json {
        try invocation.output.json(
          .object([
            .init("v", .integer(1)), .init("type", .text("status")),
            .init("counts", StatusText.counts(counts)), .init("bytes", StatusText.bytes(counts)),
            .init("network", .text(state.conditions.network.rawValue)),
            .init("credentials", .text(state.conditions.credentials.rawValue)),
            .init("sealed", .bool(state.isSealed)),
            .init("waiting", state.waiting.map(\.document) ?? .null),
            .init("owner", reader.owner.map { .text($0) } ?? .null),
          ]))
        return .ok
      }
      for line in StatusText.lines(counts, state, owner: reader.owner, invocation) {
        try invocation.output.line(line)
      }
      return .ok
    })
}

extension StatusText {
  /// The six states and what holds them up, for people.
  static func lines(
    _ counts: LedgerCounts, _ state: LedgerState, owner: String?, _ invocation: Invocation
  ) -> [String] {
    var table = Table(columns: [
      Table.Column(title: "state"), Table.Column(title: "uploads", side: .right),
    ])
    for word in order where counts[word] > 0 || word.isInView {
      table.add([
        Table.Cell(word.rawValue.replacing("_", with: " ")), Table.Cell(String(counts[word])),
      ])
    }
    let terminal = invocation.standardOutput
    let lines = table.lines(
      width: terminal.tableWidth, palette: terminal.palette, glyphs: terminal.glyphs)
    let remarks = remarks(
      counts, state, owner: owner, glyphs: terminal.glyphs, times: invocation.times)
    return lines + (remarks.isEmpty ? [] : [""] + remarks)
  }

  /// What the counts alone do not say.
  private static func remarks(
    _ counts: LedgerCounts, _ state: LedgerState, owner: String?, glyphs: Glyphs, times: TimeText
  ) -> [String] {
    var lines: [String] = []
    if counts.uploads.values.allSatisfy({ $0 == 0 }) {
      lines.append("nothing has been added yet")
    } else if counts.totalBytes > 0 {
      lines.append(
        "\(HumanText.byteCount(counts.confirmedBytes)) of"
          + " \(HumanText.byteCount(counts.totalBytes)) confirmed by the server ("
          + HumanText.percentage(
            counts.confirmedBytes, of: counts.totalBytes, glyphs: glyphs) + ")")
    }
    if let waiting = state.conditions.waiting, counts.isAnythingOpen {
      let until = waiting.until.map { ", not before \(times.full($0))" } ?? ""
      lines.append("everything waits: \(waiting.reason.sentence)\(until)")
    }
    if counts[.needsAttention] > 0 { lines.append("what needs attention: see 'waybill queue'") }
    switch state.seal {
    case .keep: lines.append("the ledger is sealed: nothing is sent from it")
    case .discard: lines.append("the ledger is sealed: what has not ended is given up")
    case nil: break
    }
    if let owner { lines.append("in use by \(owner)") }
    return lines
  }
}

extension StateWord {
  /// Whether uploads at this word are in the six-state view.
  fileprivate var isInView: Bool { self != .cancelled && self != .deduplicated }
}

extension Waiting {
  /// What is waited for, for machines.
  fileprivate var document: JSONValue {
    .object([
      .init("reason", .text(reason.rawValue)),
      .init("until", until.map { .text($0.description) } ?? .null),
    ])
  }
}

extension LedgerCounts {
  fileprivate var isAnythingOpen: Bool { self[.queued] + self[.sending] + self[.verifying] > 0 }
}
