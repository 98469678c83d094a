internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let verify = Command(
    name: "verify", group: .keep, summary: "check the log and everything folded from it",
    usage: ["[--fast]"],
    details: [
      "Reads the whole log again: the chain of hashes, positions and revisions without a hole, the"
        + " head mark, and every derived table against a fresh fold, row by row. Writes nothing.",
      "With --fast it counts instead: the structure of the file, as many events as positions and"
        + " revisions, the head mark, and how far each table says it is folded. That finds what is"
        + " missing, but not an event or a row that was changed.",
    ],
    options: [Option("fast", help: "count instead of reading every event")],
    examples: [
      Example("waybill verify", "check the default ledger"),
      Example("waybill verify --fast", "a look before work begins"),
      Example("waybill verify --ledger ./ledger --json", "the findings for a script"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader: LedgerReader
      do throws(Failure) {
        reader = try await invocation.openReader()
      } catch {
        guard error.code == .corrupt else { throw error }
        throw Failure(
          .corrupt, error.what, at: error.place,
          remedy: "Copy the ledger folder before anything else is done with it; then restore"
            + " it, or try '.recover' of sqlite3 on the copy.")
      }
      let depth: Verification.Depth = invocation.arguments.has("fast") ? .fast : .deep
      let report = try await Failure.from { () async throws(LedgerError) in
        try await reader.verify(depth)
      }
      if invocation.format == .json {
        try invocation.output.json(report.document)
      } else {
        for line in report.lines { try invocation.output.line(line) }
      }
      return report.isSound ? .ok : .corrupt
    })
}

extension Verification {
  fileprivate var document: JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text("verify")), .init("ok", .bool(isSound)),
      .init("events", .integer(events)), .init("head", .integer(head.value)),
      .init("archived", .integer(archived)),
      .init(
        "findings",
        .array(
          findings.map { finding in
            .object([
              .init("kind", .text(finding.kind)),
              .init("position", finding.position.map { .integer($0.value) } ?? .null),
              .init("message", .text(finding.message)),
            ])
          })), .init("finding_count", .integer(Int64(findingCount))),
      .init("depth", .text(depth.rawValue)),
    ])
  }

  fileprivate var lines: [String] {
    let gone = archived > 0 ? ", \(archived) archived or purged" : ""
    let size = "\(HumanText.count(Int(clamping: events), "event")), head \(head.value)\(gone)"
    guard !isSound else {
      return [
        depth == .deep
          ? "sound: \(size); chain, head mark and derived tables agree"
          : "nothing is missing: \(size); what the events say was not read (leave out --fast)"
      ]
    }
    var lines = ["\(HumanText.count(findingCount, "finding")) in \(size):"]
    lines += findings.map { "  \($0.kind): \(EscapedText.escape($0.message))" }
    if findingCount > findings.count { lines.append("  … and more of the kind") }
    lines.append("copy the ledger folder before anything else is done with it")
    return lines
  }
}
