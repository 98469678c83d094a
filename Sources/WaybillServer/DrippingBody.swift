internal import CMicroHTTPD
internal import WaybillModel

/// The body of a reply that a fault script lets come one byte at a time.
///
/// Between two bytes the connection is suspended, so that it holds up no other one.
final class DrippingBody {
  private static let end = -1
  private static let failure = -2

  private let bytes: [UInt8]
  private let type: String
  private let connection: SuspendedConnection
  private let milliseconds: Int
  private let late: LateWork
  /// Whether the pause before the next byte is over; used by the connection's thread only.
  private var isDue = false

  /// Nil when nothing is to drip, or the reply has no body in memory.
  init?(of reply: Reply, on connection: OpaquePointer, milliseconds: Int, late: LateWork) {
    guard milliseconds > 0 else { return nil }
    switch reply.body {
    case .json(let value, let type): (bytes, self.type) = ([UInt8](value.serialized.utf8), type)
    case .bytes(let bytes, let type): (self.bytes, self.type) = (bytes, type)
    case .none, .file: return nil
    }
    self.connection = SuspendedConnection(handle: connection)
    self.milliseconds = milliseconds
    self.late = late
  }

  /// The library's response, which holds the body until it is gone.
  func response() -> OpaquePointer? {
    let context = Unmanaged.passRetained(self).toOpaque()
    let made = MHD_create_response_from_callback(
      UInt64(bytes.count), 1024, nextByte, context, releaseBody)
    guard let made else {
      releaseBody(context)
      return nil
    }
    MHD_add_response_header(made, "Content-Type", type)
    return made
  }

  /// Puts the byte at a place, once its time has come; 0 means that the connection waits for it.
  fileprivate func put(_ place: UInt64, into buffer: UnsafeMutablePointer<CChar>) -> Int {
    guard place < UInt64(bytes.count) else { return DrippingBody.end }
    guard isDue else {
      isDue = true
      let connection = connection
      MHD_suspend_connection(connection.handle)
      let isTaken = late.submit(after: milliseconds) { _ in
        MHD_resume_connection(connection.handle)
      }
      guard !isTaken else { return 0 }
      MHD_resume_connection(connection.handle)
      return DrippingBody.failure
    }
    isDue = false
    buffer.pointee = CChar(bitPattern: bytes[Int(place)])
    return 1
  }
}

private func nextByte(
  _ context: UnsafeMutableRawPointer?, _ place: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
  _ room: Int
) -> Int {
  guard let context, let buffer, room > 0 else { return 0 }
  return Unmanaged<DrippingBody>.fromOpaque(context).takeUnretainedValue().put(place, into: buffer)
}

private func releaseBody(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<DrippingBody>.fromOpaque(context).release() }
}
