internal import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A trace that is being written, and gets its name when it is whole.
///
/// Until `publish` it lies in its folder under a name of its own that begins with a dot, for its
/// owner alone (mode 0600); a crash leaves at most that behind. A file that is not published is
/// removed when this object goes.
package final class TraceFile {
  /// How every name begins and ends under which a file lies until it is published.
  package static let temporaryName = (prefix: ".waybill-", suffix: ".part")
  /// Where it lies until then.
  package let temporaryPath: String

  private let folder: String
  private let descriptor: Int32
  private var isPublished = false

  /// Makes an empty file in a folder.
  ///
  /// - Throws: `not_found`, `unusable`, `disk_full` or `input_output`; nothing was made then.
  package init(folder: String) throws(TraceError) {
    self.folder = folder
    // Of fixed length, since the name it shall get may be as long as names can be.
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    let (prefix, suffix) = TraceFile.temporaryName
    temporaryPath = "\(folder)/\(prefix)\(random)\(suffix)"
    descriptor = open(
      temporaryPath, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
    guard descriptor >= 0 else {
      throw TraceError(.last, doing: "make a file in \(EscapedText.escape(folder))")
    }
  }

  deinit {
    if !isPublished { unlink(temporaryPath) }
    close(descriptor)
  }

  /// Where a writer puts its bytes.
  package var sink: TraceSink { .descriptor(descriptor) }

  /// Gives the file its name in its folder, with everything on stable storage: the bytes before the
  /// name, and the name before this returns. Never replaces a file that is there.
  ///
  /// - Throws: `exists` when the name is taken, otherwise what the system says; the file is not
  ///   there under its name then, unless only the last step failed (`input_output`).
  package func publish(as name: String) throws(TraceError) {
    precondition(!isPublished, "a trace is published once")
    let path = "\(folder)/\(name)"
    let name = EscapedText.escape(path)
    guard StableStorage.sync(descriptor) else { throw TraceError(.last, doing: "write \(name)") }
    // A second name, unlike a rename, never replaces what is there.
    guard link(temporaryPath, path) == 0 else {
      throw TraceError(.last, doing: "name the trace \(name)")
    }
    unlink(temporaryPath)
    isPublished = true
    do throws(SystemError) { try Folder.sync(folder) } catch {
      throw TraceError(error, doing: "put the name \(name) on the disk")
    }
  }
}

/// A trace that is open for reading.
package final class TraceInputFile {
  private let descriptor: Int32

  /// Opens a file, following links: reading harms nothing.
  ///
  /// - Throws: `not_found`, `unusable` or `input_output`.
  package init(path: String) throws(TraceError) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TraceError(.last, doing: "open \(EscapedText.escape(path))")
    }
  }

  deinit { close(descriptor) }

  /// Where a reader gets its bytes, from the start of the file or from where the last reader ended.
  /// It keeps the file open.
  package var source: TraceSource {
    TraceSource { buffer throws(TraceError) in
      try TraceSource.descriptor(self.descriptor).read(buffer)
    }
  }
}
