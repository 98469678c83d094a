internal import WaybillModel

/// What stands before the body of a request, as far as this server looks at it.
struct RequestHead {
  /// The most bytes of a path with its query: 2 KiB.
  static let maximumPathBytes = 2048
  /// The most bytes of all header lines: 32 KiB.
  static let maximumHeaderBytes = 32_768
  /// The most bytes of a JSON body: 64 KiB.
  static let maximumJSONBytes: Int64 = 65_536

  let method: String
  let path: String
  /// The bytes of the query, a little more than it has.
  let queryBytes: Int
  let headerBytes: Int
  let authorization: String?
  let contentType: String?
  /// Nil when no length is given; -1 when it is no number.
  let contentLength: Int64?
  let contentDigest: String?
  let idempotencyKey: String?
  let isChunked: Bool
  let after: String?
  let limit: String?
  /// The connection it came on.
  let socket: Int32

  var hasBody: Bool { isChunked || (contentLength ?? 0) != 0 }

  /// Whether a refusal can be sent before the body: the library does so for these methods only.
  var allowsEarlyReply: Bool { hasBody && (method == "PUT" || method == "POST") }

  func checkBounds() throws(Problem) {
    guard path.utf8.count + queryBytes <= RequestHead.maximumPathBytes else {
      throw Problem(.addressTooLong, "Path and query are longer than 2048 bytes.")
    }
    guard headerBytes <= RequestHead.maximumHeaderBytes else {
      throw Problem(.headersTooLarge, "The header lines are longer than 32768 bytes.")
    }
  }

  func checkJSONBody(isRequired: Bool) throws(Problem) {
    guard hasBody || isRequired else { return }
    let type = contentType?.split(separator: ";").first?.lowercased()
    guard type.map({ $0.split(separator: " ").joined() }) == "application/json" else {
      throw Problem(.unsupportedMediaType, "Send a body of type application/json.")
    }
    try checkSmallBody()
  }

  func checkSmallBody() throws(Problem) {
    guard contentLength ?? 0 <= RequestHead.maximumJSONBytes else {
      throw Problem(.tooLarge, "The body is larger than 65536 bytes.")
    }
  }

  /// The key, checked; nil when none was sent.
  func checkedKey() throws(Problem) -> String? {
    guard let key = idempotencyKey else { return nil }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else {
      throw Problem(
        .invalidRequest, "The Idempotency-Key is no 1 to 255 visible ASCII characters.")
    }
    return key
  }

  /// The SHA-256 of the body as the client gives it (RFC 9530).
  func checkedDigest() throws(Problem) -> ContentHash {
    for member in (contentDigest ?? "").split(separator: ",") {
      let text = member.split(separator: " ").joined()
      guard text.hasPrefix("sha-256=:"), text.hasSuffix(":"), text.utf8.count > 10 else { continue }
      if let bytes = Base64.decode(text.dropFirst(9).dropLast()), let hash = ContentHash(bytes) {
        return hash
      }
    }
    throw Problem(.digestMissing, "Send the header Content-Digest: sha-256=:BASE64: with the part.")
  }
}

/// Base 64 with padding (RFC 4648 section 4).
enum Base64 {
  static func decode(_ text: Substring) -> [UInt8]? {
    let digits = [UInt8](text.utf8)
    guard digits.count % 4 == 0, digits.count <= 1024 else { return nil }
    let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    var bits: UInt32 = 0
    var bytes: [UInt8] = []
    for (index, digit) in digits.enumerated() {
      guard let value = index >= digits.count - padding ? 0 : value(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      guard index % 4 == 3 else { continue }
      bytes += [UInt8(bits >> 16 & 0xff), UInt8(bits >> 8 & 0xff), UInt8(bits & 0xff)]
      bits = 0
    }
    return [UInt8](bytes.dropLast(padding))
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
