internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Who is writing what right now, in this process: keeps two writers from one part and everybody
/// from a file whose hash is being taken. Bounded by the number of connections.
final class Claims: Sendable {
  private struct Part: Hashable {
    let uploadID: String
    let part: Int
  }

  private struct Held {
    /// Each part that is being written, with the connection it still arrives on; nil once the
    /// body is whole.
    var parts: [Part: Int32?] = [:]
    var commits: Set<String> = []
  }

  private let held = Locked(Held())

  /// Claims a part for the request on a connection.
  ///
  /// A client that asks again has given up on its earlier request, whose connection may be half
  /// dead and silent for a minute. So a request that is still arriving is cut off, and the newer
  /// one is told to come again at once.
  func claimPart(_ part: Int, of uploadID: String, socket: Int32) throws(Problem) {
    try held.withLock { (held) throws(Problem) in
      guard !held.commits.contains(uploadID) else {
        throw Problem(.commitInProgress, "The upload is being committed. Ask for its status.")
      }
      let key = Part(uploadID: uploadID, part: part)
      if let earlier = held.parts[key] {
        if let earlier { shutdown(earlier, Int32(SHUT_RDWR)) }
        throw Problem(.partInProgress, "Another request is sending this part. Try again later.")
      }
      held.parts[key] = .some(socket)
    }
  }

  /// Notes that the whole body of a part is there, so that its request is not cut off any more.
  func completePart(_ part: Int, of uploadID: String) {
    held.withLock { $0.parts[Part(uploadID: uploadID, part: part)] = .some(nil) }
  }

  func releasePart(_ part: Int, of uploadID: String) {
    held.withLock { _ = $0.parts.removeValue(forKey: Part(uploadID: uploadID, part: part)) }
  }

  func claimCommit(of uploadID: String) throws(Problem) {
    try held.withLock { (held) throws(Problem) in
      guard held.commits.insert(uploadID).inserted else {
        throw Problem(.commitInProgress, "The upload is being committed. Ask for its status.")
      }
    }
  }

  func releaseCommit(of uploadID: String) {
    held.withLock { _ = $0.commits.remove(uploadID) }
  }
}
