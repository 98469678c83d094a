public import WaybillModel
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A wish from a process that does not own the ledger.
public enum InboxCommand: Equatable, Sendable {
  /// Give an upload up.
  case cancel(UploadID)
  /// Try an upload again.
  case retry(UploadID)
  /// Hold an upload back.
  case pause(UploadID)
  /// No longer hold an upload back.
  case resume(UploadID)

  /// The upload it is about.
  public var upload: UploadID {
    switch self {
    case .cancel(let upload), .retry(let upload), .pause(let upload), .resume(let upload): upload
    }
  }

  /// The wish as the core knows it.
  public var command: UploadCommand {
    switch self {
    case .cancel: .cancel(.user)
    case .retry: .retry
    case .pause: .pause
    case .resume: .resume
    }
  }

  var word: String {
    switch self {
    case .cancel: "cancel"
    case .retry: "retry"
    case .pause: "pause"
    case .resume: "resume"
    }
  }

  init?(word: String, upload: UploadID) {
    switch word {
    case "cancel": self = .cancel(upload)
    case "retry": self = .retry(upload)
    case "pause": self = .pause(upload)
    case "resume": self = .resume(upload)
    default: return nil
    }
  }
}

/// The folder other processes drop commands into: one renamed file a command, taken exactly once
/// because the event it leads to carries the command's own id.
public struct Inbox: Sendable {
  /// The most bytes a command file may have.
  static let maximumFileBytes = 4096
  /// The most commands that are taken at once.
  static let maximumBatch = 256

  private let directory: String

  init(directory: String) { self.directory = directory }

  /// The inbox of a ledger folder.
  public init(ledgerDirectory: String) {
    self.init(directory: LedgerFiles(directory: ledgerDirectory).inbox)
  }

  /// One command waiting to be taken.
  struct Item: Equatable {
    let id: EventID
    let command: InboxCommand
    let path: String
  }

  /// Drops a command for the owner of the ledger; durable when this returns.
  ///
  /// - Parameters:
  ///   - command: the wish.
  ///   - id: a new id, by which the owner takes it exactly once.
  /// - Throws: `LedgerError` when the file cannot be written; then nothing was dropped.
  public func drop(_ command: InboxCommand, id: EventID) throws(LedgerError) {
    let document = JSONValue.object([
      .init("v", .integer(1)), .init("id", .text(id.description)),
      .init("command", .text(command.word)), .init("upload", .text(command.upload.description)),
    ])
    let temporary = "\(directory)/\(id).tmp"
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_WRONLY, 0o600)
    guard descriptor >= 0 else { throw LedgerFiles.failure("make", temporary) }
    let bytes = [UInt8](document.serialized.utf8)
    let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    let isSynced = StableStorage.sync(descriptor)
    close(descriptor)
    guard written == bytes.count, isSynced else {
      unlink(temporary)
      throw LedgerFiles.failure("write", temporary)
    }
    guard rename(temporary, "\(directory)/\(id).json") == 0 else {
      throw LedgerFiles.failure("rename", temporary)
    }
    try LedgerFiles.syncFolder(directory)
  }

  /// The most names that are looked at once; the ones behind them wait for the next time.
  static let maximumNames = 4096

  /// The commands that wait, oldest first by id, at most `maximumBatch`. A file that is no command
  /// is renamed to `*.refused` and stays for whoever looks.
  func items() -> [Item] {
    var items: [Item] = []
    for name in names() {
      let path = "\(directory)/\(name)"
      switch Inbox.read(path) {
      case .command(let item):
        items.append(item)
        if items.count == Inbox.maximumBatch { return items }
      case .nonsense:
        // A name that is too long for the ending loses its own end.
        rename(
          path, "\(directory)/\(String(decoding: name.utf8.prefix(240), as: UTF8.self)).refused")
      case .notNow: continue
      }
    }
    return items
  }

  /// The first names of command files, in order.
  private func names() -> [String] {
    var names: [String] = []
    // What cannot be listed now is listed the next time.
    try? Folder.forEachName(in: directory) { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      if name.hasSuffix(".json") { names.append(name) }
      if names.count == 2 * Inbox.maximumNames { names = first(names) }
    }
    return first(names)
  }

  private func first(_ names: [String]) -> [String] {
    Array(names.sorted().prefix(Inbox.maximumNames))
  }

  /// What a file in the inbox turned out to be.
  private enum Reading {
    case command(Item)
    /// It was read and is no command.
    case nonsense
    /// It could not be read; a wish is not thrown away for that.
    case notNow
  }

  private static func read(_ path: String) -> Reading {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      return [EMFILE, ENFILE, ENOMEM, EIO, EINTR, ENOENT].contains(errno) ? .notNow : .nonsense
    }
    defer { close(descriptor) }
    var isRead = true
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumFileBytes) { buffer, count in
      let read = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      isRead = read >= 0 || errno == ESPIPE || errno == EISDIR
      count = max(0, read)
    }
    guard isRead else { return .notNow }
    guard let document = try? JSONValue.read(bytes),
      let id = document["id"]?.text.flatMap({ EventID($0) }),
      let upload = document["upload"]?.text.flatMap({ UploadID($0) }),
      let command = document["command"]?.text.flatMap({ InboxCommand(word: $0, upload: upload) })
    else { return .nonsense }
    return .command(Item(id: id, command: command, path: path))
  }
}

extension Ledger {
  /// Takes the commands that other processes dropped, each exactly once, and says which uploads
  /// they were about and what became of them. One whose upload grows faster than it can be decided
  /// stays for the next time.
  ///
  /// - Returns: the commands in order; `nil` for one that was granted, or why it was refused.
  @discardableResult
  public func takeInbox() async throws(LedgerError) -> [(InboxCommand, Rejection?)] {
    var taken: [(InboxCommand, Rejection?)] = []
    for item in Inbox(directory: inboxDirectory).items() {
      do throws(LedgerError) {
        let rejection = try await grant(item)
        unlink(item.path)
        taken.append((item.command, rejection))
      } catch {
        guard error.code == .conflict else { throw error }
      }
    }
    return taken
  }

  /// Decides and appends; when the upload has moved in between, decides again as `record` does.
  private func grant(_ item: Inbox.Item) async throws(LedgerError) -> Rejection? {
    let id = item.command.upload
    for attempt in 1... {
      if attempt > 1 { drain() }
      let upload = try self.upload(id)
      let events: [ProposedEvent]
      do throws(Rejection) {
        events = try upload.decide(item.command.command)
      } catch {
        return error
      }
      guard !events.isEmpty else { return nil }
      do throws(LedgerError) {
        // Every command of the inbox decides to at most one event, which takes the command's id.
        try await append(events, to: id, expecting: .exactly(upload.revision), ids: [item.id])
        return nil
      } catch {
        guard error.code == .conflict, attempt < Ledger.maximumDecisions else { throw error }
      }
    }
    preconditionFailure("the loop ends by returning or throwing")
  }
}
