internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

extension Command {
  static let purge = Command(
    name: "purge", group: .keep, summary: "remove uploads for good, with all that is known of them",
    usage: ["UPLOAD… [-n] [--yes]", "--all [-n] [--yes]"],
    details: [
      "Events, names and hashes go, from the log, from what is folded from it and from the archive;"
        + " the same file is new after that. What the server has is not touched. An upload that has"
        + " not ended is refused: cancel it first.",
      "With --all every upload goes, whatever has become of it, with the local copies, the archive"
        + " and the backups: for the end of an account.",
    ],
    operands: Operands(name: "UPLOAD", count: 0...Int.max),
    options: [Option("all", help: "every upload, copy and backup"), .dryRun, .yes],
    examples: [
      Example("waybill purge 019ad2c1", "the upload whose id begins so, once you agree"),
      Example("waybill purge --all -n", "say how much would go, and what would be lost"),
    ],
    exitCodes: [.ok, .error, .usage, .noLedger, .busy, .newerFormat, .corrupt],
    run: { (invocation) async throws(Failure) -> ExitCode in
      let isAll = invocation.arguments.has("all")
      guard isAll == invocation.arguments.operands.isEmpty else {
        throw Failure.usage("name uploads, or say --all", command: "purge")
      }
      let reader = try await invocation.openReader()
      let plan = try await PurgePlan(invocation, reader, isAll: isAll)
      await reader.close()
      if invocation.arguments.has("dry-run") {
        try plan.report(nil, try invocation.olderCopies(isAll: isAll), invocation)
        return .ok
      }
      guard try invocation.agrees(to: plan.loss, what: plan.what) else {
        invocation.messages.note("nothing was removed")
        return .error
      }
      return try await plan.run(invocation)
    })
}

extension Invocation {
  /// Files that a purge of single uploads leaves; none where all of them go.
  fileprivate func olderCopies(isAll: Bool) throws(Failure) -> [String] {
    guard !isAll else { return [] }
    let path = try ledgerPath()
    do throws(ArchiveError) {
      return try Archive.copies(in: path)
    } catch {
      throw Failure(error)
    }
  }
}

/// What a purge would remove.
private struct PurgePlan {
  /// The uploads by name; nil for all of them.
  private let named: [Upload]?
  private let uploads: Int64
  /// Uploads whose bytes may be nowhere else.
  private let unsaved: Int64

  init(_ invocation: Invocation, _ reader: LedgerReader, isAll: Bool) async throws(Failure) {
    guard !isAll else {
      let counts = try await Failure.from { () async throws(LedgerError) in
        try await reader.counts()
      }
      let ended: Set<StateWord> = [.committed, .cancelled, .deduplicated]
      uploads = counts.uploads.values.reduce(0, +)
      unsaved = counts.uploads.reduce(0) { ended.contains($1.key) ? $0 : $0 + $1.value }
      named = nil
      return
    }
    var found: [Upload] = []
    for index in invocation.arguments.operands.indices {
      let name = try invocation.operandText(index)
      let id = try await invocation.upload(named: name, in: reader)
      if found.contains(where: { $0.id == id }) { continue }
      let upload = try await Failure.from { () async throws(LedgerError) in
        try await reader.upload(id)
      }
      if let upload, upload.ending == nil {
        throw Failure(
          .failed, "\(upload.title) has not ended: its bytes may be nowhere else",
          remedy: "Cancel it first with 'waybill cancel', or let it be committed.")
      }
      found.append(upload ?? Upload(id: id))
    }
    named = found
    uploads = Int64(found.count)
    unsaved = 0
  }

  /// What would go, as the object of a question.
  var what: String {
    if let named, named.count == 1 { return named[0].title }
    return (named == nil ? "all " : "") + HumanText.count(Int(clamping: uploads), "upload")
  }

  /// What would be lost, as the end of a question.
  var loss: String {
    let history = "What is known of \(uploads == 1 ? "it" : "them") is lost."
    guard unsaved > 0 else { return history }
    return "\(HumanText.count(Int(clamping: unsaved), "upload")) of them"
      + " \(unsaved == 1 ? "is" : "are") not on the server, and the copies go too. \(history)"
  }

  func run(_ invocation: Invocation) async throws(Failure) -> ExitCode {
    let ledger = try await invocation.openLedger(createsIt: false)
    let archive = Archive(ledger: ledger, app: "waybill \(Version.waybill)")
    let removal: Archive.Removal
    do throws(ArchiveError) {
      removal =
        if let named { try await archive.purge(named.map(\.id)) } else {
          try await archive.purgeAll()
        }
    } catch {
      await ledger.close()
      throw Failure(error)
    }
    await ledger.close()
    try report(removal, try invocation.olderCopies(isAll: named == nil), invocation)
    return .ok
  }

  func report(
    _ removal: Archive.Removal?, _ copies: [String], _ invocation: Invocation
  ) throws(Failure) {
    guard invocation.format == .text else {
      return try invocation.output.json(document(removal, copies))
    }
    guard let removal else {
      try invocation.output.line("would remove \(what) for good")
      return try invocation.output.line(loss)
    }
    try invocation.output.line(
      "removed \(HumanText.count(Int(clamping: removal.uploads), "upload")) for good,"
        + " \(HumanText.count(Int(clamping: removal.events), "event")) of the log")
    if removal.keptFiles {
      invocation.messages.warning(
        "the ledger is not sound, so older segments were kept; see 'waybill verify'")
    }
    if !removal.isErased {
      invocation.messages.warning(
        "a reader holds the write-ahead log, which still has them; the next command that opens the"
          + " ledger for writing empties it")
    }
    if !copies.isEmpty {
      invocation.messages.warning(
        "older copies beside the ledger may still hold them: "
          + copies.map { EscapedText.escape($0) }.joined(separator: ", "))
    }
  }

  private func document(_ removal: Archive.Removal?, _ copies: [String]) -> JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text("purge")),
      .init("dry_run", .bool(removal == nil)),
      .init("uploads", .integer(removal?.uploads ?? uploads)),
      .init("events", removal.map { .integer($0.events) } ?? .null),
      .init("erased", removal.map { .bool($0.isErased) } ?? .null),
      .init("unsaved", .integer(unsaved)),
      .init("copies", .array(copies.map { .text(EscapedText.escape($0)) })),
    ])
  }
}
