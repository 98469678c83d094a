internal import Glibc
internal import WaybillEngine
internal import WaybillLedger
internal import WaybillModel

/// Files brought to a server on loopback, beside programs of a shell that do the same one after the
/// other: `cp`, `openssl dgst -sha256`, and `curl -Z` of the same parts to the same server.
enum Uploads {
  /// Everything an upload is: staging, hashing, the ledger, opening, parts and commit.
  static func whole(_ bench: Bench) async throws -> [Figure] {
    let pick = try Pick(bench)
    var pairs = Pairs()
    for round in 0...min(bench.pairCount, 5) {
      let ours = try await upload(pick, bench)
      let theirs = try await shell(pick, bench)
      if round > 0 { pairs.add(ours: ours, baseline: theirs) }
    }
    return [pairs.figure("upload", count: pick.mebibytes, unit: "MiB/s")]
  }

  /// The parts alone, in sessions that were opened before.
  static func transport(_ bench: Bench) async throws -> [Figure] {
    let pick = try Pick(bench)
    var pairs = Pairs()
    var cpu = Pairs()
    for round in 0...bench.pairCount {
      let (ours, theirs) = try await (transfers(pick, bench), curl(pick, bench))
      guard round > 0 else { continue }
      pairs.add(ours: ours.wall, baseline: theirs.wall)
      cpu.add(ours: ours.cpu, baseline: theirs.cpu)
    }
    let (own, other) = (median(cpu.ours), median(cpu.baseline))
    return [
      pairs.figure("transport", count: pick.mebibytes, unit: "MiB/s"),
      Figure(
        name: "transport_cpu", ours: decimal(own * 1000, 0) + " ms",
        baseline: decimal(other * 1000, 0) + " ms", value: 1 / cpu.speed),
    ]
  }

  // MARK: Our side

  private static func upload(_ pick: Pick, _ bench: Bench) async throws -> Double {
    let server = try ServerChild(bench.folder("server"))
    defer { server.end() }
    let path = bench.folder("upload-ledger")
    defer { try? remove(path) }
    let ledger = try await Ledger.open(directory: path)
    let engine = UploadEngine(
      ledger: ledger, transport: CurlTransport(), credentials: ServerChild.credentials)
    let elapsed = try await Elapsed.of {
      let run = Task { try await engine.run(.follow) }
      let summary = try await engine.add(pick.files, to: try Destination(server.url))
      await engine.endWhenIdle()
      guard try await run.value == .finished, summary.queued.count == pick.files.count else {
        throw BenchError("the engine did not finish")
      }
    }
    guard try await ledger.reader.counts()[.committed] == Int64(pick.files.count) else {
      throw BenchError("not everything was committed")
    }
    await ledger.close()
    return elapsed.wall
  }

  private static func transfers(_ pick: Pick, _ bench: Bench) async throws -> Elapsed {
    let server = try ServerChild(bench.folder("server"))
    defer { server.end() }
    let parts = try await server.open(pick)
    let transport = CurlTransport()
    let elapsed = try await Elapsed.of {
      for (number, part) in parts.enumerated() {
        let transfer = TransferDescription(
          upload: UploadID(high: 1, low: UInt64(number)), part: PartNumber(0), attempt: 1,
          launch: LaunchGeneration(1))
        await transport.start(transfer, part.request)
      }
      var left = parts.count
      for await case .completed(_, let outcome) in transport.events {
        guard case .reply(let reply) = outcome, reply.status == 200 else {
          throw BenchError("a part was answered with \(outcome)")
        }
        left -= 1
        if left == 0 { break }
      }
    }
    await transport.shutDown()
    return elapsed
  }

  // MARK: The shell

  private static func shell(_ pick: Pick, _ bench: Bench) async throws -> Double {
    let server = try ServerChild(bench.folder("server"))
    defer { server.end() }
    let config = try write(try await server.open(pick), bench)
    let copies = bench.folder("copies")
    try makeFolder(copies)
    defer { try? remove(copies) }
    let script = """
      set -e; cp "$1"/*.bin "$2"; openssl dgst -sha256 "$2"/*.bin >"$2/sums"
      exec curl -sS -Z --parallel-max 4 --no-progress-meter --fail -K "$3"
      """
    return try await Elapsed.of {
      _ = try output(of: "bash", ["-c", script, "bash", pick.folder, copies, config])
    }.wall
  }

  private static func curl(_ pick: Pick, _ bench: Bench) async throws -> Elapsed {
    let server = try ServerChild(bench.folder("server"))
    defer { server.end() }
    let config = try write(try await server.open(pick), bench)
    let before = childCPU()
    let wall = try await Elapsed.of {
      _ = try output(
        of: "curl",
        ["-sS", "-Z", "--parallel-max", "4", "--no-progress-meter", "--fail", "-K", config])
    }.wall
    return Elapsed(wall: wall, cpu: childCPU() - before)
  }

  /// Seconds of CPU of the children that have ended; the server's is not among them yet.
  private static func childCPU() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// A file of curl's options with one transfer for each part.
  private static func write(_ parts: [OpenedPart], _ bench: Bench) throws(BenchError) -> String {
    let path = bench.folder("curl.config")
    let transfers = parts.map { part in
      ([
        "url = \"\(part.request.url)\"", "upload-file = \"\(part.file)\"", "output = \"/dev/null\"",
        "header = \"Expect:\"",
      ] + part.request.headers.map { "header = \"\($0.name): \($0.value)\"" })
      .joined(separator: "\n")
    }
    try writeFile(path, [UInt8](transfers.joined(separator: "\nnext\n").utf8))
    return path
  }
}

/// The files that are picked, and each part of them as a file of its own for curl.
struct Pick: Sendable {
  static let partBytes = 8 << 20
  let folder: String
  let files: [PickedFile]
  let mebibytes: Int
  /// The files of the parts, in order, for each picked file.
  let parts: [[String]]

  /// 50 files of 4 MiB and one of 100; a fifth of that in a quick run.
  init(_ bench: Bench) throws(BenchError) {
    let sizes = [Int](repeating: 4, count: bench.isQuick ? 10 : 50) + [bench.isQuick ? 20 : 100]
    folder = bench.folder("pick")
    let partFolder = bench.folder("parts")
    try makeFolder(folder)
    try makeFolder(partFolder)
    var files: [PickedFile] = []
    var parts: [[String]] = []
    for (number, size) in sizes.enumerated() {
      let path = "\(folder)/\(number).bin"
      var names: [String] = []
      var block = [UInt8](repeating: 0, count: 1 << 20)
      var whole: [UInt8] = []
      for place in 0..<size {
        for index in block.indices {
          block[index] = UInt8(truncatingIfNeeded: (index &* 31) ^ (index >> 8) &+ place &+ number)
        }
        whole += block
      }
      try writeFile(path, whole)
      for start in stride(from: 0, to: whole.count, by: Pick.partBytes) {
        let name = "\(partFolder)/\(number).\(names.count)"
        try writeFile(name, Array(whole[start..<min(start + Pick.partBytes, whole.count)]))
        names.append(name)
      }
      files.append(PickedFile(path: [UInt8](path.utf8)))
      parts.append(names)
    }
    self.files = files
    self.parts = parts
    mebibytes = sizes.reduce(0, +)
  }
}
