/// Whether the server takes the credential, told from what it says to the requests of all uploads.
///
/// One refusal proves nothing: the credential may have run out a moment ago. So a first refusal
/// asks for a new one, once for everybody who is refused meanwhile. What is refused again after
/// that, while another request with the same credential is accepted, is refused for a reason of its
/// own. The account's credential is rejected only when nobody's request is accepted.
public struct CredentialTrust: Equatable, Sendable {
  /// A request that is the same each time it is made.
  public struct Request: Hashable, Sendable {
    /// The upload it is made for.
    public let upload: UploadID
    /// What it asks for.
    public let step: Step

    /// Names the request of a step.
    public init(_ step: Step, of upload: UploadID) {
      self.step = step
      self.upload = upload
    }
  }

  /// What a refusal asks for.
  public enum Answer: Equatable, Sendable {
    /// A new credential has to be asked for; until it is there nothing is sent.
    case renew
    /// Nothing: the request was sent with an older credential, or a new one is on its way.
    case wait
    /// Others have to be tried before it is known whose fault it is.
    case doubt
    /// The server takes the credential, but not for this upload.
    case own
  }

  /// Refused uploads in a row, none accepted between, after which no further one is tried.
  public static let maximumRefused = 16

  /// Counts the credentials, so that a late reply is not taken for one about the newest.
  public private(set) var round = 0
  /// Whether a new credential is being asked for.
  public private(set) var isRenewing = false
  /// Whether nothing is sent before somebody brings another credential.
  public private(set) var isRejected = false
  /// Whether the server has accepted the credential in this round.
  public private(set) var isAccepted = false
  private var mayRenew = true
  private var refusals: [Request: Refusal] = [:]

  private struct Refusal: Equatable {
    var count = 0
    /// Whether one of them was in this round.
    var isOfThisRound = false
    /// Whether another request was accepted in this round since.
    var othersPass = false
  }

  /// Trusts the credential until it is refused.
  public init() {}

  /// Whether the credential has been refused in this round and not been accepted.
  public var isDoubted: Bool { !isAccepted && refusals.values.contains { $0.isOfThisRound } }

  private var refusedUploads: Int {
    Set(refusals.filter { $0.value.isOfThisRound }.keys.map(\.upload)).count
  }

  // MARK: What the server says

  /// Takes a refusal of a request that was sent in a round.
  public mutating func refuse(_ request: Request, round: Int) -> Answer {
    var refusal = refusals[request] ?? Refusal()
    guard round == self.round, !isRenewing, !isRejected else {
      refusal.count = max(refusal.count, 1)
      refusals[request] = refusal
      return .wait
    }
    refusal.count += 1
    refusal.isOfThisRound = true
    refusals[request] = refusal
    if refusal.count > 1, refusal.othersPass {
      forget(request.upload)
      return .own
    }
    if mayRenew {
      mayRenew = false
      isRenewing = true
      return .renew
    }
    if !isAccepted, refusedUploads >= CredentialTrust.maximumRefused { isRejected = true }
    return .doubt
  }

  /// Takes the acceptance of a request that was sent in a round.
  ///
  /// - Returns: uploads whose requests are thereby refused for a reason of their own.
  public mutating func accept(_ request: Request, round: Int) -> [UploadID] {
    guard round == self.round else { return [] }
    isAccepted = true
    isRejected = false
    mayRenew = true
    refusals[request] = nil
    var own: Set<UploadID> = []
    for (other, refusal) in refusals {
      refusals[other]?.othersPass = true
      if refusal.count > 1 { own.insert(other.upload) }
    }
    for upload in own { forget(upload) }
    return own.sorted { $0.description < $1.description }
  }

  /// Says how many uploads have something left to do: where all of them are refused, there is
  /// nobody left to prove the credential.
  public mutating func settle(workLeft: Int64) {
    if isDoubted, workLeft > 0, Int64(refusedUploads) >= workLeft { isRejected = true }
  }

  private mutating func forget(_ upload: UploadID) {
    refusals = refusals.filter { $0.key.upload != upload }
  }

  // MARK: What becomes of the credential

  /// The request for a new credential has ended, with one or without.
  public mutating func renew() {
    isRenewing = false
    beginRound(mayRenew: false)
  }

  /// There is no credential to send.
  public mutating func reject() { isRejected = true }

  /// Somebody says that there is another credential, or that it is worth another try.
  public mutating func change() {
    refusals = [:]
    isRejected = false
    isRenewing = false
    beginRound(mayRenew: true)
  }

  private mutating func beginRound(mayRenew: Bool) {
    round += 1
    isAccepted = false
    self.mayRenew = mayRenew
    for request in refusals.keys {
      refusals[request]?.isOfThisRound = false
      refusals[request]?.othersPass = false
    }
  }
}
