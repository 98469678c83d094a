import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The built program, started with arguments byte for byte.
struct Binary {
  struct Ended: Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Held from making pipes to the start of the program: one that another test starts meanwhile
  /// would inherit an end and keep its reader waiting.
  private static let starting = NSLock()

  /// The program beside the test bundle.
  static func path() throws -> String {
    let places =
      [URL(filePath: CommandLine.arguments[0]), Bundle.main.bundleURL]
      + Bundle.allBundles.map(\.bundleURL)
    let candidates = places.flatMap { place in
      [place, place.deletingLastPathComponent()].map { $0.appending(path: "waybill").path }
    }
    return try #require(
      candidates.first { path in
        var isDirectory = ObjCBool(false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
          && !isDirectory.boolValue
      })
  }

  /// Starts it and waits for its end, with both streams read to theirs.
  static func run(
    _ arguments: [String] = [], raw: [[UInt8]] = [], environment: [String: String] = [:],
    closesOutput: Bool = false
  ) async throws -> Ended {
    let running = try start(arguments, raw: raw, environment: environment)
    if closesOutput { running.closeOutput() }
    return running.end()
  }

  /// Starts it.
  ///
  /// - Parameters:
  ///   - raw: words behind `arguments`, byte for byte.
  ///   - through: a program and its arguments in front, such as `strace -f`.
  ///   - output: where its standard output goes; a pipe that can be read when nil.
  static func start(
    _ arguments: [String], raw: [[UInt8]] = [], environment: [String: String] = [:],
    through: [String] = [], output: Int32? = nil
  ) throws -> RunningBinary {
    let program = try path()
    let words = (through + [program] + arguments).map { [UInt8]($0.utf8) } + raw
    return try starting.withLock {
      let (outRead, outWrite) = try pipe()
      let (errRead, errWrite) = try pipe()
      defer {
        close(outWrite)
        close(errWrite)
      }
      let child = try spawn(words, environment, (nil, output ?? outWrite, errWrite))
      return RunningBinary(child: child, output: outRead, errors: errRead)
    }
  }

  /// Starts it with its three streams on a terminal, as a person does.
  static func start(
    _ arguments: [String], environment: [String: String], terminal: Int32
  ) throws -> RunningBinary {
    let words = ([try path()] + arguments).map { [UInt8]($0.utf8) }
    return try starting.withLock {
      let child = try spawn(words, environment, (terminal, terminal, terminal))
      return RunningBinary(child: child, output: nil, errors: nil)
    }
  }

  private static func spawn(
    _ words: [[UInt8]], _ environment: [String: String],
    _ streams: (input: Int32?, output: Int32, errors: Int32)
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input = streams.input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, streams.output, 1)
    posix_spawn_file_actions_adddup2(&actions, streams.errors, 2)
    let inherited = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].compactMap { name in
      ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
    }
    var argv = words.map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    var envp = (inherited + environment.map { "\($0)=\($1)" }).map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var child = pid_t()
    let code = posix_spawnp(
      &child, String(decoding: words[0], as: UTF8.self), &actions, nil, &argv, &envp)
    try #require(code == 0, "posix_spawn: \(code)")
    return child
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(makePipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}

private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
