internal import WaybillModel
internal import WaybillSQLite

extension LogWriter {
  /// Notes how many bytes of parts in flight the transport has taken. Not an event.
  func note(progress: [TransferDescription: Int64]) {
    defer { cache.trim() }
    // Neither into a stranger's file nor into the room that is left for what matters more.
    guard (try? checkDatabase()) != nil, !reserve.isAllThatIsLeft() else { return }
    do {
      try connection.setSynchronous(.normal)
      try statements.begin.run()
      for (transfer, sent) in progress {
        let entry = try load(transfer.upload)
        // What a callback says late must not count for the part's next attempt.
        guard let stream = entry.stream, let plan = entry.upload.session?.plan,
          entry.upload.flights.contains(transfer)
        else { continue }
        statements.progress.bind(1, stream)
        statements.progress.bind(2, Int64(transfer.part.index))
        statements.progress.bind(3, min(max(sent, 0), plan.byteCount(of: transfer.part)))
        try statements.progress.run()
      }
      try statements.commit.run()
      mark.write(durableHead, sync: false)
    } catch {
      // Progress is a convenience; a full disk must not turn it into a failure of the upload.
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
    }
  }
}
