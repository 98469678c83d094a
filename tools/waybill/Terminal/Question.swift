internal import WaybillModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Invocation {
  /// Whether a person agrees to a loss; asked at the terminal unless `--yes` was given.
  ///
  /// - Parameters:
  ///   - loss: what happens, as a sentence.
  ///   - uploads: what it happens to.
  /// - Throws: usage, where there is no terminal to ask at and no `--yes`.
  func agrees(to loss: String, _ uploads: [Upload]) throws(Failure) -> Bool {
    try agrees(
      to: loss,
      what: uploads.count == 1 ? uploads[0].title : HumanText.count(uploads.count, "upload"))
  }

  /// Whether a person agrees to a loss; `what` is what it happens to, in words.
  func agrees(to loss: String, what: String) throws(Failure) -> Bool {
    if arguments.has("yes") { return true }
    guard Descriptor.standardInput.isTerminal, messages.descriptor.isTerminal, !messages.isJSON
    else {
      throw Failure(
        .usage, "\(command.name) has to ask, and there is no terminal to ask at",
        remedy: "Add --yes to agree beforehand. \(loss) See what it would do with --dry-run.")
    }
    // What was typed before the question is no answer to it.
    tcflush(Descriptor.standardInput.number, TCIFLUSH)
    messages.ask("\(command.name) \(what)? \(loss) [y/N] ")
    let answer = Descriptor.standardInput.readLine().lowercased()
    return answer == "y" || answer == "yes"
  }
}

extension Descriptor {
  static let standardInput = Descriptor(number: 0)

  /// One line without its line feed, of at most 256 bytes; empty at the end of the input.
  func readLine() -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count < 256, read(number, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
