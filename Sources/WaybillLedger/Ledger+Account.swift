internal import WaybillHash
internal import WaybillModel

/// Whose a ledger is.
extension Ledger {
  /// Binds the ledger to an account, for good; checks it where it is bound already.
  ///
  /// - Parameter account: a name that is the account's for ever, such as its id at the server. It
  ///   is kept as a salted digest; whoever knows the name can tell it again, nobody else.
  /// - Throws: `LedgerError`: `otherAccount` where it is bound to another one. What is in it is
  ///   never sent for that one.
  public func assign(to account: String) async throws(LedgerError) {
    try await record(cause: .command) { state in
      guard state.account == nil else { return nil }
      let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
      let digest = Ledger.digest(of: account, salt: salt)
      return .assigned(Assigned(salt: salt, digest: digest))
    }
    guard let known = try state().account,
      Ledger.digest(of: account, salt: known.salt) == known.digest
    else {
      throw LedgerError(
        .otherAccount, "this ledger belongs to another account",
        remedy: "open the ledger of the account that is signed in")
    }
  }

  private static func digest(of account: String, salt: [UInt8]) -> ContentHash {
    let hasher = SHA256()
    (salt + Array(account.utf8)).withUnsafeBytes { hasher.update($0) }
    return hasher.finish()
  }
}
