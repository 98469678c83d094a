/// What an event carries, in the shape it is stored: the columns of the table `events`.
///
/// Hot values have a typed column each; `payload` is JSON text for the rare rest. The text is kept
/// as it came, so that an event this version does not know passes through byte for byte.
public struct EventFields: Equatable, Sendable {
  /// A part's index.
  public var part: Int64?
  /// A count of bytes; what it counts depends on the kind.
  public var bytes: Int64?
  /// Which attempt, round or occurrence, from 1.
  public var attempt: Int64?
  /// A moment in microseconds since the Unix epoch: an expiry or a not-before time.
  public var until: Int64?
  /// A word from a closed list: a reason or a failure.
  public var code: String?
  /// A name: of a copy, a session, an operation, a remote object, a task.
  public var reference: String?
  /// A SHA-256.
  public var hash: ContentHash?
  /// The bytes of a person's file name.
  public var name: [UInt8]?
  /// A JSON object with the rare rest.
  public var payload: String?

  /// Makes fields that carry nothing.
  public init() {}
}

/// Why stored fields are not an event of the kind they are stored under.
public struct FieldProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, in words, without the value.
  public let description: String

  init(_ description: String) { self.description = description }

  static func missing(_ column: String) -> FieldProblem { FieldProblem("\(column) is missing") }
  static func invalid(_ column: String) -> FieldProblem {
    FieldProblem("\(column) holds a value that this kind cannot have")
  }
}

extension EventFields {
  func requiredPart() throws(FieldProblem) -> PartNumber {
    guard let part else { throw .missing("part") }
    guard (0..<Int64(PartPlan.maximumPartCount)).contains(part) else { throw .invalid("part") }
    return PartNumber(Int(part))
  }

  func requiredBytes() throws(FieldProblem) -> Int64 {
    guard let bytes else { throw .missing("bytes") }
    guard bytes >= 0 else { throw .invalid("bytes") }
    return bytes
  }

  func requiredAttempt() throws(FieldProblem) -> Int {
    guard let attempt else { throw .missing("attempt") }
    guard (1...Int64(Int32.max)).contains(attempt) else { throw .invalid("attempt") }
    return Int(attempt)
  }

  func requiredReference() throws(FieldProblem) -> String {
    guard let reference else { throw .missing("reference") }
    guard !reference.isEmpty else { throw .invalid("reference") }
    return reference
  }

  func requiredHash() throws(FieldProblem) -> ContentHash {
    guard let hash else { throw .missing("hash") }
    return hash
  }

  func requiredCode<Word: RawRepresentable>(
    _ word: Word.Type
  ) throws(FieldProblem) -> Word where Word.RawValue == String {
    guard let code else { throw .missing("code") }
    guard let value = Word(rawValue: code) else { throw .invalid("code") }
    return value
  }

  /// The JSON object in `payload`; an object without members where there is none.
  func payloadObject() throws(FieldProblem) -> JSONValue {
    guard let payload else { return .object([]) }
    guard let value = try? JSONValue.read([UInt8](payload.utf8)), case .object = value else {
      throw .invalid("payload")
    }
    return value
  }

  /// Sets `payload` to the members that have a value, or to nothing when none has.
  mutating func setPayload(_ members: KeyValuePairs<String, JSONValue?>) {
    let present = members.compactMap { key, value in value.map { JSONValue.Member(key, $0) } }
    payload = present.isEmpty ? nil : JSONValue.object(present).serialized
  }
}

extension JSONValue {
  func requiredInteger(_ key: String) throws(FieldProblem) -> Int64 {
    guard let value = self[key] else { throw .missing("payload.\(key)") }
    guard let integer = value.integer else { throw .invalid("payload.\(key)") }
    return integer
  }

  /// The whole number of that name; nil where the member is not there. Any other value is refused:
  /// a base version that is silently dropped would overwrite what it should protect.
  func optionalInteger(_ key: String) throws(FieldProblem) -> Int64? {
    self[key] == nil ? nil : try requiredInteger(key)
  }

  /// The truth value of that name; nil where the member is not there.
  func optionalBool(_ key: String) throws(FieldProblem) -> Bool? {
    guard let value = self[key] else { return nil }
    guard let bool = value.bool else { throw .invalid("payload.\(key)") }
    return bool
  }

  func requiredText(_ key: String) throws(FieldProblem) -> String {
    guard let value = self[key] else { throw .missing("payload.\(key)") }
    guard let text = value.text else { throw .invalid("payload.\(key)") }
    return text
  }
}

/// A payload that knows its stored fields.
protocol EventPayload: Equatable, Sendable {
  init(_ fields: EventFields) throws(FieldProblem)
  func write(to fields: inout EventFields)
}
