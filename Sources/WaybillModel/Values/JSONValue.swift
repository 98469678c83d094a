/// A JSON document (RFC 8259) with exact integers and members in the order they stood in.
///
/// The core reads server replies and stored payloads itself because it must refuse what general
/// readers let pass: a doubled key, a number that is not exact, nesting without a bound.
public enum JSONValue: Equatable, Sendable {
  /// The literal `null`.
  case null
  /// A truth value.
  case bool(Bool)
  /// A number that is a whole number within 64 bits.
  case integer(Int64)
  /// Any other number, as it was spelled.
  case number(String)
  /// A string.
  case text(String)
  /// A list.
  case array([JSONValue])
  /// Members in order; no key stands twice.
  case object([Member])

  /// One name and value of an object.
  public struct Member: Equatable, Sendable {
    /// The name.
    public let key: String
    /// The value.
    public let value: JSONValue

    /// Makes a member from its name and value.
    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// The member of that name, or nil when this is no object or has none.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text, if this is text.
  public var text: String? {
    guard case .text(let value) = self else { return nil }
    return value
  }

  /// The whole number, if this is one.
  public var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  /// The truth value, if this is one.
  public var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// The list, if this is one.
  public var array: [JSONValue]? {
    guard case .array(let values) = self else { return nil }
    return values
  }
}

// MARK: Writing

extension JSONValue {
  /// The document on one line without spaces, in ASCII-safe UTF-8: control characters and the
  /// separators U+2028 and U+2029 are escaped, everything else stands as it is.
  public var serialized: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .integer(let value): out += String(value)
    case .number(let text): out += text
    case .text(let text): JSONValue.write(text, to: &out)
    case .array(let values):
      out += "["
      for (index, value) in values.enumerated() {
        if index > 0 { out += "," }
        value.write(to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { out += "," }
        JSONValue.write(member.key, to: &out)
        out += ":"
        member.value.write(to: &out)
      }
      out += "}"
    }
  }

  private static func write(_ text: String, to out: inout String) {
    out += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
        out += "\\u\(EscapedText.hex(scalar.value, width: 4))"
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }
}
