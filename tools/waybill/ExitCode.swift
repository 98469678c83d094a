internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel
internal import WaybillServer
internal import WaybillSystem

/// What the program tells the shell. Scripts depend on these numbers.
enum ExitCode: Int32, Sendable, CaseIterable {
  case ok = 0
  case error = 1
  case usage = 2
  case needsAttention = 3
  case noLedger = 10
  case busy = 11
  case newerFormat = 12
  case corrupt = 13
  case badTrace = 65
  case interrupted = 130

  /// What the number says, for help pages.
  var meaning: String {
    switch self {
    case .ok: "done"
    case .error: "something failed; the message says what"
    case .usage: "the command line could not be understood"
    case .needsAttention: "finished, but something needs attention"
    case .noLedger: "there is no ledger at that place"
    case .busy: "another process holds the ledger"
    case .newerFormat: "a newer waybill wrote it; this one will not write there"
    case .corrupt: "the ledger is damaged"
    case .badTrace: "the trace is damaged or is none"
    case .interrupted: "interrupted; run it again to go on"
    }
  }
}

/// Why a command could not do its work: what, where, and what to do next.
///
/// Texts are shown as they are, so names from outside pass `RawArgument.display` or
/// `EscapedText` before they come here. Secrets never come here.
struct Failure: Error, Equatable {
  /// The kind, as JSON spells it.
  enum Code: String, Sendable, CaseIterable {
    case failed
    case usage
    case noLedger = "no_ledger"
    case busy
    case newerFormat = "newer_format"
    case corrupt
    case badTrace = "bad_trace"
    case interrupted
    case outputFailed = "output_failed"
    /// Whoever read our output has closed it, as `head` does: no error, and nobody to tell.
    case readerGone = "reader_gone"
  }

  var code: Code
  /// What went wrong, without a full stop.
  var what: String
  /// The file, upload or position it happened at.
  var place: String?
  /// What to do next, as a sentence.
  var remedy: String

  init(_ code: Code, _ what: String, at place: String? = nil, remedy: String) {
    self.code = code
    self.what = what
    self.place = place
    self.remedy = remedy
  }
}

// MARK: The one map from failures to exit codes and text. LedgerError, TraceError and
// TransferError become a `Failure` by an initializer each, here and nowhere else.

extension Failure {
  /// The number for the shell.
  var exitCode: ExitCode {
    switch code {
    case .failed, .outputFailed: .error
    case .usage: .usage
    case .noLedger: .noLedger
    case .busy: .busy
    case .newerFormat: .newerFormat
    case .corrupt: .corrupt
    case .badTrace: .badTrace
    case .interrupted: .interrupted
    case .readerGone: .ok
    }
  }

  /// What and where on one line.
  var message: String { place.map { "\(what) (\($0))" } ?? what }

  /// Two lines for people, each with its line feed.
  var text: String { "waybill: \(message)\n  \(remedy)\n" }

  /// One object for machines.
  var json: JSONValue {
    .object([
      .init("v", .integer(1)), .init("type", .text("error")), .init("code", .text(code.rawValue)),
      .init("message", .text(message)), .init("remedy", .text(remedy)),
    ])
  }

  /// A command line that could not be understood.
  static func usage(_ what: String, command: String?) -> Failure {
    let page = command.map { "waybill \($0) --help" } ?? "waybill --help"
    return Failure(.usage, what, remedy: "Try '\(page)'.")
  }

  /// Writing to stdout ended with `error`, an errno.
  static func writing(_ error: SystemError) -> Failure {
    if error == .brokenPipe {
      return Failure(.readerGone, "nobody reads the output any more", remedy: "")
    }
    return Failure(
      .outputFailed, "cannot write: \(error.text)", at: "standard output",
      remedy: "Make room or choose another place for the output, then run it again.")
  }
}

extension Failure {
  /// A failure of the ledger.
  init(_ error: LedgerError) {
    let code: Code =
      switch error.code {
      case .notFound, .foreignFile: .noLedger
      case .busy: .busy
      case .newerFormat: .newerFormat
      case .corrupt: .corrupt
      default: .failed
      }
    self.init(code, error.message, remedy: error.remedy.asSentence)
  }

  /// A failure to move or remove uploads.
  init(_ error: ArchiveError) {
    if let error = error.ledger {
      self.init(error)
    } else {
      self.init(
        error.code == .damagedSegment ? .corrupt : .failed, error.message,
        remedy: error.remedy.asSentence)
    }
  }

  /// A failure of the reference server to start; its message holds the remedy too.
  init(_ error: ServerError) {
    self.init(.failed, EscapedText.escape(error.message), remedy: "See 'waybill serve --help'.")
  }
}

extension String {
  /// The text with a capital in front and a full stop behind, as remedies are written.
  var asSentence: String {
    guard let first else { return "" }
    return first.uppercased() + dropFirst() + (hasSuffix(".") ? "" : ".")
  }
}
