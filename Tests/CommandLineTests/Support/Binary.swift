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
    let program = try path()
    let words = ([program] + arguments).map { [UInt8]($0.utf8) } + raw
    let (outRead, outWrite) = try pipe()
    let (errRead, errWrite) = try pipe()
    let child = try spawn(program, words, environment, outWrite, errWrite)
    close(outWrite)
    close(errWrite)
    let output = closesOutput ? Data() : readToEnd(outRead)
    if closesOutput { close(outRead) }
    let errors = readToEnd(errRead)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return Ended(
      status: status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f),
      output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  private static func spawn(
    _ program: String, _ words: [[UInt8]], _ environment: [String: String], _ output: Int32,
    _ errors: Int32
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    let inherited = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].compactMap { name in
      ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
    }
    var argv = words.map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    var envp = (inherited + environment.map { "\($0)=\($1)" }).map { strdup($0) } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var child = pid_t()
    let code = posix_spawn(&child, program, &actions, nil, &argv, &envp)
    try #require(code == 0, "posix_spawn: \(code)")
    return child
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(Glibc_pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func readToEnd(_ descriptor: Int32) -> Data {
    defer { close(descriptor) }
    return (try? FileHandle(fileDescriptor: descriptor).readToEnd()) ?? Data()
  }
}

private func Glibc_pipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
