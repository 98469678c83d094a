internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

/// What a push or an add came to, for people and for machines.
struct PushReport {
  let outcome: Push.Outcome
  let ended: Push.Ended
  /// How many files were named, folders opened up.
  let picked: Int
  let refused: [PickedFiles.Refused]
  let counts: LedgerCounts
  let destination: Destination?
  var isOnlyAdded = false
  var isInBackground = false

  private var summary: AddSummary { outcome.summary }

  private var unavailable: [PickedFiles.Refused] {
    refused
      + summary.unavailable.map { file, error in
        PickedFiles.Refused(
          path: RawArgument(bytes: file.path), code: error.code.word, reason: error.description)
      }
  }

  /// Prints it and says how the program ends.
  func print(_ invocation: Invocation) throws(Failure) -> ExitCode {
    for file in unavailable {
      let name = file.path.bytes.isEmpty ? "''" : file.path.display
      invocation.messages.warning("\(name) was not taken: \(file.reason)")
    }
    if invocation.format == .json {
      try invocation.output.json(document)
    } else {
      for line in taken + (isOnlyAdded ? [] : sent) { try invocation.output.line(line) }
    }
    // Notes about the result come behind it, also where both streams are one.
    try invocation.output.flush()
    if isOnlyAdded, summary.queued.count + summary.alreadyQueued.count > 0 {
      invocation.messages.note("nothing is sent yet; 'waybill push' sends what is queued")
    }
    if !isOnlyAdded, outcome.ending == .stopped {
      invocation.messages.note(
        isInBackground
          ? "stopped; parts on their way go on, run 'waybill push --background' to collect them"
          : notLookedAt > 0
            ? "stopped; what is queued stays, run the same command again to take the rest"
            : "stopped; what is queued stays, run 'waybill push' to go on")
    }
    return try exitCode()
  }

  private func say(_ count: Int, _ noun: String, _ words: String) -> [String] {
    count > 0 ? ["\(HumanText.count(count, noun)) \(words)"] : []
  }

  /// What became of the files that were named.
  private var taken: [String] {
    say(summary.queued.count, "file", "queued")
      + say(summary.alreadyUploaded.count, "file", "already uploaded, skipped")
      + say(summary.alreadyQueued.count, "file", "already queued, skipped")
      + say(unavailable.count, "file", "not taken")
      + say(notLookedAt, "file", "not looked at yet")
  }

  /// What became of the queue.
  private var sent: [String] {
    var lines =
      say(ended.committed, "upload", "committed")
      + say(ended.foundOnServer, "upload", "found on the server, not sent again")
    if open == 0, counts[.needsAttention] == 0, lines.isEmpty {
      let all = counts[.committed]
      lines.append(
        "nothing to send"
          + (all > 0 ? "; everything is committed, \(HumanText.byteCount(counts.totalBytes))" : ""))
    }
    if open > 0 {
      lines.append(
        "\(HumanText.count(Int(open), "upload")) not committed yet, "
          + "\(HumanText.byteCount(counts.confirmedBytes))"
          + " of \(HumanText.byteCount(counts.totalBytes)) on the server")
    }
    let number = Int(counts[.needsAttention])
    return lines
      + say(number, "upload", "\(number == 1 ? "needs" : "need") attention; see 'waybill queue'")
  }

  /// Files that were named and that a stop came before.
  private var notLookedAt: Int {
    max(
      0,
      picked - summary.queued.count - summary.alreadyUploaded.count - summary.alreadyQueued.count
        - summary.unavailable.count)
  }

  private var open: Int64 {
    counts[.queued] + counts[.sending] + counts[.verifying] + counts[.savedLocally]
  }

  private var document: JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text(isOnlyAdded ? "add" : "push")),
      .init("queued", .array(summary.queued.map { .text($0.upload.description) })),
      .init("already_uploaded", .integer(Int64(summary.alreadyUploaded.count))),
      .init("already_queued", .integer(Int64(summary.alreadyQueued.count))),
      .init("committed", .integer(Int64(ended.committed))),
      .init("found_on_server", .integer(Int64(ended.foundOnServer))),
      .init(
        "unavailable",
        .array(
          unavailable.map { file in
            .object([
              .init("path", .text(FileName(bytes: file.path.bytes).repaired)),
              .init("code", .text(file.code)), .init("message", .text(file.reason)),
            ])
          })),
      .init("not_looked_at", .integer(Int64(notLookedAt))),
      .init("ending", .text(endingWord)), .init("counts", StatusText.counts(counts)),
      .init("bytes", StatusText.bytes(counts)),
    ])
  }

  private var endingWord: String {
    if isOnlyAdded { return "added" }
    return switch outcome.ending {
    case .finished: "finished"
    case .stopped: "stopped"
    case .offline: "offline"
    case .serverUnavailable: "server_unavailable"
    case .credentialsRejected: "credentials_rejected"
    case .sealed: "sealed"
    case .held: "held"
    }
  }

  private func exitCode() throws(Failure) -> ExitCode {
    if isOnlyAdded { return unavailable.isEmpty ? .ok : .error }
    switch outcome.ending {
    case .stopped: return .interrupted
    case .offline:
      throw Failure(
        .failed, "the server cannot be reached",
        at: destination.map { EscapedText.escape($0.text) },
        remedy: "What is queued stays. Check the URL and the network, then run 'waybill push'.")
    case .serverUnavailable:
      throw Failure(
        .failed, "the server answers, but takes nothing at the moment",
        at: destination.map { EscapedText.escape($0.text) },
        remedy: "What is queued stays. See 'waybill queue', then run 'waybill push' later.")
    case .credentialsRejected:
      throw Failure(
        .failed, "the server does not accept the credential",
        at: destination.map { EscapedText.escape($0.text) },
        remedy: "What is queued stays. Give a valid token, then run"
          + " 'waybill push'.")
    case .sealed:
      throw Failure(
        .failed, "the ledger is sealed: nothing is sent from it",
        remedy: "If it is your account, run 'waybill unseal'; else name your own with --ledger.")
    case .held(let waiting):
      throw Failure(
        .failed, "nothing may be sent now: \(waiting.reason.sentence)",
        remedy: "What is queued stays. Run the same push again when that has changed, or give it"
          + " more time with --patience.")
    case .finished:
      if !unavailable.isEmpty { return .error }
      return counts[.needsAttention] > 0 ? .needsAttention : .ok
    }
  }
}
