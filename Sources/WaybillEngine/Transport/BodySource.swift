#if os(Linux)
  internal import Glibc
  internal import WaybillModel

  /// Why a request could not even be begun.
  struct Unsendable: Error {
    let reason: NoReply
  }

  /// The body of one request, read from memory or straight from its file.
  final class BodySource {
    private enum Origin {
      case memory([UInt8])
      case file(descriptor: Int32, offset: Int64)
    }

    /// How many bytes the body has; known before the first is sent.
    let count: Int64
    /// How many bytes have been handed out since the start or the last rewind.
    private(set) var position: Int64 = 0
    private let origin: Origin

    /// Opens the body: only a regular file that holds the whole slice will do.
    init(_ body: HTTPRequest.Body) throws(Unsendable) {
      switch body {
      case .none:
        origin = .memory([])
        count = 0
      case .bytes(let bytes):
        origin = .memory(bytes)
        count = Int64(bytes.count)
      case .file(let slice):
        origin = .file(descriptor: try BodySource.open(slice), offset: slice.offset)
        count = slice.count
      }
    }

    deinit {
      if case .file(let descriptor, _) = origin { Glibc.close(descriptor) }
    }

    /// Fills the front of `buffer` with the next bytes.
    ///
    /// - Returns: how many; 0 at the end of the body; nil when the file no longer holds them.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
      let wanted = Int(min(Int64(buffer.count), count - position))
      guard wanted > 0, let start = buffer.baseAddress else { return 0 }
      switch origin {
      case .memory(let bytes):
        bytes.withUnsafeBytes { source in
          let next = UnsafeRawBufferPointer(rebasing: source[Int(position)...].prefix(wanted))
          buffer.copyMemory(from: next)
        }
        position += Int64(wanted)
        return wanted
      case .file(let descriptor, let offset):
        let place = off_t(offset + position)
        var got = pread(descriptor, start, wanted, place)
        // A regular file's read is hardly ever interrupted; a second time is damage.
        if got < 0, errno == EINTR { got = pread(descriptor, start, wanted, place) }
        guard got > 0 else { return nil }
        position += Int64(got)
        return got
      }
    }

    /// Goes to a place in the body; false when there is no such place.
    func rewind(to place: Int64) -> Bool {
      guard (0...count).contains(place) else { return false }
      position = place
      return true
    }

    private static func open(_ slice: FileSlice) throws(Unsendable) -> Int32 {
      let (end, overflow) = slice.offset.addingReportingOverflow(slice.count)
      guard slice.offset >= 0, slice.count >= 0, !overflow, !slice.path.utf8.contains(0) else {
        throw Unsendable(reason: .unusable)
      }
      // Without O_NONBLOCK a FIFO in the file's place would hold the thread until someone writes.
      let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
      let descriptor = Glibc.open(slice.path, flags)
      guard descriptor >= 0 else { throw Unsendable(reason: .unreadableFile) }
      var info = stat()
      guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
        Int64(info.st_size) >= end
      else {
        Glibc.close(descriptor)
        throw Unsendable(reason: .unreadableFile)
      }
      return descriptor
    }
  }
#endif
