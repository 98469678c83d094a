internal import CLZ4

/// Packs bytes into LZ4 frames, one whole frame a call, into memory that is used again.
final class LZ4FrameEncoder {
  private let context: OpaquePointer
  private var preferences = LZ4F_preferences_t()
  private var packed = ByteBuffer(capacity: 65_536)

  init(level: Int) {
    precondition(
      TraceFormat.levels.contains(level), "LZ4 has the levels 0 to 12, and no level \(level)")
    var made: OpaquePointer?
    let code = LZ4F_createCompressionContext(&made, UInt32(LZ4F_VERSION))
    guard LZ4F_isError(code) == 0, let made else {
      preconditionFailure("liblz4 gives no context for compression; is there memory left?")
    }
    context = made
    // Blocks that need no other block, each with its checksum: damage costs one block.
    preferences.frameInfo.blockSizeID = LZ4F_max256KB
    preferences.frameInfo.blockMode = LZ4F_blockIndependent
    preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled
    preferences.compressionLevel = Int32(level)
    preferences.autoFlush = 1
  }

  deinit { LZ4F_freeCompressionContext(context) }

  /// The frame that holds `bytes`, which are at least one; it stays until the next call.
  func frame(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    precondition(!bytes.isEmpty, "a frame without content makes some readers stop")
    preferences.frameInfo.contentSize = UInt64(bytes.count)
    packed.removeAll()
    let room = LZ4F_compressFrameBound(bytes.count, &preferences)
    let out = packed.spare(room)
    var length = 0
    func add(_ written: Int) {
      precondition(
        LZ4F_isError(written) == 0,
        "liblz4 cannot pack a frame: \(String(cString: LZ4F_getErrorName(written)))")
      length += written
    }
    add(LZ4F_compressBegin(context, out, room, &preferences))
    add(
      LZ4F_compressUpdate(
        context, out + length, room - length, bytes.baseAddress, bytes.count, nil))
    add(LZ4F_compressEnd(context, out + length, room - length, nil))
    packed.commit(length)
    return packed.bytes
  }
}
