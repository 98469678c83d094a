internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Why a trace could not be written or opened.
package struct TraceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of failure it is; an open list, so keep a default when you switch over it.
  package struct Code: Hashable, Sendable {
    /// The stable word of the code.
    package let word: String

    private init(_ word: String) { self.word = word }

    /// There is no such file.
    package static let notFound = Code("not_found")
    /// A file with that name is there already.
    package static let exists = Code("exists")
    /// The file or its folder cannot be used: permissions, a link, a folder in place of a file.
    package static let unusable = Code("unusable")
    /// The disk is full.
    package static let diskFull = Code("disk_full")
    /// Reading or writing failed.
    package static let inputOutput = Code("input_output")
    /// The events do not come in the order of their positions, or lie outside the header's range.
    package static let order = Code("order")
    /// The chain value before an event is not known, or is another one than the events give.
    package static let chainMismatch = Code("chain_mismatch")
    /// The event is too long for a line.
    package static let tooLong = Code("too_long")
    /// The kind of the event has a name that only the lines of a trace may have.
    package static let reservedKind = Code("reserved_kind")
  }

  /// What kind of failure it is.
  package let code: Code
  /// What is wrong and where, on one line.
  package let message: String
  /// What to do next, on one line; empty when there is nothing to do.
  package let remedy: String

  /// Makes an error of its own kind, as a sink or source of somebody else may have to.
  package init(_ code: Code, _ message: String, remedy: String = "") {
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  /// The error behind a failed call of the system; `work` goes on after "cannot".
  init(_ error: SystemError, doing work: String) {
    let text = "cannot \(work): \(error.text)"
    if error.isOutOfSpace {
      self.init(.diskFull, text, remedy: "free some space; nothing was left behind")
      return
    }
    switch error.number {
    case ENOENT, ENOTDIR: self.init(.notFound, text, remedy: "check the path")
    case EEXIST: self.init(.exists, text, remedy: "choose another name; nothing is overwritten")
    case EACCES, EPERM, EROFS, ELOOP, EISDIR, ENAMETOOLONG:
      self.init(.unusable, text, remedy: "check the path and who may write there")
    default: self.init(.inputOutput, text, remedy: "check the disk, then try again")
    }
  }

  /// Message and remedy on one line.
  package var description: String { remedy.isEmpty ? message : "\(message); \(remedy)" }
}
