/// Why a reply that claims success states nothing.
enum StatementDefect: Error {
  /// Anyone on the way may have written it: a portal's page, an empty or a broken-off body.
  case provesNothing
  /// Our server's words, against our protocol.
  case breaksProtocol
}

/// Reads the JSON object of a reply and holds every member to the protocol's bounds.
///
/// Members it does not know are ignored; `null` stands for a member that is absent.
struct StatementReader {
  private let document: JSONValue
  private let status: Int

  /// Reads the body of a reply that claims success.
  init(_ reply: HTTPReply) throws(StatementDefect) {
    guard StatementReader.mediaType(of: reply) == "application/json" else { throw .provesNothing }
    let isBounded = !reply.isTruncated && reply.body.count <= HTTPReply.maximumBodyBytes
    guard isBounded else { throw .breaksProtocol }
    let space: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
    let first = reply.body.first { !space.contains($0) }
    guard first == UInt8(ascii: "{") else { throw .provesNothing }
    do {
      document = try JSONValue.read(reply.body)
    } catch {
      throw StatementReader.isBrokenOff(reply.body, error) ? .provesNothing : .breaksProtocol
    }
    status = reply.status
  }

  /// The media type in lower case, without its parameters; empty when none is stated.
  static func mediaType(of reply: HTTPReply) -> String {
    let value = reply.header("Content-Type") ?? ""
    return value.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
  }

  /// Whether reading stopped only because the body did.
  private static func isBrokenOff(_ body: [UInt8], _ error: JSONError) -> Bool {
    guard error.offset < body.count else { return true }
    let tail = body[error.offset...]
    return ["true", "false", "null"].contains { $0.utf8.starts(with: tail) }
  }
}

// MARK: Statements

extension StatementReader {
  /// The session the server offers for so many bytes.
  func offer(byteCount: Int64, at moment: Timestamp) throws(StatementDefect) -> SessionOffer {
    let session = SessionReference(try name("uploadId"))
    guard let partSize = document["partSize"]?.integer,
      let plan = PartPlan(byteCount: byteCount, partSize: partSize),
      document["partCount"]?.integer == Int64(plan.partCount)
    else { throw .breaksProtocol }
    return SessionOffer(
      session: session, partSize: partSize, partCount: plan.partCount,
      expires: try expiry(after: moment),
      received: try received(plan) ?? PartSet())
  }

  /// The parts the server says it holds; nil when it names none.
  func received(_ plan: PartPlan) throws(StatementDefect) -> PartSet? {
    if let count = present("partCount"), count.integer != Int64(plan.partCount) {
      throw .breaksProtocol
    }
    guard let member = present("received") else { return nil }
    guard let values = member.array, values.count <= plan.partCount else { throw .breaksProtocol }
    var numbers: [Int] = []
    numbers.reserveCapacity(values.count)
    for value in values {
      guard let number = value.integer, (0..<Int64(plan.partCount)).contains(number) else {
        throw .breaksProtocol
      }
      numbers.append(Int(number))
    }
    let set = PartSet(numbers)
    guard set.count == numbers.count else { throw .breaksProtocol }
    return set
  }

  /// The parts the server holds after it took one, which has to be among them.
  func held(_ part: PartNumber, of plan: PartPlan) throws(StatementDefect) -> PartSet {
    guard let held = try received(plan), held.contains(part) else { throw .breaksProtocol }
    return held
  }

  /// The object the server names; without the hash it computed that would prove nothing.
  func object() throws(StatementDefect) -> StoredObject {
    let remote = RemoteID(try name("photoId"))
    var version: Int64?
    if let member = present("version") {
      guard let number = member.integer, number >= 0 else { throw .breaksProtocol }
      version = number
    }
    guard let hash = present("sha256")?.text.flatMap({ ContentHash(hex: $0) }) else {
      throw .breaksProtocol
    }
    return StoredObject(remote: remote, version: version, hash: hash, status: status)
  }

  /// The server's account of a session cut like this.
  func account(_ plan: PartPlan) throws(StatementDefect) -> ServerStatus {
    let received = try received(plan)
    switch document["state"]?.text {
    case "open":
      guard let received else { throw .breaksProtocol }
      return .open(received: received)
    case "received":
      guard received?.coversAll(plan.partCount) ?? true else { throw .breaksProtocol }
      return .received
    case "committed": return .committed(try object())
    case "expired": return .gone
    default: throw .breaksProtocol
    }
  }
}

// MARK: Members

extension StatementReader {
  /// The longest life of a session a server may promise, in milliseconds: ten years.
  private static let maximumLifeMilliseconds: Int64 = 3650 * 86_400_000

  private func present(_ key: String) -> JSONValue? {
    let value = document[key]
    return value == .null ? nil : value
  }

  /// A server's name for something, `[A-Za-z0-9_-]{1,128}`.
  private func name(_ key: String) throws(StatementDefect) -> String {
    guard let text = document[key]?.text, (1...128).contains(text.utf8.count),
      text.utf8.allSatisfy(StatementReader.isNameByte)
    else { throw .breaksProtocol }
    return text
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private func expiry(after moment: Timestamp) throws(StatementDefect) -> Timestamp? {
    guard let member = present("expiresAt") else { return nil }
    let latest = moment.adding(milliseconds: StatementReader.maximumLifeMilliseconds)
    guard let expires = member.text.flatMap({ Timestamp(rfc3339: $0) }),
      moment < expires, expires <= latest
    else { throw .breaksProtocol }
    return expires
  }
}
