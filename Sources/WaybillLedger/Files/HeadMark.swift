internal import WaybillHash
package import WaybillModel

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The last durable place of the log, kept outside SQLite's files.
///
/// A write-ahead log that was cut short opens cleanly with fewer events; only a mark elsewhere can
/// tell. The file is one line of fixed length: word, version, position, chain value and the first
/// 16 digits of the SHA-256 of what stands before them. It is written after each commit, so other
/// processes also watch it to follow the log.
package struct HeadMark: Equatable, Sendable {
  package let position: GlobalPosition
  package let chain: ContentHash

  package init(position: GlobalPosition, chain: ContentHash) {
    self.position = position
    self.chain = chain
  }

  /// What the file says.
  package enum Reading: Equatable, Sendable {
    case absent
    case mark(HeadMark)
    case unreadable
  }

  private static let lineLength = 128

  private var line: [UInt8] {
    let stem = "waybill-head 1 \(padded20(position.value)) \(chain)"
    let check = SHA256.hash([UInt8](stem.utf8)).description.prefix(16)
    var bytes = [UInt8]("\(stem) \(check)".utf8)
    bytes += [UInt8](repeating: 0x20, count: HeadMark.lineLength - 1 - bytes.count)
    return bytes + [0x0a]
  }

  private func padded20(_ value: Int64) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, 20 - text.utf8.count)) + text
  }

  /// Reads the mark of a ledger.
  package static func read(path: String) -> Reading {
    // A pipe in its place must not hold anyone up.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return errno == ENOENT ? .absent : .unreadable }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return .unreadable
    }
    let bytes = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: lineLength) { buffer in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      return [UInt8](buffer.prefix(max(count, 0)))
    }
    if bytes.isEmpty { return .absent }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard fields.count >= 5, let position = Int64(fields[2]),
      let chain = ContentHash(hex: String(fields[3]))
    else { return .unreadable }
    let mark = HeadMark(position: GlobalPosition(position), chain: chain)
    return mark.line == bytes ? .mark(mark) : .unreadable
  }

  /// The open file of the mark, written in place.
  final class File: Sendable {
    private let descriptor: Int32

    init(path: String) throws(LedgerError) {
      descriptor = open(path, O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
      guard descriptor >= 0 else { throw LedgerFiles.failure("open", path) }
    }

    deinit { close(descriptor) }

    /// Writes the mark; without `sync` it reaches the disk when the system likes, which can only
    /// leave an older mark behind, never a newer one than the log.
    func write(_ mark: HeadMark, sync: Bool) {
      let line = mark.line
      _ = line.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      if sync { _ = fsync(descriptor) }
    }
  }
}
