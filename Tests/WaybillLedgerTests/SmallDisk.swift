import Foundation
import Testing
import WaybillLedger
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// A disk of a few mebibytes in memory, that can be filled to the last page.
final class SmallDisk {
  /// Whether one can be made here: it takes the superuser, and a system that lets him.
  static let isPossible =
    geteuid() == 0 && (try? SmallDisk(mebibytes: 1)) != nil

  let temporary: TemporaryLedger
  let folder: String
  var directory: String { folder + "/ledger" }
  var database: String { directory + "/ledger.sqlite" }
  private var ballast: String { folder + "/ballast" }

  init(mebibytes: Int) throws {
    temporary = TemporaryLedger()
    folder = temporary.folder + "/disk"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let result = try run([
      "mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=0700", "tmpfs", folder,
    ])
    try #require(result.status == 0, "\(result.output)")
  }

  deinit { umount2(folder, Int32(MNT_DETACH)) }

  /// Fills the disk, then gives back some bytes.
  func fill(leaving bytes: Int = 0) {
    let file = Glibc.open(ballast, O_CREAT | O_WRONLY | O_APPEND, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while write(file, block, block.count) > 0 {}
    let length = lseek(file, 0, SEEK_END)
    ftruncate(file, length - off_t(bytes))
    close(file)
  }

  /// Frees what was filled.
  func free() { unlink(ballast) }

  func open() async throws -> Ledger { try await Ledger.open(directory: directory) }

  /// What `verify` finds right now, as its words.
  func findings() async throws -> Set<String> {
    let reader = try await LedgerReader.open(directory)
    let report = try await reader.verify()
    await reader.close()
    return Set(report.findings.map(\.kind))
  }
}
