internal import CLZ4

/// Unpacks LZ4 frames, one a call, into memory that is used again.
final class LZ4FrameDecoder {
  /// How a frame ended.
  enum Outcome: Equatable {
    /// The library says that nothing is missing. Nothing else counts as whole.
    case whole
    /// The input ended within the frame.
    case truncated
    /// The library refuses the frame, in its own words.
    case damaged(String)
    /// The frame unpacks to more than was allowed, whatever it says about itself.
    case oversized
  }

  private let context: OpaquePointer
  private var content = ByteBuffer(capacity: 2 * TraceFormat.frameByteCount)
  /// How many bytes at the front of the content belong to blocks whose checksum was right, or to a
  /// frame that is whole.
  private(set) var goodCount = 0

  init() {
    var made: OpaquePointer?
    let code = LZ4F_createDecompressionContext(&made, UInt32(LZ4F_VERSION))
    guard LZ4F_isError(code) == 0, let made else {
      preconditionFailure("liblz4 gives no context for decompression; is there memory left?")
    }
    context = made
  }

  deinit { LZ4F_freeDecompressionContext(context) }

  /// What can be relied on of the frame that was unpacked last.
  var goodBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: content.bytes[..<goodCount])
  }

  /// How many bytes have come out of the frame, good or not.
  var contentCount: Int { content.count }

  /// Whether what came out, good or not, begins as a trace does.
  var beginsWithHeader: Bool { TraceHeaderLine.isHeader(content.bytes) }

  /// Unpacks the frame the input stands at.
  ///
  /// The library is given exactly as many bytes as it asks for, which is one block with its
  /// checksum and the head of the next: so whatever has come out when it asks again has been
  /// checked. Given less, it hands out blocks that are stored as they are before it checks them.
  func decode(_ input: TraceInput, limit: Int) -> Outcome {
    content.removeAll()
    goodCount = 0
    LZ4F_resetDecompressionContext(context)
    var information = LZ4F_frameInfo_t()
    var hint = 0
    if let outcome = begin(input, &information, &hint) { return outcome }
    guard information.contentChecksumFlag == LZ4F_contentChecksumEnabled else {
      return .damaged("it has no checksum to rely on")
    }
    let blockByteCount = LZ4FrameDecoder.blockByteCount(information.blockSizeID)
    let isChecked = information.blockChecksumFlag == LZ4F_blockChecksumEnabled
    while hint > 0 {
      // The head of the next block, of four bytes, is all that may be missing from a block.
      let available = input.fill(hint)
      guard available > 0, available >= hint - 4 else { return .truncated }
      var used = available
      var written = blockByteCount
      let next = LZ4F_decompress(
        context, content.spare(blockByteCount), &written, input.bytes.baseAddress, &used, nil)
      if LZ4F_isError(next) != 0 { return .damaged(String(cString: LZ4F_getErrorName(next))) }
      if used == 0, written == 0 { return .damaged("the frame goes on without end") }
      content.commit(written)
      input.use(used)
      if isChecked { goodCount = min(content.count, limit) }
      if content.count > limit { return .oversized }
      if available < hint { return .truncated }
      hint = next
    }
    goodCount = content.count
    return .whole
  }

  /// Reads the head of a frame; nothing when it is sound.
  private func begin(
    _ input: TraceInput, _ information: inout LZ4F_frameInfo_t, _ hint: inout Int
  ) -> Outcome? {
    let least = Int(LZ4F_MIN_SIZE_TO_KNOW_HEADER_LENGTH)
    guard input.fill(least) == least else { return .truncated }
    let length = LZ4F_headerSize(input.bytes.baseAddress, input.bytes.count)
    if LZ4F_isError(length) != 0 { return .damaged(String(cString: LZ4F_getErrorName(length))) }
    guard input.fill(length) == length else { return .truncated }
    var used = length
    hint = LZ4F_getFrameInfo(context, &information, input.bytes.baseAddress, &used)
    if LZ4F_isError(hint) != 0 { return .damaged(String(cString: LZ4F_getErrorName(hint))) }
    input.use(used)
    return nil
  }

  private static func blockByteCount(_ id: LZ4F_blockSizeID_t) -> Int {
    switch id {
    case LZ4F_max256KB: 256 << 10
    case LZ4F_max1MB: 1 << 20
    case LZ4F_max4MB: 4 << 20
    default: 64 << 10
    }
  }
}
