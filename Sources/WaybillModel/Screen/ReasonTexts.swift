extension Waiting.Reason {
  /// Why an upload is not sent now.
  public var phrase: Phrase {
    switch self {
    case .offline: Phrase("waiting.offline", "The server cannot be reached")
    case .retrying: Phrase("waiting.retrying", "An attempt failed; another one follows")
    case .credentials: Phrase("waiting.credentials", "The server wants you to sign in again")
    case .quota: Phrase("waiting.quota", "The account has no room left")
    case .paused: Phrase("waiting.paused", "You hold it back; resume it to go on")
    case .sealed: Phrase("waiting.sealed", "You are signed out; sign in to go on")
    case .wifi: Phrase("waiting.wifi", "This network may cost; it goes on over Wi-Fi")
    case .lowData: Phrase("waiting.low_data", "This device saves data; it goes on when that ends")
    case .charger: Phrase("waiting.charger", "It goes on when this device is being charged")
    case .batterySaver:
      Phrase("waiting.battery_saver", "This device saves power; it goes on when that ends")
    case .window: Phrase("waiting.window", "It goes on at the time of day you chose")
    case .disk: Phrase("waiting.disk", "This device has no room left")
    }
  }

  /// Why it is not known what became of an upload whose bytes are all at the server.
  var verifyingPhrase: Phrase {
    switch self {
    case .offline:
      Phrase("verifying.offline", "The server has everything, but cannot be reached")
    case .retrying:
      Phrase("verifying.retrying", "The server has everything; it is asked again")
    case .credentials:
      Phrase("verifying.credentials", "The server has everything, but wants you to sign in")
    case .quota:
      Phrase("verifying.quota", "The server has everything, but the account has no room left")
    case .paused:
      Phrase("verifying.paused", "The server has everything; you hold the rest back")
    case .sealed:
      Phrase("verifying.sealed", "The server has everything, but you are signed out")
    case .wifi:
      Phrase("verifying.wifi", "The server has everything; it is asked again over Wi-Fi")
    case .lowData:
      Phrase(
        "verifying.low_data",
        "The server has everything; it is asked again when this device saves no data")
    case .charger:
      Phrase(
        "verifying.charger",
        "The server has everything; it is asked again when this device is being charged")
    case .batterySaver:
      Phrase(
        "verifying.battery_saver",
        "The server has everything; it is asked again when this device saves no power")
    case .window:
      Phrase(
        "verifying.window",
        "The server has everything; it is asked again at the time of day you chose")
    case .disk:
      Phrase("verifying.disk", "The server has everything, but this device has no room left")
    }
  }

  var glyph: String {
    switch self {
    case .offline: "wifi.slash"
    case .retrying: "clock.arrow.circlepath"
    case .credentials: "person.crop.circle.badge.exclamationmark"
    case .quota: "externaldrive.badge.xmark"
    case .paused: "pause.circle"
    case .sealed: "lock"
    case .wifi: "wifi"
    case .lowData: "arrow.down.circle"
    case .charger: "bolt.slash"
    case .batterySaver: "battery.25"
    case .window: "moon"
    case .disk: "externaldrive.badge.exclamationmark"
    }
  }
}

extension AttentionReason {
  /// Why a person has to decide.
  public var phrase: Phrase { Phrase("attention.\(rawValue)", english) }

  private var english: String {
    switch self {
    case .hashMismatch: "The server holds other bytes than this file has"
    case .sourceMissing: "The copy on this device is gone"
    case .sourceChanged: "The copy on this device has changed since it was added"
    case .accessRevoked: "This account may not upload there any more"
    case .serverInconsistent: "The server keeps losing what it had confirmed"
    case .refused: "The server refuses this file"
    case .tooLarge: "The file is larger than the server takes"
    case .quota: "The account has no room for it"
    case .conflict: "The record on the server has changed in the meantime"
    case .attemptsExhausted: "Sending it failed too often"
    case .protocolViolation: "The answers of the server make no sense"
    case .notOurServer: "Something else answers in place of the server"
    case .serverUnfinished: "The server does not come to an end with it"
    case .unproven: "The server has it, but cannot prove that it is the same"
    case .recordUnreadable: "What was recorded of it cannot be read"
    }
  }
}

extension NextAction {
  /// What a person can do, as the label of a button.
  public var phrase: Phrase { Phrase("action.\(rawValue)", english) }

  private var english: String {
    switch self {
    case .retry: "Try again"
    case .cancel: "Give it up"
    case .addAgain: "Add the file again"
    case .signIn: "Sign in again"
    case .freeSpace: "Make room in the account"
    case .resolveConflict: "Choose between the versions"
    case .askSupport: "Ask support"
    }
  }
}
