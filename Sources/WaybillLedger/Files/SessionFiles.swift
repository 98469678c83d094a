internal import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The URLs of sessions, one small file each beside the log, named by its upload.
///
/// They are as good as credentials, so they are in no event and no table: a database is copied,
/// opened in other tools and sent to support, and its write-ahead log keeps what was deleted.
struct SessionFiles {
  /// The folder; it is made when the first URL is kept.
  let folder: String

  /// Writes a URL to stable storage, in the place of one that was kept for the upload before.
  func keep(_ session: SessionURL, of upload: UploadID) throws(LedgerError) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw LedgerFiles.failure("make the folder", folder)
    }
    let next = path(of: upload) + ".next"
    unlink(next)
    let descriptor = open(next, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
    guard descriptor >= 0 else { throw LedgerFiles.failure("make", next) }
    defer { close(descriptor) }
    let bytes = session.reveal { [UInt8]($0.utf8) }
    guard write(descriptor, bytes, bytes.count) == bytes.count, StableStorage.sync(descriptor),
      rename(next, path(of: upload)) == 0
    else {
      let error = LedgerFiles.failure("write", next)
      unlink(next)
      throw error
    }
    try LedgerFiles.syncFolder(folder)
  }

  /// The URL that is kept for an upload; nil when there is none that can be read.
  func url(of upload: UploadID) -> SessionURL? {
    let descriptor = open(path(of: upload), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: SessionURL.maximumByteCount + 1)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    return SessionURL(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Deletes the URL of an upload, if one is kept.
  func forget(_ upload: UploadID) { unlink(path(of: upload)) }

  /// The uploads a URL is kept of. What a kill left unfinished beside them is deleted.
  func uploads() -> [UploadID] {
    var names: [String] = []
    // One that is not listed now is listed at a later launch.
    try? Folder.forEachName(in: folder) { names.append(String(decoding: $0, as: UTF8.self)) }
    return names.compactMap { name in
      let upload = UploadID(name)
      if upload == nil { unlink("\(folder)/\(name)") }
      return upload
    }
  }

  private func path(of upload: UploadID) -> String { "\(folder)/\(upload)" }
}
