internal import WaybillLedger
internal import WaybillModel

/// What a person orders about uploads while the engine works.
extension UploadEngine {
  /// How many orders are decided side by side, so that they share a transaction.
  private static let ordersAtOnce = 64

  /// Grants a command about some uploads, each by itself, and lets the engine look at them.
  ///
  /// - Returns: the uploads it was refused for, each with the reason. What was granted is in the
  ///   log; what held already is neither.
  /// - Throws: the first `LedgerError`, once every upload has been tried.
  func grant(
    _ command: UploadCommand, to ids: [UploadID]
  ) async throws(LedgerError) -> [UploadID: Rejection] {
    var refused: [UploadID: Rejection] = [:]
    var failure: LedgerError?
    var rest = ids[...]
    while !rest.isEmpty {
      let page = rest.prefix(UploadEngine.ordersAtOnce)
      rest = rest.dropFirst(page.count)
      await withTaskGroup(of: (UploadID, Result<Rejection?, LedgerError>).self) { group in
        for id in page {
          group.addTask { (id, await self.result(of: command, id)) }
        }
        for await (id, result) in group {
          switch result {
          case .success(let rejection): refused[id] = rejection
          case .failure(let error): failure = failure ?? error
          }
        }
      }
    }
    // Whoever tries again wants to know now whether the server can be reached.
    if command == .retry { lookAgain() } else { raiseSignal() }
    if let failure { throw failure }
    return refused
  }

  private nonisolated func result(
    of command: UploadCommand, _ id: UploadID
  ) async -> Result<Rejection?, LedgerError> {
    do throws(LedgerError) {
      let recorded = try await ledger.record(id) { (try? $0.decide(command)) ?? [] }
      guard recorded.events.isEmpty else { return .success(nil) }
      do throws(Rejection) {
        _ = try recorded.upload.decide(command)
        return .success(nil)
      } catch {
        return .success(error)
      }
    } catch {
      return .failure(error)
    }
  }
}
