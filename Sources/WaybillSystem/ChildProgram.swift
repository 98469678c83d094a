#if os(Linux)
  internal import Glibc

  /// Starting another program with nothing of ours but what it is given.
  package enum ChildProgram {
    // POSIX_SPAWN_SETSID, which the C library hides.
    private static let newSession: Int16 = 0x80

    /// Starts a program with no signal blocked or ignored, and `/dev/null` in place of what it
    /// would read and write.
    ///
    /// - Parameters:
    ///   - command: its path and its arguments.
    ///   - environment: its variables, each as `NAME=value`.
    ///   - output: what takes the place of its standard output; nil for `/dev/null`.
    ///   - hasOwnSession: whether it leaves our session and terminal.
    /// - Returns: its process, for the caller to wait for.
    package static func start(
      _ command: [String], environment: [String], output: Int32? = nil, hasOwnSession: Bool = false
    ) throws(SystemError) -> Int32 {
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for number in Int32(0)...2 {
        posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      }
      if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      sigfillset(&signals)
      posix_spawnattr_setsigdefault(&attributes, &signals)
      let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
      posix_spawnattr_setflags(&attributes, flags | (hasOwnSession ? newSession : 0))
      var words = command.map { strdup($0) } + [nil]
      var variables = environment.map { strdup($0) } + [nil]
      defer { for word in words + variables { free(word) } }
      var process = pid_t()
      let code = posix_spawn(
        &process, command.first ?? "", &actions, &attributes, &words, &variables)
      guard code == 0 else { throw SystemError(number: code) }
      return process
    }
  }
#endif
