internal import WaybillModel
internal import WaybillSystem

/// Standard output: what a command was asked for, and nothing else.
///
/// Buffered. Belongs to the one command that runs; it is not `Sendable`, so tasks hand their
/// results to the command and the command prints.
final class Output {
  private static let capacity = 65_536

  private let descriptor: Descriptor
  private let flushesLines: Bool
  private var buffer: [UInt8] = []

  /// Writes to `descriptor`; `flushesLines` shows each line at once, as a terminal should.
  init(_ descriptor: Descriptor, flushesLines: Bool) {
    self.descriptor = descriptor
    self.flushesLines = flushesLines
    buffer.reserveCapacity(Output.capacity)
  }

  /// Adds one line; its line feed is added here.
  func line(_ text: String) throws(Failure) {
    buffer.append(contentsOf: text.utf8)
    buffer.append(UInt8(ascii: "\n"))
    if flushesLines || buffer.count >= Output.capacity { try flush() }
  }

  /// Adds one JSON document as a line.
  func json(_ value: JSONValue) throws(Failure) { try line(value.serialized) }

  /// Adds bytes as they are, for exporters that write to `-`.
  func write(_ bytes: some Sequence<UInt8>) throws(Failure) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Output.capacity { try flush() }
  }

  /// Hands everything to the kernel; a command that follows calls it before it waits.
  ///
  /// - Throws: `readerGone` when the other end of a pipe was closed, which ends the program
  ///   quietly; `outputFailed` for a full disk and the like. What was buffered is dropped.
  func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    var failure: SystemError?
    buffer.withUnsafeBytes { bytes in
      do throws(SystemError) { try descriptor.write(bytes) } catch { failure = error }
    }
    if let failure { throw Failure.writing(failure) }
  }
}

/// Standard error: notes, warnings and the failure a command ends with.
///
/// While a live board is shown, notes go through it: these would land in the middle of it.
struct Messages: Sendable {
  let descriptor: Descriptor
  /// Whether notes are left out.
  var isQuiet = false
  /// Whether each message is one JSON line.
  var isJSON = false
  var palette = Palette.plain

  /// Says something good to know; silent with `--quiet`.
  func note(_ text: String) {
    guard !isQuiet else { return }
    say("note", text, shown: "waybill: \(text)\n")
  }

  /// Says that something is not as it should be, though the command goes on.
  func warning(_ text: String) {
    say("warning", text, shown: "waybill: \(palette.paint("warning", .caution)): \(text)\n")
  }

  /// Says why the command ends.
  func report(_ failure: Failure) {
    guard failure.code != .readerGone else { return }
    send(isJSON ? failure.json.serialized + "\n" : failure.text)
  }

  /// Puts a question; the answer is typed behind it.
  func ask(_ question: String) { send(question) }

  /// Shows a help page to someone who did not know what to type.
  func explain(_ page: String) { send(page) }

  private func say(_ type: String, _ text: String, shown: String) {
    let object = JSONValue.object([
      .init("v", .integer(1)), .init("type", .text(type)), .init("message", .text(text)),
    ])
    send(isJSON ? object.serialized + "\n" : shown)
  }

  // When stderr itself cannot be written there is nobody left to tell.
  private func send(_ text: String) { try? descriptor.write(text) }
}
