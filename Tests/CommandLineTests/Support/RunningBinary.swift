import Foundation
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A started program. End it once.
final class RunningBinary {
  let child: pid_t
  private let reaper: Reaper
  private var output: Int32?
  private var errors: Int32?
  private var errorsRead: [UInt8] = []

  init(child: pid_t, output: Int32?, errors: Int32?) {
    self.child = child
    reaper = Reaper(child)
    self.output = output
    self.errors = errors
  }

  deinit {
    for descriptor in [output, errors].compactMap(\.self) { close(descriptor) }
  }

  /// Sends a signal.
  func send(_ signal: Int32) { kill(child, signal) }

  /// Closes our end of its standard output, as `head` does.
  func closeOutput() {
    if let output { close(output) }
    output = nil
  }

  /// The next line of its standard output without its line feed; nil at the end.
  func outputLine() -> String? { line(output).map { String(decoding: $0, as: UTF8.self) } }

  /// Reads standard error until a line holds `text`.
  ///
  /// - Returns: whether one came before the end.
  func waitForError(_ text: String) -> Bool {
    while let line = line(errors) {
      errorsRead += line + [UInt8(ascii: "\n")]
      if String(decoding: line, as: UTF8.self).contains(text) { return true }
    }
    return false
  }

  /// Reads both streams to their ends and waits for the end of the program.
  func end() -> Binary.Ended {
    let told = RunningBinary.rest(output)
    let errors = errorsRead + RunningBinary.rest(errors)
    return Binary.Ended(
      status: wait(), output: String(decoding: told, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Waits for the end of the program: its exit code, or the signal below zero.
  func wait() -> Int32 {
    reaper.wait()
  }

  private func line(_ descriptor: Int32?) -> [UInt8]? {
    guard let descriptor else { return nil }
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return line }
      line.append(byte)
    }
    return line.isEmpty ? nil : line
  }

  private static func rest(_ descriptor: Int32?) -> [UInt8] {
    guard let descriptor else { return [] }
    return [UInt8](
      (try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd()) ?? Data())
  }
}
