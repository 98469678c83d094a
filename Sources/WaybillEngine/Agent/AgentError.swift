#if os(Linux)
  /// Why the agent cannot be used.
  public struct AgentError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; an open list, so keep a default when you switch over it.
    public struct Code: Hashable, Sendable {
      /// The stable word of the code.
      public let word: String

      private init(_ word: String) { self.word = word }

      /// No agent runs at that place, and none was to be started.
      public static let notRunning = Code("not_running")
      /// Another agent runs at that place.
      public static let busy = Code("busy")
      /// The folder, the socket or a file beside it cannot be used.
      public static let unusable = Code("unusable")
      /// The agent speaks another version of the protocol.
      public static let otherVersion = Code("other_version")
      /// The agent did not start, or did not answer in time.
      public static let noAnswer = Code("no_answer")
    }

    /// What kind of failure it is.
    public let code: Code
    /// What went wrong, without a full stop.
    public let message: String
    /// What to do next.
    public let remedy: String

    init(_ code: Code, _ message: String, remedy: String) {
      self.code = code
      self.message = message
      self.remedy = remedy
    }

    /// The message and the remedy.
    public var description: String { "\(message); \(remedy)" }
  }
#endif
