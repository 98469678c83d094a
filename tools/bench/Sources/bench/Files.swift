internal import Glibc

/// All bytes of a file, at most 1 MiB; nil when it cannot be read.
func readFile(_ path: String) -> [UInt8]? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 1_048_576)
  var filled = 0
  while filled < bytes.count {
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.baseAddress.map { read(descriptor, $0 + filled, buffer.count - filled) } ?? 0
    }
    guard count > 0 else { break }
    filled += count
  }
  return [UInt8](bytes.prefix(filled))
}

func makeFolder(_ path: String) throws(BenchError) {
  guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
    throw BenchError("\(path): \(String(cString: strerror(errno)))")
  }
}

/// Makes a file anew with these bytes.
func writeFile(_ path: String, _ bytes: [UInt8]) throws(BenchError) {
  let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw BenchError("cannot make \(path)") }
  defer { close(descriptor) }
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { throw BenchError("cannot fill \(path)") }
    rest = rest.dropFirst(count)
  }
}

/// Removes a folder with all that is in it.
func remove(_ folder: String) throws(BenchError) {
  _ = try output(of: "rm", ["-rf", "--", folder])
}

/// Starts a program whose standard output goes to a descriptor.
func start(
  _ program: String, _ arguments: [String], output: Int32
) throws(BenchError) -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, output, 1)
  var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var child: pid_t = 0
  let code = posix_spawnp(&child, program, &actions, nil, &words, environ)
  guard code == 0 else { throw BenchError("\(program): \(String(cString: strerror(code)))") }
  return child
}

/// Runs a program to its end and gives what it printed, at most 1 MiB.
///
/// - Throws: `BenchError` when it cannot be started or does not exit with 0.
func output(of program: String, _ arguments: [String]) throws(BenchError) -> String {
  var ends: [Int32] = [0, 0]
  guard pipe(&ends) == 0 else { throw BenchError("no pipe") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  defer { close(ends[0]) }
  let started = Result { () throws(BenchError) in
    try start(program, arguments, output: ends[1])
  }
  close(ends[1])
  let child = try started.get()
  var printed: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while printed.count < 1_048_576 {
    let count = read(ends[0], &buffer, buffer.count)
    guard count > 0 else { break }
    printed += buffer.prefix(count)
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  guard status == 0 else {
    throw BenchError("\(program) failed; it printed \(printed.count) bytes")
  }
  return String(decoding: printed, as: UTF8.self)
}

/// Prints a line to the standard error stream.
func say(_ text: String) {
  let line = [UInt8]((text + "\n").utf8)
  _ = write(2, line, line.count)
}
