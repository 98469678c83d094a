internal import WaybillModel

/// One reply as a value; the shell gives it to the HTTP library.
struct Reply: Sendable {
  enum Body: Sendable {
    case none
    case json(JSONValue, type: String)
    case bytes([UInt8], type: String)
    case file(OpenFile, byteCount: Int64)

    /// How long it is on the wire; for a document about.
    var byteCount: Int64 {
      switch self {
      case .none: 0
      case .json: 65_536
      case .bytes(let bytes, _): Int64(bytes.count)
      case .file(_, let byteCount): byteCount
      }
    }
  }

  var status: Int
  var headers: [HTTPHeader] = []
  var body: Body

  static func json(_ status: Int, _ members: [(String, JSONValue)]) -> Reply {
    let members = members.map { JSONValue.Member($0.0, $0.1) }
    return Reply(status: status, body: .json(.object(members), type: "application/json"))
  }

  static let noContent = Reply(status: 204, body: .none)
}

// MARK: Rehearsed damage

extension Reply {
  /// The same reply with every `sha256` of its document turned into another one.
  func withAnotherHash() -> Reply {
    guard case .json(.object(let members), let type) = body else { return self }
    let changed = members.map { member in
      guard member.key == "sha256", let text = member.value.text else { return member }
      let last = text.last == "0" ? "1" : "0"
      return JSONValue.Member("sha256", .text(text.dropLast() + last))
    }
    var reply = self
    reply.body = .json(.object(changed), type: type)
    return reply
  }

  /// The same reply with some texts, whatever they are, as the values of fields of its document.
  func with(_ fields: [(name: String, text: String)]) -> Reply {
    guard case .json(.object(let members), let type) = body else { return self }
    var texts = members.map { (name: $0.key, text: $0.value.serialized) }
    for field in fields {
      if let index = texts.firstIndex(where: { $0.name == field.name }) {
        texts[index] = field
      } else {
        texts.append(field)
      }
    }
    let lines = texts.map { "\(JSONValue.text($0.name).serialized):\($0.text)" }
    var reply = self
    reply.body = .bytes([UInt8]("{\(lines.joined(separator: ","))}".utf8), type: type)
    return reply
  }

  /// Gives the reply a header line, in the place of those of the same name.
  mutating func setHeader(_ header: HTTPHeader) {
    headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
    guard header.name.lowercased() == "content-type" else { return headers.append(header) }
    switch body {
    case .json(let value, _): body = .json(value, type: header.value)
    case .bytes(let bytes, _): body = .bytes(bytes, type: header.value)
    case .none, .file: break
    }
  }

  /// The same reply with the first half of its document, framed as if that were all.
  func cutInHalf() -> Reply {
    let (whole, type): ([UInt8], String)
    switch body {
    case .json(let value, let kind): (whole, type) = ([UInt8](value.serialized.utf8), kind)
    case .bytes(let bytes, let kind): (whole, type) = (bytes, kind)
    case .none, .file: return self
    }
    var reply = self
    reply.body = .bytes([UInt8](whole.prefix(whole.count / 2)), type: type)
    return reply
  }
}
