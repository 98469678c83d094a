public import WaybillLedger
public import WaybillModel

/// The end of an account's time on this device, and its return.
///
/// A ledger belongs to one account for good. Signing out seals it: nothing is sent from it and
/// nothing comes in, whatever becomes of what is there. What is there is kept for the return, or
/// discarded; it is never handed to the account that signs in next, which opens a ledger of its
/// own. Callbacks that come late are recorded here, where they belong.
public struct SignOut: Sendable {
  /// What a sign-out has given up.
  public struct Discarded: Equatable, Sendable {
    /// Uploads that had not ended and were cancelled.
    public internal(set) var uploads = 0
    /// Copies that could not be deleted; the next run, or the same call, tries again.
    public internal(set) var copiesLeft = 0
  }

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
  /// - Returns: what was given up.
  /// - Throws: `LedgerError`. The seal is on stable storage before anything is given up.
  @discardableResult
  public func seal(_ copies: LocalCopies) async throws(LedgerError) -> Discarded {
    try await record(copies)
    return try await discardSealed()
  }

  /// Makes the seal durable, and nothing more: for whoever has to stop something in between.
  package func record(_ copies: LocalCopies) async throws(LedgerError) {
    try await ledger.record(cause: .command) { $0.decideSeal(copies) }
  }

  /// Lets the same account go on. What was to be discarded is discarded first.
  ///
  /// - Throws: `LedgerError`.
  public func unseal() async throws(LedgerError) {
    try await discardSealed()
    try await ledger.record(cause: .command) { $0.isSealed ? .unsealed : nil }
  }

  /// Gives up every upload that has not ended, and deletes every copy, if that is what became of
  /// them when the account signed out. Sessions at the server expire by themselves: there is no
  /// credential any more to delete them with.
  @discardableResult
  func discardSealed() async throws(LedgerError) -> Discarded {
    var discarded = Discarded()
    guard try await ledger.state().seal == .discard else { return discarded }
    var last: UploadID?
    while true {
      let ids = try await ledger.reader.unfinishedUploads(after: last)
      guard !ids.isEmpty else { return discarded }
      for id in ids { try await discard(id, &discarded) }
      last = ids.last
    }
  }

  /// Gives one upload up and deletes its copy.
  private func discard(
    _ id: UploadID, _ discarded: inout Discarded
  ) async throws(LedgerError) {
    let (upload, events) = try await ledger.record(id) { (try? $0.decide(.cancel(.account))) ?? [] }
    if !events.isEmpty { discarded.uploads += 1 }
    guard let copy = upload.copy, upload.copyReleased == nil else { return }
    do throws(StagingError) {
      try staging.release(copy.file)
    } catch {
      discarded.copiesLeft += 1
      return
    }
    try await ledger.record(id) { (try? $0.decide(.releaseCopy)) ?? [] }
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
