extension Planner {
  /// What goes on for one upload that the log does not say.
  public struct Activity: Equatable, Sendable {
    /// Whether a step other than sending is under way.
    public var isBusy = false
    /// Parts that are being made ready to be sent; the log does not know of them yet.
    public var preparing: Set<PartNumber> = []
    /// The revision at which the server last gave its account in this launch.
    public var asked: StreamRevision?
    /// Whether its account is wanted before anything else is done.
    public private(set) var mustAsk = false
    /// The revision at which nothing more can be done in this launch; any later one can change it.
    public var leftAt: StreamRevision?
    /// How often in this launch the server forgot a session, or missed parts it had just stated.
    private var contradictions = 0

    /// Nothing goes on.
    public init() {}

    /// Takes the verdict on a step.
    ///
    /// - Returns: whether the server has contradicted itself once too often; the count begins anew
    ///   then.
    public mutating func take(_ verdict: Verdict, on step: Step) -> Bool {
      switch verdict {
      case .statement(.status): mustAsk = false
      default: if step == .commit { mustAsk = verdict.leavesOutcomeOpen }
      }
      guard verdict.isContradiction else { return false }
      contradictions += 1
      guard contradictions >= Reconciliation.maximumRegressions else { return false }
      contradictions = 0
      return true
    }
  }
}

extension Verdict {
  /// Whether the server may have done what was asked although it did not say so.
  fileprivate var leavesOutcomeOpen: Bool {
    switch self {
    case .wait(.offline, _, _): false
    case .wait, .partsMissing, .inProgress: true
    case .statement, .credentialsRejected, .blocked, .conflict: false
    }
  }

  /// Whether the server takes back what it had stated: a session it opened, parts it held.
  fileprivate var isContradiction: Bool {
    switch self {
    case .statement(.status(.gone)), .partsMissing: true
    default: false
    }
  }
}
