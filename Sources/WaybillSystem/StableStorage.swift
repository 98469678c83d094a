#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif
#if os(Linux)
  internal import CLinux
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

  /// Lets the system begin to write out what was just written, so that the sync to come finds less
  /// to do. Proves nothing, and is no substitute for it (sync_file_range(2)).
  package static func begin(_ descriptor: Int32, at offset: Int64, count: Int64) {
    #if os(Linux)
      _ = waybill_begin_writing(descriptor, offset, count)
    #endif
  }
}
