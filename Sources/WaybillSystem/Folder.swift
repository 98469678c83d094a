#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What is asked of a folder as a whole.
package enum Folder {
  /// Gives `body` each name in a folder but `.` and `..`, byte for byte and in no order.
  ///
  /// Holds one name at a time, so that a folder of any size takes no more memory. `body` may remove
  /// the entry it was given.
  ///
  /// - Throws: when the folder cannot be opened or read on; `body` has seen what came before.
  package static func forEachName(
    in path: UnsafePointer<CChar>, _ body: (_ name: [UInt8]) -> Void
  ) throws(SystemError) {
    guard let listing = opendir(path) else { throw .last }
    defer { closedir(listing) }
    while true {
      // The end of a folder and a failure look alike but for the number.
      errno = 0
      guard let entry = readdir(listing) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { [UInt8]($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { body(name) }
    }
    guard errno == 0 else { throw .last }
  }

  /// Puts the names in a folder on stable storage: what was made, renamed or removed in it.
  ///
  /// - Throws: when the system cannot; then a crash may undo what was done.
  package static func sync(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    guard StableStorage.sync(descriptor) else { throw .last }
  }
}
