internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

/// Options and openings that commands about a ledger share.
extension Option {
  static let destination = [
    Option("to", .text("URL"), help: "the base URL of the service; tus+ for tus"),
    Option(
      "allow-plain-http", help: "take http:// for hosts other than this one; it shows everything"),
  ]
  static let tokenFile = Option(
    "token-file", .path, help: "file whose first word is the token; else $WAYBILL_TOKEN")
  static let recursive = Option("recursive", short: "r", help: "take the files in folders")
  static let urgent = Option("urgent", help: "before everything that is queued")
  static let patience = Option(
    "patience", .duration(.zero...(.seconds(86_400))),
    help: "how long the server may stay out of reach, or a rule hold; 20s if not given")
  static let background = Option(
    "background", help: "let an agent own what is on its way, so that it outlives this command")
  static let account = Option(
    "account", .text("NAME"),
    help: "whose the token is; a ledger is bound to the first one and refuses others")
  static let all = Option("all", help: "every upload it can be said of")
  static let yes = Option("yes", short: "y", help: "do not ask; needed where nobody can be asked")
  static let dryRun = Option("dry-run", short: "n", help: "say what would be done, do nothing")
}

extension Invocation {
  /// Where uploads go.
  func destination() throws(Failure) -> Destination {
    guard let text = arguments.text("to") else {
      throw Failure.usage("no destination is given: name it with --to URL", command: command.name)
    }
    do {
      return try Destination(text, allowsPlainHTTP: arguments.has("allow-plain-http"))
    } catch {
      let remedy =
        error == .plainHTTP
        ? "Use https, or --allow-plain-http if you trust the network up to that server."
        : error.remedy.asSentence
      throw Failure(.usage, error.what, at: "--to", remedy: remedy)
    }
  }

  /// How long the server may stay out of reach.
  var patienceMilliseconds: Int64 {
    guard let (seconds, attoseconds) = arguments.duration("patience")?.components else {
      return 20_000
    }
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }

  /// Opens the ledger for writing.
  ///
  /// - Parameter createsIt: whether a ledger is made where there is none.
  func openLedger(createsIt: Bool) async throws(Failure) -> Ledger {
    let path = try ledgerPath()
    let isToldWhose = command.options.contains { $0.name == Option.account.name }
    let account = isToldWhose ? arguments.text("account") : nil
    if !createsIt { await (try openReader()).close() }
    return try await Failure.from { () async throws(LedgerError) in
      try await Ledger.open(
        directory: path,
        options: LedgerOptions(
          app: "waybill \(Version.waybill)", account: account))
    }
  }

  /// Opens the ledger for reading.
  func openReader() async throws(Failure) -> LedgerReader {
    let path = try ledgerPath()
    return try await Failure.from { () async throws(LedgerError) in
      try await LedgerReader.open(path)
    }
  }

  /// The upload a person names by its id or by a beginning of it that no other id has.
  func upload(named name: String, in reader: LedgerReader) async throws(Failure) -> UploadID {
    let text = name.lowercased()
    let found = try await Failure.from { () async throws(LedgerError) in
      try await reader.uploads(withPrefix: text, limit: 2)
    }
    guard let first = found.first, !text.isEmpty else {
      throw Failure(
        .failed, "no upload begins with '\(EscapedText.escape(text))'",
        remedy: "See 'waybill queue' for the ids.")
    }
    guard found.count == 1 else {
      throw Failure(
        .failed, "more than one upload begins with '\(EscapedText.escape(text))'",
        remedy: "Give more of the id.")
    }
    return first
  }
}

extension CurlTransport.Options {
  /// As the command line uses it.
  static var commandLine: CurlTransport.Options {
    var options = CurlTransport.Options()
    options.userAgent = "waybill/\(Version.waybill)"
    return options
  }
}

extension Failure {
  /// Runs work on a ledger and gives its errors the program's form.
  static func from<T>(
    _ work: () async throws(LedgerError) -> sending T
  ) async throws(Failure) -> sending T {
    do {
      return try await work()
    } catch {
      throw Failure(error)
    }
  }
}
