import Foundation
import Testing
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// A program of ours that runs beside the test, its output read through a pipe.
final class ChildProcess {
  let id: pid_t
  private let reaper: Reaper
  private let output: Int32
  private var buffer: [UInt8] = []

  /// Starts a program found on the path; its errors go to the same pipe as its output.
  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    var ends: [Int32] = [0, 0]
    // A socket pair is closed on exec from its birth; a pipe could leak into a neighbour's child.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var words = arguments.map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (words + settings).forEach { free($0) } }
    var started: pid_t = 0
    let code = posix_spawnp(&started, arguments[0], &actions, nil, &words, &settings)
    close(ends[1])
    try #require(code == 0, "cannot run \(arguments[0]): \(String(cString: strerror(code)))")
    output = ends[0]
    id = started
    reaper = Reaper(started)
  }

  deinit { close(output) }

  private func fill() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(output, &bytes, bytes.count)
    guard count > 0 else { return false }
    buffer += bytes.prefix(count)
    return true
  }

  /// The next line; nil once the program has ended.
  func readLine() -> String? {
    while true {
      if let end = buffer.firstIndex(of: 0x0a) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        return line
      }
      guard fill() else { return nil }
    }
  }

  /// Everything that is left.
  func readToEnd() -> String {
    while fill() {}
    defer { buffer.removeAll() }
    return String(decoding: buffer, as: UTF8.self)
  }

  func kill() { _ = Glibc.kill(id, SIGKILL) }

  /// Waits for its end and gives its exit status, or the number of the signal with a minus.
  func wait() -> Int32 {
    reaper.wait()
  }
}

extension ChildProcess {
  /// Starts this test program once more, as nothing but the player of one role.
  ///
  /// - Parameter wrapper: a program to run it under, such as strace with its options.
  static func role(
    _ role: ChildRole, ledger: String, wrapper: [String] = []
  ) throws -> ChildProcess {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return try ChildProcess(
      wrapper + [program, "--testing-library", "swift-testing", "--filter", "ChildRoleTests"],
      environment: [
        ChildRole.variable: role.rawValue, ChildRole.ledgerVariable: ledger,
        "SWIFT_BACKTRACE": "enable=no",
      ])
  }

  /// The next line the role said, without the words of the test runner; nil after its end.
  func readSaid() -> String? {
    while let line = readLine() {
      if let start = line.range(of: ChildRole.mark) { return String(line[start.upperBound...]) }
    }
    return nil
  }
}
