internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let doctor = Command(
    name: "doctor", group: .keep, summary: "look at a ledger's surroundings and say what to do",
    usage: [""],
    details: [
      "Versions, format, permissions, write-ahead log, head mark, owner, local copies, inbox, disk,"
        + " and what rules such as --wifi-only go by: network and power. Quick, and writes nothing;"
        + " 'waybill verify' reads the whole log."
    ],
    examples: [
      Example("waybill doctor", "look at the default ledger"),
      Example("waybill doctor --ledger ./ledger --json", "the same for a script"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let reader = try await invocation.openReader()
      let device = await ConditionsProvider.system.current() ?? DeviceConditions()
      let remarks =
        try await Failure.from { () async throws(LedgerError) in
          try await reader.checkup()
        }.remarks + [
          Checkup.Remark(
            level: .fine, subject: "device", message: "this device: \(device.words)", remedy: "")
        ]
      let isBroken = remarks.contains { $0.level == .problem }
      if invocation.format == .json {
        try invocation.output.json(
          .object([
            .init("v", .integer(1)), .init("type", .text("doctor")),
            .init("ok", .bool(!isBroken)), .init("remarks", .array(remarks.map(\.document))),
          ]))
      } else {
        let palette = invocation.standardOutput.palette
        for remark in remarks {
          try invocation.output.line("\(remark.mark(palette))  \(remark.message)")
          if !remark.remedy.isEmpty { try invocation.output.line("      → \(remark.remedy)") }
        }
      }
      return isBroken ? .corrupt : .ok
    })
}

extension Checkup.Remark {
  fileprivate var document: JSONValue {
    .object([
      .init("subject", .text(subject)), .init("level", .text(level.rawValue)),
      .init("message", .text(message)), .init("remedy", .text(remedy)),
    ])
  }

  /// The level in one word of four cells.
  fileprivate func mark(_ palette: Palette) -> String {
    switch level {
    case .fine: palette.paint("ok  ", .good)
    case .warning: palette.paint("look", .caution)
    case .problem: palette.paint("BAD ", .bad)
    }
  }
}
