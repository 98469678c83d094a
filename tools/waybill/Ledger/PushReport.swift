internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

/// What a push or an add came to, for people and for machines.
struct PushReport {
  let outcome: Push.Outcome
  let refused: [PickedFiles.Refused]
  let counts: LedgerCounts
  var isOnlyAdded = false

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
      invocation.messages.warning("\(file.path.display) was not taken: \(file.reason)")
    }
    if invocation.format == .json {
      try invocation.output.json(document)
    } else {
      for line in lines { try invocation.output.line(line) }
    }
    return try exitCode()
  }

  private var lines: [String] {
    var lines: [String] = []
    func say(_ count: Int, _ words: String) {
      if count > 0 { lines.append("\(HumanText.count(count, "file")) \(words)") }
    }
    say(summary.queued.count, "queued")
    say(summary.alreadyUploaded.count, "already uploaded, skipped")
    say(summary.alreadyQueued.count, "already queued, skipped")
    say(unavailable.count, "not taken")
    if isOnlyAdded {
      lines.append("run 'waybill push' to send what is queued")
      return lines
    }
    say(outcome.foundOnServer, "found on the server, not sent again")
    let open = counts[.queued] + counts[.sending] + counts[.verifying] + counts[.savedLocally]
    let all = open + counts[.committed] + counts[.needsAttention]
    if all > 0 { lines.append(committed(of: all)) }
    if counts[.needsAttention] > 0 {
      let number = Int(counts[.needsAttention])
      lines.append(
        "\(HumanText.count(number, "upload")) \(number == 1 ? "needs" : "need") attention;"
          + " see 'waybill queue'")
    }
    return lines
  }

  private func committed(of all: Int64) -> String {
    "\(counts[.committed]) of \(all) committed · "
      + HumanText.percentage(counts.confirmedBytes, of: counts.totalBytes)
      + " of \(HumanText.byteCount(counts.totalBytes))"
  }

  private var document: JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text(isOnlyAdded ? "add" : "push")),
      .init("queued", .array(summary.queued.map { .text($0.upload.description) })),
      .init("already_uploaded", .integer(Int64(summary.alreadyUploaded.count))),
      .init("already_queued", .integer(Int64(summary.alreadyQueued.count))),
      .init("found_on_server", .integer(Int64(outcome.foundOnServer))),
      .init(
        "unavailable",
        .array(
          unavailable.map { file in
            .object([
              .init("path", .text(FileName(bytes: file.path.bytes).repaired)),
              .init("code", .text(file.code)), .init("message", .text(file.reason)),
            ])
          })),
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
    }
  }

  private func exitCode() throws(Failure) -> ExitCode {
    if isOnlyAdded { return unavailable.isEmpty ? .ok : .error }
    switch outcome.ending {
    case .stopped: return .interrupted
    case .offline:
      throw Failure(
        .failed, "the server cannot be reached",
        remedy: "What is queued stays. Check the URL and the network, then run 'waybill push'.")
    case .serverUnavailable:
      throw Failure(
        .failed, "the server answers, but takes nothing at the moment",
        remedy: "What is queued stays. See 'waybill queue', then run 'waybill push' later.")
    case .credentialsRejected:
      throw Failure(
        .failed, "the server does not accept the credential",
        remedy: "What is queued stays. Put a valid token into the token file, then run"
          + " 'waybill push'.")
    case .sealed:
      throw Failure(
        .failed, "the ledger is sealed: nothing is sent from it",
        remedy: "Sign in to its account again.")
    case .finished:
      if !unavailable.isEmpty { return .error }
      return counts[.needsAttention] > 0 ? .needsAttention : .ok
    }
  }
}
