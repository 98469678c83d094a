internal import WaybillEngine
internal import WaybillModel

/// The options that say when a push may send.
extension Option {
  static let rules = [
    Option("wifi-only", help: "send nothing over a mobile or metered network"),
    Option("on-charger", help: "send nothing on battery"),
    Option(
      "window", .text("HH:MM-HH:MM"), repeats: true,
      help: "send at this time of day only, in local time; may be given again"),
  ]
}

extension Invocation {
  /// The rules the options ask for, and who tells what they depend on: nobody is asked without any.
  func policy() throws(Failure) -> (rules: SendingPolicy, device: ConditionsProvider?) {
    var rules = SendingPolicy()
    rules.avoidsMetered = arguments.has("wifi-only")
    rules.avoidsCellular = arguments.has("wifi-only")
    rules.needsCharger = arguments.has("on-charger")
    for text in arguments.texts("window") {
      guard let window = DailyWindow(text) else {
        throw Failure(
          .usage, "'\(EscapedText.escape(text))' is no time of day to send at", at: "--window",
          remedy: "Write it as 22:00-06:00; it may go over midnight, but not end where it begins.")
      }
      rules.windows.append(window)
    }
    return (rules, rules.looksAtDevice ? .system : nil)
  }
}

extension DeviceConditions {
  /// What is known of the device, in words.
  var words: String {
    let cost: String? = isMetered.map { $0 ? "metered" : "not metered" }
    let saving: [String?] = [
      isLowData == true ? "data saver on" : nil, isBatterySaver == true ? "power saver on" : nil,
    ]
    return ([link.words, cost, power.words] + saving).compactMap(\.self).joined(separator: ", ")
  }
}

extension DeviceConditions.Link {
  fileprivate var words: String {
    switch self {
    case .unknown: "network not known"
    case .none: "no network"
    case .wired: "network by cable"
    case .wifi: "network by Wi-Fi"
    case .cellular: "mobile network"
    case .other: "network of another kind"
    }
  }
}

extension DeviceConditions.Power {
  fileprivate var words: String {
    switch self {
    case .unknown: "power not known"
    case .external: "plugged in"
    case .battery: "on battery"
    }
  }
}
