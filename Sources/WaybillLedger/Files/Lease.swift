internal import WaybillModel

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The right to append to a ledger, held by at most one process: a lock on the file `lease`.
///
/// The lock belongs to the open file, so the kernel drops it when the process ends, however it
/// ends. The text in the file only says who holds it.
final class Lease: Sendable {
  private let descriptor: Int32
  private let process = getpid()

  /// Takes the lease, or says who has it.
  init(path: String, app: String, now: Timestamp) throws(LedgerError) {
    let descriptor = open(path, O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw LedgerFiles.failure("open", path) }
    guard Lease.lock(descriptor) else {
      let owner = Lease.owner(descriptor)
      close(descriptor)
      throw LedgerError(
        .busy, "the ledger is in use by \(owner ?? "another process")",
        remedy: "wait until it ends, or stop it")
    }
    self.descriptor = descriptor
    // One line, cut where the text ends; whoever shows it escapes it.
    let name = app.split(whereSeparator: \.isNewline).joined(separator: " ")
    let text = "\(getpid()) \(now) \(name)\n"
    _ = ftruncate(descriptor, 0)
    _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) }
  }

  /// Unlocked by name: a process that is being started may hold a copy of the descriptor for a
  /// moment, and closing ours alone would leave the lock with it. A forked child shares the lock
  /// and must not give away what its parent holds.
  deinit {
    if getpid() == process { flock(descriptor, LOCK_UN) }
    close(descriptor)
  }

  /// Takes the lock, or gives up after a few tries: someone who asks for the owner holds it for a
  /// moment too.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<10 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      usleep(5000)
    }
    return false
  }

  /// Who holds the lease right now, in words; nil when nobody does or there is no lease file.
  static func holder(path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
      flock(descriptor, LOCK_UN)
      return nil
    }
    return owner(descriptor) ?? "another process"
  }

  private static func owner(_ descriptor: Int32) -> String? {
    let bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      return [UInt8](buffer.prefix(max(count, 0)))
    }
    let fields =
      String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n").first?
      .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false) ?? []
    guard fields.count == 3 else { return nil }
    let name = fields[2].isEmpty ? "" : "\(fields[2]), "
    return EscapedText.escape("process \(fields[0]) (\(name)since \(fields[1]))")
  }
}
