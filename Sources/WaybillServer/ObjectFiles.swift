internal import WaybillHash
internal import WaybillModel
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The bytes of sessions and photos: one file each, in one folder, named by us.
///
/// Parts are written straight to their place in the session's file, and a photo goes on using the
/// file of the session it came from: committing moves no byte and no name, so a crash can leave
/// nothing between two places.
struct ObjectFiles: Sendable {
  private let folder: String
  // Held while a file is made, so that whoever finds it finds it durable. The value says nothing,
  // but one without size would lie on the lock's own object, and ThreadSanitizer calls that a race.
  private let making = Locked(false)

  /// Uses the folder, which is there already.
  init(folder: String) { self.folder = folder }

  private func path(_ name: String) -> String { folder + "/" + name }

  /// Opens a session's file for writing parts, making it at its full size the first time.
  ///
  /// - Durability: the name is on stable storage before this returns; bytes only after a sync.
  func openForParts(_ name: String, byteCount: Int64) throws(SystemError) -> OpenFile {
    try making.withLock { (_) throws(SystemError) in
      let found = open(path(name), O_RDWR | O_NOFOLLOW | O_CLOEXEC)
      if found >= 0 { return OpenFile(found) }
      guard errno == ENOENT else { throw .last }
      let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let made = open(path(name), flags, 0o600)
      guard made >= 0 else { throw .last }
      let file = OpenFile(made)
      guard ftruncate(made, off_t(byteCount)) == 0 else { throw .last }
      try Folder.sync(folder)
      return file
    }
  }

  /// Opens a file for reading.
  func openForReading(_ name: String) throws(SystemError) -> OpenFile {
    let descriptor = open(path(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    return OpenFile(descriptor)
  }

  /// The size of a file, or nil when it is not there.
  func byteCount(_ name: String) -> Int64? {
    var facts = stat()
    guard lstat(path(name), &facts) == 0 else { return nil }
    return Int64(facts.st_size)
  }

  /// Removes a file; nothing happens when it is not there. A crash may bring it back: the sweep
  /// at the next start takes it again.
  func remove(_ name: String) { unlink(path(name)) }

  /// Removes every file that no row names and tells how many there were.
  @discardableResult
  func sweep(keeping names: Set<String>) -> Int {
    var removed = 0
    // What a broken disk hides from this sweep is left to the next one.
    try? Folder.forEachName(in: folder) { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      if !names.contains(name), unlink(path(name)) == 0 { removed += 1 }
    }
    return removed
  }

  /// The hash of the first `byteCount` bytes of a file, read back from it.
  ///
  /// - Returns: nil when `isCancelled` said so between two reads of 1 MiB.
  func hash(
    _ name: String, byteCount: Int64, isCancelled: () -> Bool
  ) throws(SystemError) -> ContentHash? {
    let hasher = SHA256()
    guard byteCount > 0 else { return hasher.finish() }
    let file = try openForReading(name)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < byteCount {
      if isCancelled() { return nil }
      let wanted = Int(min(Int64(buffer.count), byteCount - offset))
      let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      guard let count = file.read(into: slice, at: offset) else { throw .last }
      hasher.update(UnsafeRawBufferPointer(rebasing: slice[..<count]))
      // A file that ends early has another hash, which is all the caller needs to know.
      if count < wanted { break }
      offset += Int64(count)
    }
    return hasher.finish()
  }
}
