internal import WaybillHash
package import WaybillModel
internal import WaybillSystem

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

  /// The line of the file. Written with every commit, so it is put together in one buffer.
  private func line(_ hasher: SHA256) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(HeadMark.lineLength)
    let digits = String(position.value)
    bytes.append(contentsOf: "waybill-head 1 ".utf8)
    for _ in 0..<max(0, 20 - digits.utf8.count) { bytes.append(UInt8(ascii: "0")) }
    bytes.append(contentsOf: digits.utf8)
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: chain.description.utf8)
    hasher.update(bytes)
    let check = hasher.finish().description
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: check.utf8.prefix(16))
    while bytes.count < HeadMark.lineLength - 1 { bytes.append(UInt8(ascii: " ")) }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
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
    return mark.line(SHA256()) == bytes ? .mark(mark) : .unreadable
  }

  /// The open file of the mark, written in place.
  final class File {
    private let descriptor: Int32
    private let hasher = SHA256()

    init(path: String) throws(LedgerError) {
      descriptor = open(path, O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
      guard descriptor >= 0 else { throw LedgerFiles.failure("open", path) }
    }

    deinit { close(descriptor) }

    /// Writes the mark; without `sync` it reaches the disk when the system likes, which can only
    /// leave an older mark behind, never a newer one than the log.
    func write(_ mark: HeadMark, sync: Bool) {
      let line = mark.line(hasher)
      _ = line.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
      if sync { _ = StableStorage.sync(descriptor) }
    }
  }
}
