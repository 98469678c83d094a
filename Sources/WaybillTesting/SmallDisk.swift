#if os(Linux)
  internal import Glibc
  public import WaybillLedger

  /// A disk of some mebibytes in memory, mounted on a folder of its own, that can be filled to the
  /// last page. Gone with the value.
  public final class SmallDisk: Sendable {
    /// Whether one can be made here: it takes the superuser, and a system that lets him.
    public static let isPossible = geteuid() == 0 && (try? SmallDisk(mebibytes: 1)) != nil

    /// The folder the disk is mounted on.
    public let folder: String
    private let temporary: TemporaryLedger
    private var ballast: String { folder + "/ballast" }

    /// The folder of a ledger on the disk.
    public var directory: String { folder + "/ledger" }
    /// The database of that ledger.
    public var database: String { directory + "/ledger.sqlite" }

    /// No disk could be mounted.
    public struct NotPossible: Error {
      /// What the system says of it, as in errno(3).
      public let number: Int32
    }

    /// Mounts a disk.
    ///
    /// - Throws: `NotPossible`; then there is no folder either.
    public init(mebibytes: Int) throws(NotPossible) {
      temporary = TemporaryLedger()
      folder = temporary.folder + "/disk"
      guard mkdir(folder, 0o700) == 0,
        mount("tmpfs", folder, "tmpfs", 0, "size=\(mebibytes)m,mode=0700") == 0
      else { throw NotPossible(number: errno) }
    }

    deinit { umount2(folder, Int32(MNT_DETACH)) }

    /// Fills the disk, then gives back some bytes.
    public func fill(leaving bytes: Int = 0) {
      let file = Glibc.open(ballast, O_CREAT | O_WRONLY | O_APPEND, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while write(file, block, block.count) > 0 {}
      let length = lseek(file, 0, SEEK_END)
      ftruncate(file, length - off_t(bytes))
      close(file)
    }

    /// Frees what was filled.
    public func free() { unlink(ballast) }

    /// Opens the ledger on the disk for writing.
    public func open() async throws(LedgerError) -> Ledger {
      try await Ledger.open(directory: directory)
    }

    /// What `verify` finds right now, as its words.
    public func findings() async throws(LedgerError) -> Set<String> {
      let reader = try await LedgerReader.open(directory)
      let report = try await reader.verify()
      await reader.close()
      return Set(report.findings.map(\.kind))
    }
  }
#endif
