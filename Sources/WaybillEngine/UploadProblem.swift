internal import WaybillLedger
public import WaybillModel

/// Something that went wrong beyond any one upload, for a person to see and to put away.
public struct UploadProblem: Equatable, Sendable, Identifiable {
  /// Tells it from other problems of the same screen: there is one of each kind at a time.
  public var id: String { kind.rawValue }
  /// What kind of trouble it is.
  public let kind: ProblemKind
  /// What is wrong.
  public var text: Phrase { kind.phrase }
  /// What to do about it.
  public var remedy: Phrase { kind.remedy }
  /// The same for whoever is asked for support, in English; may name a folder of this device.
  public let diagnosis: String

  init(_ error: LedgerError) {
    kind = error.problem
    diagnosis = "\(error.code.word): \(error.description)"
  }

  init(_ rejection: Rejection) {
    kind = rejection.problem
    diagnosis = rejection.message
  }
}

extension LedgerError {
  fileprivate var problem: ProblemKind {
    switch code {
    case .diskFull: .diskFull
    case .inputOutput: .inputOutput
    case .busy: .busy
    case .newerFormat: .newerFormat
    case .corrupt, .foreignFile: .damaged
    case .unusable, .replaced, .notFound: .unusable
    case .otherDestination: .otherDestination
    case .closed: .closed
    default: .other
    }
  }
}
