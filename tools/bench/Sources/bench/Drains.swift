internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

/// A long queue brought to a server: its memory beside that of a short one.
enum Drains {
  static func memory(_ bench: Bench) async throws -> [Figure] {
    let count = bench.isQuick ? 1000 : 25_000
    let short = try await drain(10, bench)
    let long = try await drain(count, bench)
    let rate = Double(count) / long.wall
    return [
      Figure(
        name: "drain_memory_growth_mib",
        ours: "\(megabytes(long.peakBytes)), \(grouped(Int64(count))) files",
        baseline: "\(megabytes(short.peakBytes)), 10 files",
        value: (long.peakBytes - short.peakBytes) / 1_048_576),
      Figure(
        name: "drain_files_per_s", ours: "\(decimal(rate, 0)) files/s", baseline: "", value: rate),
    ]
  }

  /// Queues small files, then has them brought to a server by a process that has just started.
  private static func drain(_ count: Int, _ bench: Bench) async throws -> Launches.Run {
    let server = try ServerChild(bench.folder("server"))
    defer { server.end() }
    let (path, file) = (bench.folder("drain-ledger"), bench.folder("drain.bin"))
    defer { try? remove(path) }
    let ledger = try await Ledger.open(directory: path)
    let engine = UploadEngine(
      ledger: ledger, transport: CurlTransport(), credentials: ServerChild.credentials)
    let destination = try Destination(server.url)
    for number in 0..<count {
      try writeFile(file, [UInt8]("file \(number)".utf8))
      let summary = try await engine.add(
        [PickedFile(path: [UInt8](file.utf8))], to: destination)
      guard summary.queued.count == 1 else { throw BenchError("file \(number) was not queued") }
    }
    await ledger.close()
    return try Launches.run(.drain, path)
  }

  /// What the child does.
  static func child(_ path: String) async throws {
    let ledger = try await Ledger.open(directory: path)
    let engine = UploadEngine(
      ledger: ledger, transport: CurlTransport(), credentials: ServerChild.credentials)
    guard try await engine.run(.drain) == .finished, try await ledger.reader.workLeft() == 0 else {
      throw BenchError("the engine did not finish")
    }
    await ledger.close()
  }
}
