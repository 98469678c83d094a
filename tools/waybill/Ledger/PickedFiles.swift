internal import WaybillEngine
internal import WaybillModel
internal import WaybillSystem

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The files a command line names, with folders opened up where `--recursive` asks for it.
struct PickedFiles {
  /// A name that leads to no file.
  struct Refused: Sendable {
    let path: RawArgument
    /// The stable word of the reason.
    let code: String
    let reason: String
  }

  /// How deep folders are followed, so that a circle of mounts ends.
  static let maximumDepth = 64

  private(set) var picks: [PickedFile] = []
  private(set) var refused: [Refused] = []

  /// Whether no file was named at all.
  var isEmpty: Bool { picks.isEmpty && refused.isEmpty }

  /// Takes the operands of a command.
  init(_ invocation: Invocation) throws(Failure) {
    let isRecursive = invocation.arguments.has("recursive")
    for operand in invocation.arguments.operands {
      guard !operand.bytes.isEmpty else {
        refused.append(Refused(path: operand, code: "missing", reason: "the name is empty"))
        continue
      }
      if isRecursive, PickedFiles.isFolder(operand) {
        open(operand, depth: 0)
      } else if PickedFiles.isFolder(operand) {
        refused.append(
          Refused(
            path: operand, code: "not_a_regular_file",
            reason: "it is a folder; use --recursive to take what is in it"))
      } else {
        picks.append(PickedFile(path: operand.bytes, name: operand.fileName))
      }
    }
  }

  private static func isFolder(_ path: RawArgument) -> Bool {
    var status = stat()
    return path.withCString { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func list(
    _ path: UnsafePointer<CChar>, into names: inout [[UInt8]]
  ) -> SystemError? {
    do throws(SystemError) {
      try Folder.forEachName(in: path) { names.append($0) }
      return nil
    } catch {
      return error
    }
  }

  /// Takes the files in a folder, in the order of their names' bytes; links are left alone.
  private mutating func open(_ folder: RawArgument, depth: Int) {
    guard depth < PickedFiles.maximumDepth else {
      let reason = "folders are more than \(PickedFiles.maximumDepth) deep"
      return refused.append(Refused(path: folder, code: "not_permitted", reason: reason))
    }
    var names: [[UInt8]] = []
    if let problem = folder.withCString({ Self.list($0, into: &names) }) {
      let reason = "the folder cannot be read: \(problem.text)"
      refused.append(Refused(path: folder, code: "not_permitted", reason: reason))
    }
    for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let path = RawArgument(bytes: folder.bytes + [UInt8(ascii: "/")] + name)
      if PickedFiles.isFolder(path) {
        open(path, depth: depth + 1)
      } else {
        picks.append(PickedFile(path: path.bytes, name: FileName(bytes: name)))
      }
    }
  }
}
