internal import WaybillModel

/// One word of the command line, byte for byte.
///
/// `CommandLine.arguments` repairs bytes that are not UTF-8, after which a file of that name can
/// no longer be opened; so words are taken from the C array and only options are read as text.
struct RawArgument: Hashable, Sendable {
  /// The bytes as the kernel gave them, without the NUL that ended them.
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ text: String) { bytes = [UInt8](text.utf8) }

  /// The word as text when it is valid UTF-8; nil otherwise.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The word on one line of a terminal, with everything that could move the cursor escaped.
  var display: String { FileName(bytes: bytes).display }

  /// The last component of the word read as a path: the name its file goes by.
  var fileName: FileName {
    let trimmed = bytes[..<(bytes.lastIndex { $0 != UInt8(ascii: "/") }.map { $0 + 1 } ?? 0)]
    let start = trimmed.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    return FileName(bytes: [UInt8](trimmed[start...]))
  }

  /// Calls `body` with the word as a C string, for `open` and its kin.
  func withCString<T>(_ body: (UnsafePointer<CChar>) -> T) -> T {
    var ended = bytes.map { CChar(bitPattern: $0) }
    ended.append(0)
    return ended.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("the NUL is always there") }
      return body(start)
    }
  }

  /// The words this process was started with, without its own name.
  static func ofProcess() -> [RawArgument] {
    (0..<Int(CommandLine.argc)).dropFirst().compactMap { index in
      CommandLine.unsafeArgv[index].map { RawArgument(cString: $0) }
    }
  }

  /// Copies the bytes of a C string.
  init(cString: UnsafePointer<CChar>) {
    var bytes: [UInt8] = []
    var next = cString
    while next.pointee != 0 {
      bytes.append(UInt8(bitPattern: next.pointee))
      next += 1
    }
    self.init(bytes: bytes)
  }
}
