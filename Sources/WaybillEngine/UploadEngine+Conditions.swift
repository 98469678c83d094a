internal import WaybillLedger
internal import WaybillModel

/// What sending depends on beyond any one upload: the way to the server, and the credential.
extension UploadEngine {
  /// What a verdict means for its upload, in the light of what the others were told; what it means
  /// for all is taken care of here.
  func judge(
    _ verdict: Verdict, of request: CredentialTrust.Request, round: Int
  ) async throws(LedgerError) -> Verdict {
    let ruling = pacing.take(
      verdict, of: request, round: round, at: clock.now, random: random.next())
    if ruling.renewsCredential { renewCredential() }
    for upload in ruling.refused {
      try await observe(.blocked(.accessRevoked, status: 401), of: upload)
    }
    try await recordConditions()
    return ruling.verdict
  }

  /// Records the conditions, where what they hold up, or who can be reached, has changed. What the
  /// device says goes along as evidence; by itself it is not worth an event.
  func recordConditions() async throws(LedgerError) {
    var conditions = pacing.conditions
    conditions.held = isDiskFull ? Waiting(.disk) : policing.hold.current
    conditions.device = recordedConditions.device
    guard conditions != recordedConditions else { return }
    if let device = policing.device { conditions.device = device }
    let before = recordedConditions
    // Said before it is written, so that nobody else writes it meanwhile.
    recordedConditions = conditions
    do throws(LedgerError) {
      try await ledger.append(.conditionsChanged(conditions), cause: .transport)
    } catch {
      recordedConditions = before
      throw error
    }
  }

  /// The credential for a request that is about to be sent, with the round it belongs to; nil when
  /// there is none, or when since the request was planned the ledger has been sealed or a rule has
  /// come to forbid it.
  func credential() async throws(LedgerError) -> (token: Secret, round: Int)? {
    guard try await !ledger.state().isSealed, !isForbidden else { return nil }
    let round = pacing.credential.round
    guard let token = try await ownToken() else {
      pacing.rejectCredential()
      try await recordConditions()
      return nil
    }
    // Getting it may have taken its time.
    return try await ledger.state().isSealed || isForbidden ? nil : (token, round)
  }

  /// The token of the ledger's own account; nil where there is none, or one of another account.
  private func ownToken() async throws(LedgerError) -> Secret? {
    guard let credential = await credentials.credential() else { return nil }
    guard let account = credential.account else { return credential.token }
    do throws(LedgerError) {
      try await ledger.assign(to: account)
      return credential.token
    } catch {
      guard error.code == .otherAccount else { throw error }
      return nil
    }
  }

  /// Asks for a new credential. What is refused until it is there carries the old one.
  private func renewCredential() {
    let round = pacing.credential.round
    Task {
      _ = await credentials.credential(refused: true)
      // Somebody may have brought another one meanwhile.
      if pacing.credential.round == round { pacing.renewCredential() }
      raiseSignal()
    }
  }
}
