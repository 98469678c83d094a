/// What sending depends on, beyond any one upload.
public struct Conditions: EventPayload {
  /// Whether the server can be reached.
  public enum Network: String, Sendable, CaseIterable {
    /// Nobody has tried yet.
    case unknown
    /// The last try reached it.
    case online
    /// The last try did not.
    case offline
  }

  /// Whether the server accepts the credential.
  public enum Credentials: String, Sendable, CaseIterable {
    /// Nobody has tried yet.
    case unknown
    /// The last reply accepted it.
    case accepted
    /// The last reply refused it, or there is none of the ledger's account.
    case rejected
  }

  /// Whether the server can be reached.
  public var network: Network
  /// Whether the server accepts the credential.
  public var credentials: Credentials
  /// What holds everything up on this device, a rule of the person or a full disk; nil when nothing
  /// does.
  public var held: Waiting?
  /// What the device said of itself then.
  public var device: DeviceConditions

  /// Makes conditions from their values; nothing is known and nothing held up by default.
  public init(
    network: Network = .unknown, credentials: Credentials = .unknown, held: Waiting? = nil,
    device: DeviceConditions = DeviceConditions()
  ) {
    self.network = network
    self.credentials = credentials
    self.held = held
    self.device = device
  }

  /// Reads both shapes: the first one knew of no rule and asked no device.
  init(_ fields: EventFields) throws(FieldProblem) {
    let payload = try fields.payloadObject()
    guard let network = Network(rawValue: try payload.requiredText("network")) else {
      throw .invalid("payload.network")
    }
    guard let credentials = Credentials(rawValue: try payload.requiredText("credentials")) else {
      throw .invalid("payload.credentials")
    }
    self.init(
      network: network, credentials: credentials, held: try fields.heldByDevice(),
      device: try DeviceConditions(payload))
  }

  func write(to fields: inout EventFields) {
    fields.code = held?.reason.rawValue
    fields.until = held?.until?.microseconds
    fields.setPayload([
      "network": .text(network.rawValue), "credentials": .text(credentials.rawValue),
      "link": device.link == .unknown ? nil : .text(device.link.rawValue),
      "metered": device.isMetered.map { .bool($0) },
      "low_data": device.isLowData.map { .bool($0) },
      "power": device.power == .unknown ? nil : .text(device.power.rawValue),
      "battery_saver": device.isBatterySaver.map { .bool($0) },
    ])
  }
}

extension Conditions {
  /// What every upload waits for while these conditions hold; nil when nothing holds them up.
  ///
  /// A refused credential comes first, since only a person can mend it; then the person's rules;
  /// then the way to the server, which nobody tries while a rule forbids it.
  public var waiting: Waiting? {
    if credentials == .rejected { return Waiting(.credentials) }
    if let held { return held }
    return network == .offline ? Waiting(.offline) : nil
  }
}

extension DeviceConditions {
  fileprivate init(_ payload: JSONValue) throws(FieldProblem) {
    self.init(
      isMetered: try payload.optionalBool("metered"),
      isLowData: try payload.optionalBool("low_data"),
      isBatterySaver: try payload.optionalBool("battery_saver"))
    if payload["link"] != nil {
      guard let link = Link(rawValue: try payload.requiredText("link")) else {
        throw .invalid("payload.link")
      }
      self.link = link
    }
    if payload["power"] != nil {
      guard let power = Power(rawValue: try payload.requiredText("power")) else {
        throw .invalid("payload.power")
      }
      self.power = power
    }
  }
}

extension EventFields {
  fileprivate func heldByDevice() throws(FieldProblem) -> Waiting? {
    guard code != nil else { return nil }
    let reason = try requiredCode(Waiting.Reason.self)
    guard reason.isOfDevice else { throw .invalid("code") }
    return Waiting(reason, until: until.map { Timestamp(microseconds: $0) })
  }
}
