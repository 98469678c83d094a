public import WaybillLedger
public import WaybillModel

/// The end of an account's time on this device, and its return.
///
/// A ledger belongs to one account for good. Signing out seals it: nothing is sent from it and
/// nothing comes in, whatever becomes of what is there. What is there is kept for the return, or
/// discarded; it is never handed to the account that signs in next, which opens a ledger of its
/// own. Callbacks that come late are recorded here, where they belong.
public struct SignOut: Sendable {
  private let ledger: Ledger
  private let staging: Staging

  /// Makes the sign-out of the account a ledger belongs to.
  ///
  /// - Parameter ledger: the ledger, opened by this process. While an engine works on it, ask the
  ///   engine instead: it also stops what is on its way.
  public init(ledger: Ledger) {
    self.ledger = ledger
    staging = Staging(directory: ledger.stagingDirectory)
  }

  /// Seals the ledger, then discards what is to be discarded. Killed in between, the next run of
  /// an engine, or the same call, goes on. Signing out again can only turn keeping into discarding.
  ///
  /// - Parameter copies: what becomes of uploads that have not ended and of their copies.
  /// - Returns: how many uploads were given up.
  /// - Throws: `LedgerError`. The seal is on stable storage before anything is given up.
  @discardableResult
  public func seal(_ copies: LocalCopies) async throws(LedgerError) -> Int {
    try await record(copies)
    return try await discardSealed()
  }

  /// Makes the seal durable, and nothing more: for whoever has to stop something in between.
  package func record(_ copies: LocalCopies) async throws(LedgerError) {
    let seal = try await ledger.state().seal
    guard seal == nil || (seal == .keep && copies == .discard) else { return }
    try await ledger.append(.sealed(Sealed(copies: copies)), cause: .command)
  }

  /// Lets the same account go on. What was to be discarded is discarded first.
  ///
  /// - Throws: `LedgerError`.
  public func unseal() async throws(LedgerError) {
    try await discardSealed()
    guard try await ledger.state().isSealed else { return }
    try await ledger.append(.unsealed, cause: .command)
  }

  /// Gives up every upload that has not ended, and deletes every copy, if that is what became of
  /// them when the account signed out. Sessions at the server expire by themselves: there is no
  /// credential any more to delete them with.
  @discardableResult
  func discardSealed() async throws(LedgerError) -> Int {
    guard try await ledger.state().seal == .discard else { return 0 }
    var count = 0
    var last: UploadID?
    while true {
      let ids = try await ledger.reader.unfinishedUploads(after: last)
      guard !ids.isEmpty else { return count }
      for id in ids where try await discard(id) { count += 1 }
      last = ids.last
    }
  }

  /// Gives one upload up and deletes its copy; says whether it had not ended.
  private func discard(_ id: UploadID) async throws(LedgerError) -> Bool {
    let (upload, events) = try await ledger.record(id) { (try? $0.decide(.cancel(.account))) ?? [] }
    await ledger.forgetSessionURL(of: id)
    guard let copy = upload.copy else { return !events.isEmpty }
    // A copy that cannot be deleted now is deleted by a later launch.
    guard (try? staging.release(copy.file)) != nil else { return !events.isEmpty }
    try await ledger.record(id) { (try? $0.decide(.releaseCopy)) ?? [] }
    return !events.isEmpty
  }
}

extension UploadEngine {
  /// Signs the account out: seals the ledger, stops what is on its way, also what outlives this
  /// process, and discards what is to be discarded. Once it returns nothing is sent any more.
  ///
  /// - Parameter copies: what becomes of uploads that have not ended and of their copies.
  /// - Throws: `LedgerError`; as long as the seal was recorded, nothing is sent.
  public func signOut(_ copies: LocalCopies) async throws(LedgerError) {
    let signOut = SignOut(ledger: ledger)
    try await signOut.record(copies)
    await endTransfers()
    try await signOut.discardSealed()
    raiseSignal()
  }

  /// Lets the same account go on, with the credential it has now.
  ///
  /// - Throws: `LedgerError`.
  public func signIn() async throws(LedgerError) {
    try await SignOut(ledger: ledger).unseal()
    try await credentialsChanged()
  }
}
