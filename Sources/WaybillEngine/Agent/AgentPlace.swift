#if os(Linux)
  internal import Glibc
  internal import WaybillSystem

  /// Where the agent of a user has its socket, its lease and the results that wait: one folder
  /// with mode 0700.
  public struct AgentPlace: Hashable, Sendable {
    /// The folder, an absolute path.
    public let folder: String

    /// Names the folder; it is made when the agent starts.
    public init(folder: String) { self.folder = folder }

    /// The folder an environment asks for: `waybill` under `$XDG_RUNTIME_DIR`, else
    /// `waybill/agent` under `$XDG_STATE_HOME`, else under `~/.local/state`. Relative paths are
    /// ignored, as the XDG Base Directory Specification has it.
    ///
    /// - Parameter variable: gives the value of an environment variable.
    /// - Returns: nil where not even a home is known.
    public init?(environment variable: (String) -> String?) {
      func absolute(_ name: String) -> String? {
        variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
      }
      if let runtime = absolute("XDG_RUNTIME_DIR") {
        folder = runtime + "/waybill"
      } else if let state = absolute("XDG_STATE_HOME") {
        folder = state + "/waybill/agent"
      } else if let home = absolute("HOME") {
        folder = home + "/.local/state/waybill/agent"
      } else {
        return nil
      }
    }

    var socket: String { folder + "/agent.socket" }
    var lease: String { folder + "/agent.lease" }
    var results: String { folder + "/agent.results" }

    /// Makes the folder where it is missing and refuses one that is not ours alone.
    func prepare() throws(AgentError) {
      var path = ""
      for component in folder.split(separator: "/") {
        path += "/" + component
        if mkdir(path, 0o700) != 0, errno != EEXIST {
          throw AgentError(
            .unusable, "the folder \(path) cannot be made: \(SystemError.last.text)",
            remedy: "set XDG_RUNTIME_DIR to a folder of your own")
        }
      }
      try check()
    }

    /// Refuses a folder that somebody else could have put there or could write into.
    func check() throws(AgentError) {
      var status = stat()
      guard lstat(folder, &status) == 0 else {
        throw AgentError(
          errno == ENOENT ? .notRunning : .unusable,
          "the folder \(folder) cannot be looked at: \(SystemError.last.text)",
          remedy: "start one with 'waybill agent'")
      }
      guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
        throw AgentError(
          .unusable, "\(folder) is no folder of yours",
          remedy: "set XDG_RUNTIME_DIR to a folder of your own")
      }
      guard status.st_mode & 0o077 == 0 else {
        throw AgentError(
          .unusable, "the folder \(folder) is open to others",
          remedy: "run: chmod 700 '\(folder)'")
      }
    }
  }

  /// The right to be the agent of a place, held by at most one process: a lock on a file that the
  /// kernel drops when the process ends, however it ends.
  final class AgentLease: Sendable {
    private let descriptor: Int32

    /// Takes the lease; nil when another process has it.
    init?(_ place: AgentPlace) throws(AgentError) {
      let descriptor = open(place.lease, O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
      guard descriptor >= 0 else {
        throw AgentError(
          .unusable, "the file \(place.lease) cannot be opened: \(SystemError.last.text)",
          remedy: "check the folder, its owner and its mode")
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        return nil
      }
      self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Gives it up before its time.
    func release() { flock(descriptor, LOCK_UN) }
  }
#endif
