import CLZ4
import Testing
import WaybillHash
import WaybillModel
import WaybillTesting
import WaybillTrace

/// A trace of some events as our writer makes it.
struct Packed {
  let bytes: [UInt8]
  let receipt: TraceReceipt
}

/// Writes events into a trace. Each run of positions begins behind the chain value that
/// `chainBefore` gives for its first position.
func pack(
  _ events: [RecordedEvent], level: Int = TraceFormat.defaultLevel, profile: String = "raw",
  chainBefore: (GlobalPosition) -> ContentHash = { Chain.before($0) }
) throws -> Packed {
  var bytes: [UInt8] = []
  let header = TraceHeader(
    app: "test 1.0", ledgerFormat: 1, first: events.first?.position, last: events.last?.position,
    profile: profile)
  let writer = TraceWriter(header: header, level: level, to: TraceSink { bytes += Array($0) })
  var last: GlobalPosition?
  for event in events {
    let goesOn = last?.next == event.position
    try writer.append(event, chainBefore: goesOn ? nil : chainBefore(event.position))
    last = event.position
  }
  let receipt = try writer.finish()
  return Packed(bytes: bytes, receipt: receipt)
}

/// Chain values for tests that need some value and no special one.
enum Chain {
  static func before(_ position: GlobalPosition) -> ContentHash {
    position.value == 1
      ? .zero : Samples.hash(filledWith: UInt8(truncatingIfNeeded: position.value))
  }
}

/// Everything a reader gave until its end.
struct Reading {
  var headers: [TraceHeader] = []
  var events: [RecordedEvent] = []
  var receipts: [TraceReceipt] = []
  var remarks: [TraceFinding] = []
  var damage: TraceFinding?

  var isWhole: Bool { damage == nil && remarks.isEmpty }

  init(_ source: TraceSource, limits: TraceLimits = .untrusted) {
    let reader = TraceReader(source, limits: limits)
    do throws(TraceFinding) {
      while let item = try reader.next() {
        switch item {
        case .header(let header): headers.append(header)
        case .event(let event): events.append(event)
        case .end(let receipt): receipts.append(receipt)
        }
      }
    } catch {
      damage = error
    }
    remarks = reader.remarks
  }

  init(_ bytes: [UInt8], limits: TraceLimits = .untrusted) {
    self.init(.bytes(bytes), limits: limits)
  }
}

/// Frames made with the library and nothing of ours, sound or forged.
enum Forge {
  /// The checksums of a frame.
  enum Checks {
    case all, content, none
  }

  /// A frame of some content; `declared` is what it says of its size.
  static func frame(
    _ content: [UInt8], declared: Int? = nil, checks: Checks = .all, blockSize: Int = 0
  ) -> [UInt8] {
    var preferences = LZ4F_preferences_t()
    preferences.frameInfo.blockMode = LZ4F_blockIndependent
    preferences.frameInfo.blockSizeID = LZ4F_blockSizeID_t(UInt32(blockSize))
    preferences.frameInfo.contentSize = UInt64(declared ?? content.count)
    if checks == .all { preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled }
    if checks != .none { preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled }
    preferences.autoFlush = 1
    var context: OpaquePointer?
    LZ4F_createCompressionContext(&context, UInt32(LZ4F_VERSION))
    defer { LZ4F_freeCompressionContext(context) }
    var out = [UInt8](repeating: 0, count: LZ4F_compressFrameBound(content.count, &preferences))
    var length = LZ4F_compressBegin(context, &out, out.count, &preferences)
    out.withUnsafeMutableBytes { out in
      length += LZ4F_compressUpdate(
        context, out.baseAddress! + length, out.count - length, content, content.count, nil)
      let end = LZ4F_compressEnd(context, out.baseAddress! + length, out.count - length, nil)
      if LZ4F_isError(end) == 0 { length += end }
    }
    let packed = Array(out[..<length])
    guard let declared, declared != content.count, checks == .all else { return packed }
    // The library does not end a frame whose size is not what was said: its end comes from one
    // that says the truth.
    return packed + frame(content).suffix(8)
  }

  /// A frame of lines, each ended by a line feed.
  static func frame(lines: [String]) -> [UInt8] {
    frame([UInt8](lines.map { $0 + "\n" }.joined().utf8))
  }

  /// A skippable frame.
  static func skippable(_ content: [UInt8], magic: UInt32 = 0x184d_2a50) -> [UInt8] {
    littleEndian(magic) + littleEndian(UInt32(content.count)) + content
  }

  static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  /// The content of all frames.
  static func unpack(_ bytes: [UInt8]) -> [UInt8] {
    var context: OpaquePointer?
    LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))
    defer { LZ4F_freeDecompressionContext(context) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var rest = bytes[...]
    while !rest.isEmpty {
      var written = buffer.count
      var used = rest.count
      let code = rest.withUnsafeBytes {
        LZ4F_decompress(context, &buffer, &written, $0.baseAddress, &used, nil)
      }
      guard LZ4F_isError(code) == 0 else { return content }
      content += buffer[..<written]
      rest = rest.dropFirst(used)
      if used == 0, written == 0 { return content }
    }
    return content
  }

  /// The lines of all frames, without their line feeds.
  static func lines(_ bytes: [UInt8]) -> [String] {
    String(decoding: unpack(bytes), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// A trace of any lines: a footer that fits them is added unless one is given.
  static func trace(_ lines: [String], footer: String? = nil) -> [UInt8] {
    frame(lines: lines + [footer ?? Forge.footer(of: lines)])
  }

  static func footer(
    of lines: [String], count: Int? = nil, digest: ContentHash? = nil, last: Int? = nil
  ) -> String {
    let content = [UInt8](lines.map { $0 + "\n" }.joined().utf8)
    let positions = lines.compactMap { try? JSONValue.read([UInt8]($0.utf8))["position"]?.integer }
    let count = count ?? lines.count - 1
    let end = (last.map(Int64.init) ?? positions.last).map { ",\"last_position\":\($0)" } ?? ""
    return "{\"kind\":\"trace.footer\",\"v\":1,\"count\":\(count),\"sha256\":\""
      + "\(digest ?? SHA256.hash(content))\"\(end)}"
  }
}

/// Events of some uploads, interleaved as a ledger would, at positions from 1.
func interleaved(uploads: Int, events: Int) -> [RecordedEvent] {
  var revisions = [Int64](repeating: 0, count: uploads)
  return (0..<events).map { number in
    let upload = number * 7 % uploads
    revisions[upload] += 1
    return sample(
      position: Int64(number + 1), upload: UploadLife(UInt64(upload)).id,
      revision: revisions[upload],
      .partSent(PartSent(part: PartNumber(number % 9), attempt: 1, byteCount: Samples.partSize)))
  }
}

func sample(
  position: Int64, upload: UploadID? = Samples.upload, revision: Int64? = nil, _ event: UploadEvent
) -> RecordedEvent {
  let time = Timestamp(microseconds: Samples.time.microseconds + position * 1_000_001)
  let halves = UUIDv7.halves(time: time, random: UInt64(position) << 2)
  return RecordedEvent(
    position: GlobalPosition(position), id: EventID(high: halves.high, low: halves.low),
    upload: upload, revision: StreamRevision(revision ?? position), kindName: event.kind.rawValue,
    version: event.version, time: time, causeName: Cause.command.rawValue,
    launch: LaunchGeneration(1), compensates: nil, observation: nil, fields: event.fields)
}

extension RecordedEvent {
  /// The event at another place; every other value stays.
  func moved(to position: Int64, revision: Int64, fields: EventFields? = nil) -> RecordedEvent {
    RecordedEvent(
      position: GlobalPosition(position), id: id, upload: upload,
      revision: StreamRevision(revision), kindName: kindName, version: version, time: time,
      causeName: causeName, launch: launch, compensates: compensates, observation: observation,
      fields: fields ?? self.fields)
  }
}
