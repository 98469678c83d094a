internal import Dispatch
internal import WaybillHash
internal import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Why a file could not be taken, or why its copy cannot be used.
public struct StagingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is; an open list.
  public struct Code: Hashable, Sendable {
    /// The stable word of the code.
    public let word: String

    private init(_ word: String) { self.word = word }

    /// There is no such file.
    public static let missing = Code("missing")
    /// The file may not be read.
    public static let notPermitted = Code("not_permitted")
    /// It is a folder, a link, a pipe or a device.
    public static let notARegularFile = Code("not_a_regular_file")
    /// It changed while it was read.
    public static let changedWhileReading = Code("changed_while_reading")
    /// The disk has no room for the copy.
    public static let diskFull = Code("disk_full")
    /// Reading or writing failed.
    public static let inputOutput = Code("input_output")
  }

  /// What kind of failure it is.
  public let code: Code
  /// What is wrong, on one line, without the path.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The error of the system call that just failed.
  static func last(_ work: String) -> StagingError { StagingError(work, .last) }

  init(_ work: String, _ error: SystemError) {
    let text = "cannot \(work): \(error.text)"
    switch error.number {
    case ENOENT, ENOTDIR: self.init(.missing, text)
    case EACCES, EPERM: self.init(.notPermitted, text)
    case ELOOP: self.init(.notARegularFile, "it is a symbolic link; name the file itself")
    case ENXIO: self.init(.notARegularFile, "it is a pipe or a device")
    case ENOSPC, EDQUOT: self.init(.diskFull, text)
    default: self.init(.inputOutput, text)
    }
  }
}

/// Copies of files that are to be uploaded, in one folder, each named by its upload.
///
/// A copy is made and hashed in one pass with one reused buffer of 1 MiB, whatever the size of the
/// file, and is on stable storage when `stage` returns.
struct Staging: Sendable {
  /// The size of the one buffer a copy goes through.
  static let bufferBytes = 1_048_576
  /// Free space that is left alone, so that the ledger itself can still grow.
  static let reserveBytes: UInt64 = 16_777_216

  let directory: String
  /// Take files in, which may take long; parts are read beside them. There are two, so that one
  /// reads and hashes while the other waits for the disk.
  private let lanes = (0..<2).map { DispatchQueue(label: "waybill.staging.taking.\($0)") }
  private let reading = DispatchQueue(label: "waybill.staging.reading")

  init(directory: String) { self.directory = directory }

  /// A copy that is on stable storage, and its hash.
  struct Copy: Equatable, Sendable {
    let file: StagedFileID
    let byteCount: Int64
    let hash: ContentHash
  }

  func path(of file: StagedFileID) -> String { "\(directory)/\(file.text)" }

  // MARK: Taking a file

  /// Copies a file in, named by the upload it belongs to, and hashes what was copied. Copies of
  /// one lane are made one after the other.
  ///
  /// - Throws: `StagingError`; then no copy is left behind.
  func stage(
    _ source: [UInt8], for upload: UploadID, lane: Int
  ) async throws(StagingError) -> Copy {
    let file = StagedFileID(upload)
    let result = await run(on: lanes[lane % lanes.count]) { self.copy(source, to: file) }
    return try result.get()
  }

  private func run<T: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable () -> T
  ) async -> T {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  }

  private func copy(_ source: [UInt8], to file: StagedFileID) -> Result<Copy, StagingError> {
    Result { () throws(StagingError) in
      let input = try openSource(source)
      defer { close(input.descriptor) }
      try checkRoom(for: input.status.st_size)
      let target = path(of: file)
      let output = open(target, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
      guard output >= 0 else { throw .last("make the copy") }
      defer { close(output) }
      do throws(StagingError) {
        let hashed = try pour(
          input.descriptor, into: output, limit: Int64(input.status.st_size))
        try checkUnchanged(input.descriptor, since: input.status, copied: hashed.byteCount)
        guard StableStorage.sync(output) else { throw .last("sync the copy") }
        try syncFolder()
        return Copy(file: file, byteCount: hashed.byteCount, hash: hashed.hash)
      } catch {
        unlink(target)
        throw error
      }
    }
  }

  private func openSource(
    _ source: [UInt8]
  ) throws(StagingError) -> (descriptor: Int32, status: stat) {
    guard !source.contains(0) else { throw StagingError(.missing, "the path holds a zero byte") }
    // Not blocking, so that a pipe without a writer is refused rather than waited for.
    let descriptor = (source + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { path in
        path.baseAddress.map { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) } ?? -1
      }
    }
    guard descriptor >= 0 else { throw .last("read it") }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      defer { close(descriptor) }
      throw .last("look at it")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      let what = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "a pipe, a socket or a device"
      throw StagingError(.notARegularFile, "it is \(what), not a file")
    }
    return (descriptor, status)
  }

  private func checkRoom(for byteCount: off_t) throws(StagingError) {
    var volume = statvfs()
    guard statvfs(directory, &volume) == 0 else { throw .last("look at the disk") }
    let free = UInt64(volume.f_bavail) * UInt64(volume.f_frsize)
    guard UInt64(max(byteCount, 0)) + Staging.reserveBytes <= free else {
      throw StagingError(
        .diskFull,
        "its copy needs \(byteCount) bytes; beside the \(Staging.reserveBytes >> 20) MiB that are"
          + " left for the ledger \(free - min(free, Staging.reserveBytes)) are free on its disk")
    }
  }

  /// Reads to the end through one buffer, writing and hashing what was read. A file that turns out
  /// longer than `limit` is given up, since one that grows as fast as it is read has no end.
  private func pour(
    _ input: Int32, into output: Int32?, limit: Int64 = .max
  ) throws(StagingError) -> (byteCount: Int64, hash: ContentHash) {
    let hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Staging.bufferBytes, alignment: 4096)
    defer { buffer.deallocate() }
    var total: Int64 = 0
    while true {
      let count = read(input, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .last("read it") }
      if count == 0 { return (total, hasher.finish()) }
      guard Int64(count) <= limit - total else { throw Staging.changed }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      hasher.update(bytes)
      if let output {
        try write(bytes, to: output)
        StableStorage.begin(output, at: total, count: Int64(count))
      }
      total += Int64(count)
    }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, to output: Int32
  ) throws(StagingError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = Self.systemWrite(output, rest)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .last("write the copy") }
      done += count
    }
  }

  private static func systemWrite(_ output: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.write(output, bytes.baseAddress, bytes.count)
    #else
      Glibc.write(output, bytes.baseAddress, bytes.count)
    #endif
  }

  private func checkUnchanged(
    _ descriptor: Int32, since before: stat, copied: Int64
  ) throws(StagingError) {
    var after = stat()
    guard fstat(descriptor, &after) == 0 else { throw .last("look at it again") }
    guard after.st_size == before.st_size, copied == Int64(before.st_size),
      after.modified == before.modified
    else {
      throw Staging.changed
    }
  }

  private static var changed: StagingError {
    StagingError(.changedWhileReading, "it changed while it was read; add it again")
  }

  // MARK: Trusting a copy

  /// Whether a copy still has the bytes that were hashed.
  enum Condition: Equatable, Sendable {
    /// It has; its inode last changed at that moment.
    case intact(since: Timestamp)
    case missing
    case changed
    /// It could not be looked at; nothing is known.
    case unreadable
  }

  /// Looks at a copy before it is sent. A copy whose inode has not changed since it was recorded
  /// is trusted; any other one is hashed again. The time of the last change of an inode cannot be
  /// set by whoever edits or swaps a file, which the time of modification can.
  ///
  /// - Parameter trusted: the moment up to which a change of the inode is no cause for suspicion.
  func condition(
    of copy: Exported, hash: ContentHash?, trusted: Timestamp
  ) async -> Condition {
    let path = path(of: copy.file)
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT ? .missing : .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == copy.byteCount else {
      return .changed
    }
    if status.changed <= trusted { return .intact(since: trusted) }
    guard let rehashed = await run(on: reading, { self.hash(ofFileAt: path) }) else {
      return .unreadable
    }
    return rehashed == hash ? .intact(since: status.changed) : .changed
  }

  /// The hash of a staged copy, for one that was recorded without; nil when it cannot be read.
  func hash(of file: StagedFileID) async -> ContentHash? {
    let path = path(of: file)
    return await run(on: reading) { self.hash(ofFileAt: path) }
  }

  private func hash(ofFileAt path: String) -> ContentHash? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return try? pour(descriptor, into: nil).hash
  }

  /// Why a slice of a copy is not there to be sent.
  enum SliceFault: Error, Sendable {
    /// The copy ends before the slice does.
    case cutShort
    /// Reading it, or writing the file of its own, failed; it may succeed later.
    case unreadable
  }

  /// The hash of one slice of a copy, as it is now.
  func hash(of slice: FileSlice) async throws(SliceFault) -> ContentHash {
    try await run(on: reading) { self.pour(slice, into: nil) }.get()
  }

  /// Writes one slice of a copy to a file of its own, which replaces any earlier one.
  ///
  /// - Returns: the slice that is the whole new file, and its hash.
  /// - Throws: `SliceFault`; then there is no file.
  func cut(
    _ slice: FileSlice, part: PartNumber, of upload: UploadID
  ) async throws(SliceFault) -> (slice: FileSlice, hash: ContentHash) {
    let path = "\(directory)/\(PartFileName(upload: upload, part: part))"
    let hash = await run(on: reading) { () -> Result<ContentHash, SliceFault> in
      let output = open(
        path, O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
      guard output >= 0 else { return .failure(.unreadable) }
      defer { close(output) }
      let poured = self.pour(slice, into: output)
      if case .failure = poured { unlink(path) }
      return poured
    }
    return (FileSlice(path: path, offset: 0, count: slice.count), try hash.get())
  }

  /// Deletes the file of a part; one that was never made is fine.
  func release(part: PartNumber, of upload: UploadID) {
    unlink("\(directory)/\(PartFileName(upload: upload, part: part))")
  }

  private func pour(
    _ slice: FileSlice, into output: Int32?
  ) -> Result<ContentHash, SliceFault> {
    let descriptor = open(slice.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return .failure(.unreadable) }
    defer { close(descriptor) }
    let hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Staging.bufferBytes, alignment: 4096)
    defer { buffer.deallocate() }
    var done: Int64 = 0
    while done < slice.count {
      let wanted = Int(min(slice.count - done, Int64(buffer.count)))
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(slice.offset + done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(.unreadable) }
      guard count > 0 else { return .failure(.cutShort) }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      hasher.update(bytes)
      if let output, (try? write(bytes, to: output)) == nil { return .failure(.unreadable) }
      done += Int64(count)
    }
    return .success(hasher.finish())
  }

  // MARK: Letting go

  /// Deletes a copy; one that is gone already is fine.
  func release(_ file: StagedFileID) throws(StagingError) {
    guard unlink(path(of: file)) == 0 || errno == ENOENT else { throw .last("delete the copy") }
  }

  /// Moves a copy whose record was lost out of the way, into `set-aside` beside the staging folder.
  /// Nobody deletes it there but a person.
  func setAside(_ file: StagedFileID) {
    let folder = directory + "/../set-aside"
    mkdir(folder, 0o700)
    rename(path(of: file), "\(folder)/\(file.text)")
  }

  /// Makes new copies' names durable.
  private func syncFolder() throws(StagingError) {
    do throws(SystemError) {
      try Folder.sync(directory)
    } catch {
      throw StagingError("sync the staging folder", error)
    }
  }

  /// Names of the files in the folder.
  func files() -> [String] {
    var names: [String] = []
    // A copy that is not listed now is swept at a later launch.
    try? Folder.forEachName(in: directory) { names.append(String(decoding: $0, as: UTF8.self)) }
    return names
  }
}

extension stat {
  fileprivate var modified: Timestamp {
    #if canImport(Darwin)
      Timestamp(st_mtimespec)
    #else
      Timestamp(st_mtim)
    #endif
  }

  fileprivate var changed: Timestamp {
    #if canImport(Darwin)
      Timestamp(st_ctimespec)
    #else
      Timestamp(st_ctim)
    #endif
  }
}

extension Timestamp {
  fileprivate init(_ time: timespec) {
    self.init(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// The name of a file that holds one part, for transports that send whole files only.
struct PartFileName: Equatable, CustomStringConvertible {
  let upload: UploadID
  let part: PartNumber

  init(upload: UploadID, part: PartNumber) {
    self.upload = upload
    self.part = part
  }

  /// Reads a name from the staging folder; nil for any other file.
  init?(_ name: String) {
    let halves = name.split(separator: "~", omittingEmptySubsequences: false)
    guard halves.count == 2, let upload = UploadID(String(halves[0])), let index = Int(halves[1]),
      (0..<PartPlan.maximumPartCount).contains(index)
    else { return nil }
    self.init(upload: upload, part: PartNumber(index))
  }

  var description: String { "\(upload)~\(part.index)" }
}
