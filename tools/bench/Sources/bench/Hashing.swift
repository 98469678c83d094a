internal import Glibc
internal import WaybillHash
internal import WaybillModel

/// SHA-256 of a large file beside the `openssl` of the command line.
enum Hashing {
  static let bufferBytes = 1_048_576

  static func gibibyte(_ bench: Bench) async throws -> [Figure] {
    let path = bench.folder("hash.bin")
    let blocks = bench.isQuick ? 256 : 1024
    try make(path, blocks: blocks)
    defer { unlink(path) }
    var pairs = Pairs()
    for round in 0...bench.pairCount {
      var own = ""
      let ours = try await Elapsed.of { own = try hash(path).description }
      var other = ""
      let theirs = try await Elapsed.of {
        other = try output(of: "openssl", ["dgst", "-sha256", "-r", path])
      }
      guard other.hasPrefix(own) else { throw BenchError("the two hashes differ") }
      if round > 0 { pairs.add(ours: ours.wall, baseline: theirs.wall) }
    }
    return [pairs.figure("hash_1gib", count: blocks, unit: "MiB/s")]
  }

  private static func make(_ path: String, blocks: Int) throws(BenchError) {
    let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchError("cannot make \(path)") }
    defer { close(descriptor) }
    var block = [UInt8](repeating: 0, count: bufferBytes)
    for index in block.indices { block[index] = UInt8(truncatingIfNeeded: index &* 31) }
    for number in 0..<blocks {
      block[0] = UInt8(truncatingIfNeeded: number)
      guard write(descriptor, block, block.count) == block.count else {
        throw BenchError("cannot fill \(path)")
      }
    }
  }

  /// The loop of the engine's staging: one reused buffer of 1 MiB.
  private static func hash(_ path: String) throws(BenchError) -> ContentHash {
    try measure(path).hash
  }

  /// The length of a file, and its hash.
  static func measure(_ path: String) throws(BenchError) -> (byteCount: Int64, hash: ContentHash) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw BenchError("cannot read \(path)") }
    defer { close(descriptor) }
    let hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferBytes, alignment: 4096)
    defer { buffer.deallocate() }
    var total: Int64 = 0
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { throw BenchError("cannot read \(path)") }
      if count == 0 { return (total, hasher.finish()) }
      total += Int64(count)
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
