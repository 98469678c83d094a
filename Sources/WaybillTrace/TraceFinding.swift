package import WaybillModel

/// What is wrong with a trace, where, and what of it is good.
package struct TraceFinding: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of damage it is; an open list, so keep a default when you switch over it.
  package struct Code: Hashable, Sendable {
    /// The stable word of the code.
    package let word: String

    init(_ word: String) { self.word = word }

    // What the file is.

    /// Reading failed.
    package static let inputOutput = Code("input_output")
    /// The file has no bytes.
    package static let empty = Code("empty")
    /// The file is not LZ4.
    package static let notLZ4 = Code("not_lz4")
    /// The file is LZ4 and no trace.
    package static let notATrace = Code("not_a_trace")
    /// The trace was written by a newer version.
    package static let newerFormat = Code("newer_format")

    // Its frames.

    /// The file ends where a frame or a trace goes on.
    package static let truncated = Code("truncated")
    /// A frame does not decode: a checksum, its header or its length is wrong.
    package static let damagedFrame = Code("damaged_frame")
    /// Something that is no frame stands behind one.
    package static let junk = Code("junk")
    /// A frame unpacks to more than a frame may hold.
    package static let oversizedFrame = Code("oversized_frame")
    /// The input unpacks to more bytes or events than the reader was told to take.
    package static let limitReached = Code("limit_reached")

    // Its lines.

    /// A line is no flat JSON object of this format.
    package static let badLine = Code("bad_line")
    /// A trace begins without its header.
    package static let missingHeader = Code("missing_header")
    /// A trace ends without its footer.
    package static let missingFooter = Code("missing_footer")
    /// A line stands where it may not: behind the footer, or a second header.
    package static let misplacedLine = Code("misplaced_line")
    /// The footer counts other events than there are.
    package static let wrongCount = Code("wrong_count")
    /// The footer has another SHA-256 than the lines.
    package static let wrongDigest = Code("wrong_digest")
    /// An event does not stand behind the one before it, or outside the header's range.
    package static let wrongPosition = Code("wrong_position")
    /// A stream goes on with another revision than the next.
    package static let revisionGap = Code("revision_gap")
    /// The events do not give the chain value that stands with them.
    package static let chainMismatch = Code("chain_mismatch")

    // What takes nothing away: remarks.

    /// The trace has no index of its frames.
    package static let missingIndex = Code("missing_index")
    /// The index is not that of the frames before it.
    package static let wrongIndex = Code("wrong_index")
    /// A frame without content, or one that readers skip, stands where none should.
    package static let strayFrame = Code("stray_frame")
  }

  /// What kind of damage it is.
  package let code: Code
  /// What is wrong, on one line, without the place.
  package let message: String
  /// The byte of the file where it was noticed; for a line, where its frame begins.
  package let offset: Int64
  /// The line, from 1 over the whole input; nil where it is about no line.
  package let line: Int64?
  /// How many events before it are good.
  package let eventCount: Int64
  /// The position of the last good event; nil if there is none.
  package let lastPosition: GlobalPosition?
  /// What to do next, on one line.
  package let remedy: String

  init(
    _ code: Code, _ message: String, offset: Int64, line: Int64?, eventCount: Int64,
    lastPosition: GlobalPosition?
  ) {
    self.code = code
    self.message = message
    self.offset = offset
    self.line = line
    self.eventCount = eventCount
    self.lastPosition = lastPosition
    remedy = TraceFinding.remedy(code)
  }

  private static func remedy(_ code: Code) -> String {
    switch code {
    case .inputOutput: "check the disk, then try again"
    case .empty, .notLZ4, .notATrace: "name a file that ends with \(TraceFormat.fileExtension)"
    case .newerFormat: "read it with a newer version"
    case .limitReached, .oversizedFrame: "do not unpack it by hand; ask who sent it"
    case .missingIndex, .wrongIndex, .strayFrame: "nothing is lost; export it again for a clean one"
    default: "what was read before it is good; get the file again from where it came"
    }
  }

  /// Message, place, what is good and remedy on one line.
  package var description: String {
    let place = line.map { "line \($0), frame at byte \(offset)" } ?? "byte \(offset)"
    let good = lastPosition.map { ", the last at position \($0.value)" } ?? ""
    return "\(message) (\(place)); \(eventCount) events read\(good); \(remedy)"
  }
}
