internal import WaybillModel
internal import WaybillSQLite
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

extension LedgerReader {
  /// Looks at the ledger and its surroundings; writes nothing and opens no file of the database.
  public func checkup() throws(LedgerError) -> Checkup {
    var checkup = Checkup()
    checkup.sqliteVersion = Connection.libraryVersion
    checkup.format = (formatVersion, Migrator.standard.newestVersion)
    checkup.head = try head()
    checkup.owner = owner
    let database = files?.database ?? path
    checkup.folder = files.flatMap { LedgerReader.file($0.directory) }
    checkup.database = LedgerReader.file(database)
    checkup.log = LedgerReader.file(database + "-wal")
    checkup.mark =
      switch headMark {
      case .absent: .absent
      case .unreadable: .unreadable
      case .mark(let mark): .position(mark.position)
      }
    if let files {
      try lookAround(files, &checkup)
      try? Folder.forEachName(in: files.staged) { name in
        let copy = LedgerReader.file(files.staged + "/" + String(decoding: name, as: UTF8.self))
        checkup.staged.count += 1
        checkup.staged.byteCount += copy?.byteCount ?? 0
      }
      try? Folder.forEachName(in: files.inbox) { name in
        let name = String(decoding: name, as: UTF8.self)
        checkup.inbox.waiting += name.hasSuffix(".json") ? 1 : 0
        checkup.inbox.refused += name.hasSuffix(".refused") ? 1 : 0
      }
    }
    var volume = statvfs()
    if statvfs(files?.directory ?? database, &volume) == 0 {
      checkup.freeBytes = Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
    }
    return checkup
  }

  /// What lies beside the database.
  private func lookAround(
    _ files: LedgerFiles, _ checkup: inout Checkup
  ) throws(LedgerError) {
    checkup.hasReserve = LedgerReader.file(files.reserve) != nil
    for segment in try segments() {
      var status = stat()
      let isThere =
        lstat("\(files.archive)/\(segment.name.text)", &status) == 0
        && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
      checkup.archive.segments += 1
      checkup.archive.missing += isThere ? 0 : 1
      checkup.archive.byteCount += isThere ? Int64(status.st_size) : 0
    }
    try? Folder.forEachName(in: files.directory) { name in
      let name = String(decoding: name, as: UTF8.self)
      checkup.leftovers.backups += LedgerFiles.isBackup(name) ? 1 : 0
    }
    try? Folder.forEachName(in: files.setAside) { _ in checkup.leftovers.setAside += 1 }
  }

  private static func file(_ path: String) -> Checkup.File? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Checkup.File(
      byteCount: Int64(status.st_size), mode: UInt32(status.st_mode & 0o7777),
      links: UInt64(status.st_nlink), isOurs: status.st_uid == geteuid())
  }
}
