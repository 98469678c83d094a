#if os(Linux)
  import Foundation
  import Glibc

  /// `openssl s_server` with a certificate for 127.0.0.1 that nobody has signed.
  final class TLSServer {
    let certificate: TestFile
    let port: Int
    private let key: TestFile
    private let process: pid_t

    init() throws {
      certificate = try TestFile()
      key = try TestFile()
      let files = ["-key", key.path, "-cert", certificate.path]
      let maker = try TLSServer.spawn(
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
          + ["-subj", "/CN=test", "-days", "2", "-addext", "subjectAltName=IP:127.0.0.1"]
          + ["-keyout", key.path, "-out", certificate.path])
      try? maker.output.close()
      waitpid(maker.process, nil, 0)
      let server = try TLSServer.spawn(["s_server", "-accept", "127.0.0.1:0", "-www"] + files)
      process = server.process
      // It says where it listens: "ACCEPT 127.0.0.1:PORT".
      var text = ""
      while text.firstRange(of: /ACCEPT.*\n/) == nil {
        let more = server.output.availableData
        guard !more.isEmpty else { break }
        text += String(decoding: more, as: UTF8.self)
      }
      port = text.firstMatch(of: /ACCEPT .*:(\d+)\n/).flatMap { Int($0.1) } ?? 0
    }

    func stop() {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }

    private static func spawn(
      _ arguments: [String]
    ) throws -> (process: pid_t, output: FileHandle) {
      let output = Pipe()
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
      var words: [UnsafeMutablePointer<CChar>?] = (["openssl"] + arguments).map { strdup($0) }
      words.append(nil)
      defer { for word in words { free(word) } }
      var process = pid_t()
      guard posix_spawnp(&process, "openssl", &actions, nil, words, environ) == 0 else {
        throw NastyServer.SetupFailed(call: "posix_spawnp openssl")
      }
      try output.fileHandleForWriting.close()
      return (process, output.fileHandleForReading)
    }
  }
#endif
