public import WaybillModel
internal import WaybillSQLite

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What `doctor` looks at: facts about a ledger and its surroundings, gathered without writing.
public struct Checkup: Equatable, Sendable {
  /// One file of the ledger as the file system has it.
  public struct File: Equatable, Sendable {
    /// The length in bytes.
    public var byteCount: Int64
    /// The permission bits.
    public var mode: UInt32
    /// How many names it has.
    public var links: UInt64
    /// Whether it belongs to whoever looks.
    public var isOurs: Bool

    /// Makes a file's facts from their values.
    public init(byteCount: Int64, mode: UInt32, links: UInt64 = 1, isOurs: Bool = true) {
      self.byteCount = byteCount
      self.mode = mode
      self.links = links
      self.isOurs = isOurs
    }
  }

  /// What the head mark says.
  public enum Mark: Equatable, Sendable {
    /// There is none.
    case absent
    /// It cannot be read.
    case unreadable
    /// The last durable position it knows.
    case position(GlobalPosition)
  }

  /// The version of the SQLite library, such as "3.40.1".
  public var sqliteVersion = ""
  /// The format of the ledger, and the newest this code writes.
  public var format: (found: Int64, newest: Int64) = (0, 0)
  /// The folder; nil where only a database was named.
  public var folder: File?
  /// The database.
  public var database: File?
  /// The write-ahead log; nil when there is none.
  public var log: File?
  /// The head mark.
  public var mark = Mark.absent
  /// The newest position in the log.
  public var head = GlobalPosition.start
  /// Who holds the lease, in words.
  public var owner: String?
  /// Copies in the staging folder, and their bytes.
  public var staged: (count: Int, byteCount: Int64) = (0, 0)
  /// Commands that wait in the inbox, and files there that are none.
  public var inbox: (waiting: Int, refused: Int) = (0, 0)
  /// Whether the room for a full disk is kept back; nil where only a database was named.
  public var hasReserve: Bool?
  /// Trace segments the log speaks of, those of them that are not there, and the bytes of the rest.
  public var archive: (segments: Int, missing: Int, byteCount: Int64) = (0, 0, 0)
  /// Backups of an older format, and copies whose record was lost.
  public var leftovers: (backups: Int, setAside: Int) = (0, 0)
  /// Bytes free on the disk of the ledger.
  public var freeBytes: Int64 = 0

  /// Makes facts of nothing.
  public init() {}

  /// Equal when every fact is.
  public static func == (left: Checkup, right: Checkup) -> Bool {
    left.sqliteVersion == right.sqliteVersion && left.format == right.format
      && left.folder == right.folder && left.database == right.database && left.log == right.log
      && left.mark == right.mark && left.head == right.head && left.owner == right.owner
      && left.staged == right.staged && left.inbox == right.inbox
      && left.hasReserve == right.hasReserve && left.archive == right.archive
      && left.leftovers == right.leftovers && left.freeBytes == right.freeBytes
  }
}

// MARK: What the facts mean

extension Checkup {
  /// One thing to know, or to do something about.
  public struct Remark: Hashable, Sendable {
    /// How much it matters.
    public enum Level: String, Sendable {
      /// As it should be.
      case fine
      /// Works, but should be looked at.
      case warning
      /// Does not work, or loses what it promises.
      case problem
    }

    /// How much it matters.
    public let level: Level
    /// The stable word of what was looked at.
    public let subject: String
    /// What was found, on one line.
    public let message: String
    /// What to do; empty when there is nothing to do.
    public let remedy: String

    /// Makes a remark from its values.
    package init(level: Level, subject: String, message: String, remedy: String) {
      self.level = level
      self.subject = subject
      self.message = message
      self.remedy = remedy
    }
  }

  /// A write-ahead log longer than this means that a reader holds it up: 16 MiB.
  public static let longLogBytes: Int64 = 16_777_216
  /// Less room than this stops the ledger from growing for long: 256 MiB.
  public static let littleRoomBytes: Int64 = 268_435_456

  /// What the facts mean, in the order a person should read them.
  public var remarks: [Remark] {
    [sqliteRemark, formatRemark] + permissionRemarks
      + [logRemark, markRemark, ownerRemark, stagedRemark, inboxRemark, archiveRemark]
      + leftoverRemarks + [roomRemark]
  }

  private func remark(
    _ level: Remark.Level, _ subject: String, _ message: String, _ remedy: String = ""
  ) -> Remark {
    Remark(level: level, subject: subject, message: message, remedy: remedy)
  }

  /// SQLite 3.7.0 to 3.51.2 can corrupt a database in WAL mode when two connections checkpoint at
  /// the same instant; fixed in 3.51.3, 3.50.7 and 3.44.6 (sqlite.org/wal.html section 11).
  private var sqliteRemark: Remark {
    let isFixed = SQLiteVersion(sqliteVersion)?.hasFixedReset ?? false
    let state = isFixed ? "has the fix for" : "is affected by"
    return remark(
      .fine, "sqlite",
      "SQLite \(sqliteVersion) \(state) the WAL-reset fault"
        + (isFixed ? "" : "; one writer that alone checkpoints keeps a ledger out of its way"))
  }

  private var formatRemark: Remark {
    format.found > format.newest
      ? remark(
        .warning, "format",
        "format \(format.found) is newer than this version writes"
          + " (\(format.newest))", "update Waybill before writing")
      : remark(.fine, "format", "format \(format.found), events up to \(head.value)")
  }

  private var permissionRemarks: [Remark] {
    var remarks: [Remark] = []
    for (name, file, mode) in [
      ("folder", folder, UInt32(0o700)), ("database", database, 0o600), ("log", log, 0o600),
    ] {
      guard let file else { continue }
      if !file.isOurs {
        remarks.append(
          remark(.problem, name, "the \(name) belongs to another user", "use one of your own"))
      } else if file.mode & 0o077 != 0 {
        remarks.append(
          remark(
            .warning, name,
            "others may look into the \(name) (mode \(String(file.mode, radix: 8)))",
            "run chmod \(String(mode, radix: 8)) on it"))
      } else if name == "database", file.links != 1 {
        remarks.append(
          remark(
            .problem, name, "the database has \(file.links) names",
            "remove the other hard links"))
      }
    }
    return remarks.isEmpty ? [remark(.fine, "permissions", "only its owner can look in")] : remarks
  }

  private var logRemark: Remark {
    let byteCount = log?.byteCount ?? 0
    return byteCount > Checkup.longLogBytes
      ? remark(
        .warning, "log", "the write-ahead log has \(byteCount) bytes",
        "end readers that have been open for long; the next append then shortens it")
      : remark(.fine, "log", "the write-ahead log has \(byteCount) bytes")
  }

  private var markRemark: Remark {
    switch mark {
    case .absent: remark(.warning, "head_mark", "there is no head mark; the next launch makes one")
    case .unreadable:
      remark(
        .warning, "head_mark", "the head mark cannot be read; the next launch rewrites it",
        "run 'waybill verify'")
    case .position(let position) where position > head:
      remark(
        .problem, "head_mark",
        "events \(head.value + 1) to \(position.value) are gone from the log",
        "keep a copy of the folder; the next launch asks the server about every open upload")
    case .position: remark(.fine, "head_mark", "the log is at least as long as its head mark says")
    }
  }

  private var ownerRemark: Remark {
    remark(.fine, "owner", owner.map { "in use by \($0)" } ?? "nobody has it open for writing")
  }

  private var stagedRemark: Remark {
    remark(.fine, "staged", "\(staged.count) local copies, \(staged.byteCount) bytes")
  }

  private var inboxRemark: Remark {
    if inbox.refused > 0 {
      return remark(
        .warning, "inbox", "\(inbox.refused) files in the inbox are no commands",
        "look at the *.refused files and remove them")
    }
    return inbox.waiting > 0 && owner == nil
      ? remark(
        .warning, "inbox", "\(inbox.waiting) commands wait for an owner",
        "run 'waybill push' to take them")
      : remark(.fine, "inbox", "\(inbox.waiting) commands wait")
  }

  private var archiveRemark: Remark {
    archive.missing > 0
      ? remark(
        .problem, "archive",
        "\(archive.missing) of \(archive.segments) segments are not in the folder 'archive'",
        "put them back from a copy; uploads in them still say what became of them")
      : remark(.fine, "archive", "\(archive.segments) segments, \(archive.byteCount) bytes")
  }

  private var leftoverRemarks: [Remark] {
    var remarks: [Remark] = []
    if leftovers.backups > 0 {
      remarks.append(
        remark(
          .fine, "backups", "\(leftovers.backups) backups from before a change of format",
          "delete backup-v*.sqlite once you are content with what 'waybill verify' says"))
    }
    if leftovers.setAside > 0 {
      remarks.append(
        remark(
          .warning, "set_aside",
          "\(leftovers.setAside) local copies in 'set-aside' have lost their record",
          "add those that are still wanted again, then delete the folder"))
    }
    return remarks
  }

  private var roomRemark: Remark {
    if hasReserve == false {
      return remark(
        .warning, "disk",
        "the room that is kept back for a full disk is used up; \(freeBytes) bytes are free",
        "free some space; the next append keeps room back again")
    }
    return freeBytes < Checkup.littleRoomBytes
      ? remark(
        .warning, "disk", "only \(freeBytes) bytes are free on its disk", "free some space")
      : remark(.fine, "disk", "\(freeBytes) bytes are free on its disk")
  }
}

/// A version of the SQLite library.
struct SQLiteVersion: Comparable {
  let major: Int
  let minor: Int
  let patch: Int

  init?(_ text: String) {
    let numbers = text.split(separator: ".").map { Int($0) }
    guard numbers.count >= 3, let major = numbers[0], let minor = numbers[1],
      let patch = numbers[2]
    else { return nil }
    self.init(major: major, minor: minor, patch: patch)
  }

  init(major: Int, minor: Int, patch: Int) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// Whether the WAL-reset fault is mended: in 3.51.3 and later, and in the two branches it was
  /// taken back to.
  var hasFixedReset: Bool {
    self >= SQLiteVersion(major: 3, minor: 51, patch: 3)
      || (major == 3 && minor == 50 && patch >= 7) || (major == 3 && minor == 44 && patch >= 6)
  }

  static func < (left: SQLiteVersion, right: SQLiteVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}
