#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The one way to put a file on stable storage.
package enum StableStorage {
  /// Puts what was written through a descriptor, or the names in a folder, on stable storage.
  ///
  /// On Apple systems fsync(2) ends in the drive's cache; F_FULLFSYNC asks the drive to write it
  /// out (fcntl(2)), as SQLite does for us with `fullfsync`. A file system that cannot falls back.
  ///
  /// - Returns: whether it could; `SystemError.last` says why not.
  package static func sync(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }
}
