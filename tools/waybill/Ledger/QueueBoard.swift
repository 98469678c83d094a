internal import WaybillLedger
internal import WaybillModel

/// Keeps a live board current with the queue of a ledger: what was open when it began, and
/// everything that has changed since.
actor QueueBoard {
  private let ledger: Ledger
  private let board: LiveBoard
  private var places: [UploadID: Int] = [:]
  private var uploads: [QueuedUpload] = []
  private var rows: [BoardRow] = []
  private var waiting: Waiting?

  init(_ ledger: Ledger, _ board: LiveBoard) {
    self.ledger = ledger
    self.board = board
  }

  /// Follows until its task is cancelled or the ledger is closed.
  func follow() async {
    var updates = ledger.uploads().makeAsyncIterator()
    while let update = try? await updates.next() {
      let isHeldAnew = update.waiting != waiting
      waiting = update.waiting
      if isHeldAnew { uploads.filter(\.isOpen).forEach { take($0) } }
      for row in update.rows where update.kind == .change || row.upload.isOpen { take(row.upload) }
      await board.update(rows, totals)
    }
  }

  /// Brings every row that has not ended up to date: an upload that ended as a duplicate has left
  /// the queue and is in no update, and the last update may not have been read.
  func settle() async {
    for (id, place) in places where !rows[place].state.isEnd {
      guard let upload = try? await ledger.upload(id) else { continue }
      if let row = QueuedUpload(upload) {
        // A state that waits is as true as it was: what holds everything up is not in the row.
        if ItemState(row).isEnd { take(row) }
      } else if case .deduplicated = upload.ending {
        rows[place].state = .deduplicated
        rows[place].done = rows[place].total
      }
    }
    await board.update(rows, totals)
  }

  private func take(_ upload: QueuedUpload) {
    let place = places[upload.id] ?? rows.count
    let row = BoardRow(
      id: place, name: upload.fileName.display, state: ItemState(upload, waiting),
      done: upload.bytesSent, total: upload.byteCount)
    if place == rows.count {
      places[upload.id] = place
      uploads.append(upload)
      rows.append(row)
    } else {
      uploads[place] = upload
      rows[place] = row
    }
  }

  private var totals: BoardTotals {
    var totals = BoardTotals()
    for row in rows where row.state != .cancelled {
      totals.count += 1
      totals.bytesDone += row.done
      totals.bytesTotal += row.total
      if row.state == .committed || row.state == .deduplicated { totals.doneCount += 1 }
      if case .needsAttention = row.state { totals.attentionCount += 1 }
    }
    return totals
  }
}

extension QueuedUpload {
  /// Whether it has not come to an end.
  fileprivate var isOpen: Bool {
    switch state {
    case .done, .cancelled: false
    case .queued, .uploading, .waiting, .failed: true
    }
  }
}

extension ItemState {
  /// Whether it does not change any more by itself.
  fileprivate var isEnd: Bool {
    switch self {
    case .committed, .needsAttention, .deduplicated, .cancelled: true
    case .savedLocally, .queued, .waiting, .sending, .verifying: false
    }
  }

  /// The state of a queued upload in the words of the board, while everything waits for
  /// something.
  init(_ upload: QueuedUpload, _ waiting: Waiting? = nil) {
    switch upload.state.held(by: waiting) {
    case .queued: self = .queued
    // What is on its way is not at the server.
    case .uploading: self = upload.bytesConfirmed < upload.byteCount ? .sending : .verifying
    case .waiting(let waiting): self = .waiting(waiting.reason.words)
    case .done: self = .committed
    case .failed(let reason): self = .needsAttention(reason.words)
    case .cancelled: self = .cancelled
    }
  }
}
