#if os(Linux)
  internal import Glibc

  /// The answer of another program: what it writes to its standard output, if it ends in time.
  package enum ProgramAnswer {
    /// Runs a program and waits for it: call it where waiting is allowed.
    ///
    /// It gets no input, no environment but a plain locale, and its errors are thrown away. One
    /// that is not done in time is killed.
    ///
    /// - Parameters:
    ///   - command: its path and its arguments.
    ///   - maximumBytes: how much it may write; more is no answer.
    ///   - milliseconds: how long it may take.
    /// - Returns: nil when it could not be started, wrote too much, took too long or failed.
    package static func read(
      _ command: [String], maximumBytes: Int = 4096, milliseconds: Int64
    ) -> [UInt8]? {
      var ends: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
      defer { close(ends[0]) }
      let process = try? ChildProgram.start(
        command, environment: ["LC_ALL=C"], output: ends[1])
      close(ends[1])
      guard let process else { return nil }
      let deadline = ContinuousClock.now + .milliseconds(milliseconds)
      let answer = collect(ends[0], maximumBytes, until: deadline)
      if answer == nil { kill(process, SIGKILL) }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      return status == 0 ? answer : nil
    }

    /// What comes until the other end is closed; nil when it is too much or takes too long.
    private static func collect(
      _ descriptor: Int32, _ maximumBytes: Int, until deadline: ContinuousClock.Instant
    ) -> [UInt8]? {
      var answer: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1024)
      while answer.count <= maximumBytes {
        let left = ContinuousClock.now.duration(to: deadline).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return nil }
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&waiting, 1, Int32(clamping: milliseconds + 1))
        if ready < 0, errno == EINTR { continue }
        guard ready > 0 else { return nil }
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count == 0 { return answer }
        if count < 0, errno != EINTR { return nil }
        answer += buffer.prefix(max(count, 0))
      }
      return nil
    }
  }
#endif
