/// Why a command was refused. A closed list on purpose: callers answer each case.
public enum Rejection: Error, Hashable, Sendable {
  /// The ledger has no such upload.
  case unknownUpload
  /// The upload has come to its end.
  case ended
  /// The step needs one that has not happened: a copy, a hash, an intent, a session.
  case tooEarly
  /// The step has happened already.
  case alreadyDone
  /// The part is on its way already.
  case alreadyInFlight
  /// The upload waits for a person.
  case needsAttention
  /// A person holds the upload back.
  case paused
  /// Local bytes are kept until the upload has ended.
  case copyStillNeeded

  /// The refusal in a person's words.
  public var message: String {
    switch self {
    case .unknownUpload: "no such upload"
    case .ended: "the upload has ended"
    case .tooEarly: "the upload is not that far yet"
    case .alreadyDone: "that is done already"
    case .alreadyInFlight: "the part is on its way already"
    case .needsAttention: "the upload waits for a person; retry or cancel it"
    case .paused: "the upload is held back; resume it first"
    case .copyStillNeeded: "the local copy is kept until the upload has ended"
    }
  }
}
