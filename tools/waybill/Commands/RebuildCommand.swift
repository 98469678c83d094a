internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let rebuild = Command(
    name: "rebuild", group: .keep, summary: "drop every derived table and fold the log anew",
    usage: ["[--dry-run]"],
    details: [
      "The log is the truth and stays as it is. With --dry-run the rows that are not what the log"
        + " says are listed and nothing is written. Nothing is sent either way."
    ],
    options: [.dryRun],
    examples: [
      Example("waybill rebuild --dry-run", "list the rows that differ"),
      Example("waybill rebuild", "fold them anew"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let found = try await Failure.from { () async throws(LedgerError) in
        try await reader.projectionDifferences()
      }
      await reader.close()
      if invocation.arguments.has("dry-run") {
        try report(found.rows, found.count, tables: nil, invocation)
        return found.count == 0 ? .ok : .corrupt
      }
      let ledger = try await invocation.openLedger(createsIt: false)
      let tables = try await Failure.from { () async throws(LedgerError) in
        try await ledger.rebuild()
      }
      await ledger.close()
      try report(found.rows, found.count, tables: tables, invocation)
      return .ok
    })

  private static func report(
    _ rows: [ProjectionDifference], _ count: Int, tables: [String]?, _ invocation: Invocation
  ) throws(Failure) {
    if invocation.format == .json {
      return try invocation.output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text("rebuild")),
          .init("differences", .integer(Int64(count))),
          .init(
            "rows",
            .array(
              rows.map { row in
                .object([
                  .init("projection", .text(row.projection)),
                  .init("upload", row.upload.map { .text($0.description) } ?? .null),
                  .init("kind", .text(row.kind.rawValue)),
                ])
              })),
          .init("rebuilt", .array((tables ?? []).map { .text($0) })),
        ]))
    }
    for row in rows { try invocation.output.line(row.message) }
    if rows.count < count { try invocation.output.line("… and \(count - rows.count) more") }
    if let tables {
      try invocation.output.line(
        "folded anew: \(tables.joined(separator: ", "));"
          + " \(HumanText.count(count, "row")) differed before")
    } else if count == 0 {
      try invocation.output.line("every row is what the log says")
    }
  }
}
