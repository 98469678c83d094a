internal import WaybillModel

/// Makes one bounded reply from header lines and body bytes as they arrive.
///
/// Interim replies (1xx) are passed over, trailers after the body are ignored.
struct ReplyAssembler {
  /// The most bytes of header lines in one reply.
  static let maximumHeaderBytes = 65_536
  /// The most header lines in one reply.
  static let maximumHeaderLines = 128
  /// The most interim replies before the final one.
  static let maximumInterimReplies = 1_024

  private enum Stage {
    case beforeStatus
    case headers(status: Int)
    case body(status: Int)
  }

  private var stage = Stage.beforeStatus
  private var headers: [HTTPHeader] = []
  private var headerBytes = 0
  private var headerLines = 0
  private var interimReplies = 0
  private var body: [UInt8] = []
  private(set) var isTruncated = false

  /// The final reply, once its header block is complete.
  var reply: HTTPReply? {
    guard case .body(let status) = stage else { return nil }
    return HTTPReply(status: status, headers: headers, body: body, isTruncated: isTruncated)
  }

  /// Takes one line with its line end; false when the reply goes beyond the bounds.
  mutating func takeHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = ReplyAssembler.withoutLineEnd(line)
    switch stage {
    case .body: return true
    case .beforeStatus:
      guard let status = ReplyAssembler.status(in: text) else { return false }
      stage = .headers(status: status)
      headers = []
      headerBytes = line.count
      headerLines = 0
      return true
    case .headers(let status):
      if text.isEmpty { return endHeaders(status) }
      headerBytes += line.count
      headerLines += 1
      guard headerBytes <= ReplyAssembler.maximumHeaderBytes,
        headerLines <= ReplyAssembler.maximumHeaderLines
      else { return false }
      if let header = ReplyAssembler.header(in: text) { headers.append(header) }
      return true
    }
  }

  /// Takes bytes of the body; false when there are more than are kept.
  mutating func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let room = HTTPReply.maximumBodyBytes - body.count
    body.append(contentsOf: bytes.prefix(room))
    if bytes.count > room { isTruncated = true }
    return !isTruncated
  }

  private mutating func endHeaders(_ status: Int) -> Bool {
    guard status < 200 else {
      stage = .body(status: status)
      return true
    }
    stage = .beforeStatus
    interimReplies += 1
    return interimReplies <= ReplyAssembler.maximumInterimReplies
  }

  /// The code in a line such as `HTTP/1.1 200 OK`.
  private static func status(in line: Slice<UnsafeRawBufferPointer>) -> Int? {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard fields.count >= 2, fields[0].starts(with: "HTTP/".utf8), fields[1].count == 3 else {
      return nil
    }
    return Int(String(decoding: fields[1], as: UTF8.self)).flatMap { $0 >= 100 ? $0 : nil }
  }

  /// The header in a line; nil for a folded line or one without a name.
  private static func header(in line: Slice<UnsafeRawBufferPointer>) -> HTTPHeader? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      let first = line.first, !isBlank(first)
    else { return nil }
    let value = line[(colon + 1)...].drop(while: isBlank)
    return HTTPHeader(
      String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
  }

  private static func withoutLineEnd(
    _ line: UnsafeRawBufferPointer
  ) -> Slice<UnsafeRawBufferPointer> {
    var rest = line[...]
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
      || byte == UInt8(ascii: "\n")
  }
}
