/// Who is writing what right now, in this process: keeps two writers from one part and everybody
/// from a file whose hash is being taken. Bounded by the number of connections.
final class Claims: Sendable {
  private struct Part: Hashable {
    let uploadID: String
    let part: Int
  }

  private struct Held {
    var parts: Set<Part> = []
    var commits: Set<String> = []
  }

  private let held = Guarded(Held())

  func claimPart(_ part: Int, of uploadID: String) throws(Problem) {
    try held.withLock { (held) throws(Problem) in
      guard !held.commits.contains(uploadID) else {
        throw Problem(.commitInProgress, "The upload is being committed. Ask for its status.")
      }
      guard held.parts.insert(Part(uploadID: uploadID, part: part)).inserted else {
        throw Problem(.partInProgress, "Another request is sending this part. Try again later.")
      }
    }
  }

  func releasePart(_ part: Int, of uploadID: String) {
    held.withLock { _ = $0.parts.remove(Part(uploadID: uploadID, part: part)) }
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
