/// Kinds of trouble that are not of one upload, in words for the person in front of the screen.
public enum ProblemKind: String, Sendable, CaseIterable {
  /// The disk is full.
  case diskFull = "disk_full"
  /// Reading or writing failed.
  case inputOutput = "input_output"
  /// Somebody else works on the ledger.
  case busy
  /// The ledger was written by a newer version.
  case newerFormat = "newer_format"
  /// A file of the ledger is damaged, or not one of ours.
  case damaged
  /// The ledger cannot be used as it is: permissions, a moved or exchanged file.
  case unusable
  /// The uploads of this ledger go to another service.
  case otherDestination = "other_destination"
  /// The ledger has been closed.
  case closed
  /// The uploads that something was wished of have ended.
  case ended
  /// What was wished cannot be granted as they are now.
  case notNow = "not_now"
  /// The uploads that something was wished of are not in this ledger.
  case unknownUpload = "unknown_upload"
  /// Anything else.
  case other

  /// What is wrong.
  public var phrase: Phrase { Phrase("problem.\(rawValue).text", text) }
  /// What to do about it.
  public var remedy: Phrase { Phrase("problem.\(rawValue).remedy", remedyText) }

  private var text: String {
    switch self {
    case .diskFull: "This device has no room left to record uploads"
    case .inputOutput: "The record of uploads could not be read or written"
    case .busy: "Another program works on these uploads"
    case .newerFormat: "These uploads were recorded by a newer version of this app"
    case .damaged: "The record of uploads is damaged"
    case .unusable: "The record of uploads cannot be opened"
    case .otherDestination: "These uploads go to another service"
    case .closed: "The record of uploads has been closed"
    case .ended: "It has come to an end already; nothing can be changed about it"
    case .notNow: "That cannot be done with it as it stands now"
    case .unknownUpload: "There is no such upload any more"
    case .other: "Something went wrong with the record of uploads"
    }
  }

  private var remedyText: String {
    switch self {
    case .diskFull: "Free some space; nothing that was recorded is lost"
    case .inputOutput: "Open this screen again; if it happens again, ask support"
    case .busy: "Close the other program, then open this screen again"
    case .newerFormat: "Update this app"
    case .damaged: "Keep this app installed, and ask support"
    case .unusable: "Unlock the device, or restart it, then open this screen again"
    case .otherDestination: "Sign in to the account they belong to"
    case .closed: "Open this screen again"
    case .ended: "To send the file after all, add it again"
    case .notNow: "Look at its state, and try again"
    case .unknownUpload: "Add the file again if you want to send it"
    case .other: "Open this screen again; if it happens again, ask support"
    }
  }
}

extension Rejection {
  /// The kind of trouble a refusal is for the person who wished for it.
  public var problem: ProblemKind {
    switch self {
    case .unknownUpload: .unknownUpload
    case .ended: .ended
    case .tooEarly, .alreadyDone, .alreadyInFlight, .needsAttention, .paused, .copyStillNeeded:
      .notNow
    }
  }
}
