/// Everything the ledger's own stream says, folded.
public struct LedgerState: Equatable, Sendable {
  /// The revision of the ledger's stream up to which it is folded.
  public internal(set) var revision = StreamRevision.none
  /// The newest launch; nil before the first.
  public internal(set) var launch: LaunchGeneration?
  /// What sending depends on, beyond any one upload.
  public internal(set) var conditions = Conditions()
  /// The account the ledger belongs to; nil until somebody has said whose it is.
  public internal(set) var account: Assigned?
  /// What becomes of what an account that has signed out left here; nil while it is signed in.
  public internal(set) var seal: LocalCopies?
  /// The event that says events were lost, until the uploads have been compared since. What was
  /// lost comes back by itself: a launch asks the server about every session of an earlier one.
  public internal(set) var tailLost: GlobalPosition?

  /// Makes the state of a ledger without events.
  public init() {}

  /// Makes the state that was folded before and stored.
  package init(
    revision: StreamRevision, launch: LaunchGeneration?, conditions: Conditions, account: Assigned?,
    seal: LocalCopies?, tailLost: GlobalPosition?
  ) {
    self.revision = revision
    self.launch = launch
    self.conditions = conditions
    self.account = account
    self.seal = seal
    self.tailLost = tailLost
  }

  /// The fact that signs the account out; nil where it holds already. What was to be discarded is
  /// not kept any more.
  public func decideSeal(_ copies: LocalCopies) -> LedgerEvent? {
    seal == nil || (seal == .keep && copies == .discard) ? .sealed(Sealed(copies: copies)) : nil
  }

  /// Whether nothing may be sent.
  public var isSealed: Bool { seal != nil }

  /// What every upload waits for; nil when nothing holds them up.
  public var waiting: Waiting? { isSealed ? Waiting(.sealed) : conditions.waiting }

  /// Folds one recorded event into the state. Total, as for uploads.
  public mutating func evolve(_ recorded: RecordedEvent) {
    revision = recorded.revision
    guard case .ledger(let event) = recorded.body else { return }
    switch event {
    case .launched(let launched): launch = launched.generation
    case .reconciled: tailLost = nil
    case .conditionsChanged(let conditions): self.conditions = conditions
    // The first one counts: a ledger never changes hands.
    case .assigned(let assigned): account = account ?? assigned
    case .sealed(let sealed): seal = sealed.copies
    case .unsealed: seal = nil
    case .tailLost: tailLost = recorded.position
    case .archived, .purged: break
    }
  }
}
