internal import WaybillLedger
internal import WaybillModel

/// Keeping the rows current: one loop off the main actor, one call to it for each update.
extension UploadsModel {
  func beginFollowing() {
    guard following == nil else { return }
    followings += 1
    let number = followings
    let updates = engine.ledger.uploads()
    following = Task { [weak self, clock] in
      var failure: LedgerError?
      do throws(LedgerError) {
        try await UploadsModel.follow(updates, clock) { self?.take($0, of: number) ?? false }
      } catch {
        failure = error
      }
      self?.endFollowing(number, failure)
    }
  }

  func endFollowing() {
    following?.cancel()
    following = nil
    followings += 1
  }

  /// Ends a following that came to its end by itself: the ledger was closed or cannot be read.
  private func endFollowing(_ number: Int, _ failure: LedgerError?) {
    guard number == followings else { return }
    following = nil
    if let failure { report(failure) }
  }

  /// Hands each update to the main actor, then leaves it alone for a while: what happens meanwhile
  /// is in the next update.
  @concurrent
  private nonisolated static func follow(
    _ updates: QueueUpdates, _ clock: any Clock<Duration>,
    _ take: @MainActor @Sendable (QueueUpdate) -> Bool
  ) async throws(LedgerError) {
    var iterator = updates.makeAsyncIterator()
    while let update = try await iterator.next(), await take(update) {
      guard update.isWhole else { continue }
      do {
        try await clock.sleep(for: pause)
      } catch {
        return
      }
    }
  }

  /// - Returns: whether anybody wants the next one.
  private func take(_ update: QueueUpdate, of number: Int) -> Bool {
    guard number == followings else { return false }
    if update.kind == .beginning { replayed = rows.isEmpty ? nil : [] }
    take(update.rows, isReplay: update.kind != .change)
    if update.kind != .change { replayed?.formUnion(update.rows.lazy.map(\.upload.id)) }
    var gone = Set(update.left.filter { known[$0] != nil })
    if update.isWhole, let seen = replayed {
      gone.formUnion(known.keys.filter { !seen.contains($0) })
      replayed = nil
    }
    remove(gone)
    surroundings.take(update.waiting)
    if update.isWhole {
      tally.settle()
      if tally.progress != progress { progress = tally.progress }
      if !isLoaded { isLoaded = true }
    }
    return true
  }

  private func take(_ updated: [QueueRow], isReplay: Bool) {
    var new: [UploadRow] = []
    for update in updated {
      let row: UploadRow
      let before: UploadShare?
      if let old = known[update.upload.id] {
        row = old
        before = row.share
        row.take(update)
      } else {
        row = UploadRow(update, in: surroundings)
        before = nil
        known[row.id] = row
        new.append(row)
      }
      tally.take(from: before, to: row.share, counted: &row.counted, isReplay: isReplay)
    }
    if !new.isEmpty { insert(new) }
  }

  /// What is new was nearly always added last; what was not goes to its place.
  private func insert(_ new: [UploadRow]) {
    let last = rows.last?.added ?? .start
    let behind = new.prefix { $0.added < last }
    for row in behind { rows.insert(row, at: place(of: row)) }
    rows.append(contentsOf: new.dropFirst(behind.count))
  }

  private func remove(_ gone: Set<UploadID>) {
    guard !gone.isEmpty else { return }
    for id in gone {
      guard let row = known.removeValue(forKey: id) else { continue }
      tally.take(from: row.share, to: nil, counted: &row.counted)
    }
    rows.removeAll { gone.contains($0.id) }
  }

  /// The first place whose row was not added before this one.
  private func place(of row: UploadRow) -> Int {
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].added < row.added { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
