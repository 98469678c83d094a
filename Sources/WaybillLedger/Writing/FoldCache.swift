internal import WaybillModel

/// Folded uploads the writer has seen lately, so that an append folds only what it adds.
///
/// The writer is the only one that appends, so a cached state is the newest there is. At most
/// `capacity` uploads are kept; the least recently used half goes when there are more.
struct FoldCache {
  /// A cached upload, changed in place: copying a folded upload costs more than folding an event.
  final class Entry {
    /// The integer key of the stream; nil before its first event.
    var stream: Int64?
    var upload: Upload
    fileprivate var used: UInt64

    fileprivate init(_ upload: Upload, stream: Int64?, used: UInt64) {
      self.stream = stream
      self.upload = upload
      self.used = used
    }
  }

  static let capacity = 1024
  private var entries: [UploadID: Entry] = [:]
  private var clock: UInt64 = 0

  mutating func entry(_ id: UploadID) -> Entry? {
    guard let entry = entries[id] else { return nil }
    clock += 1
    entry.used = clock
    return entry
  }

  mutating func store(_ upload: Upload, stream: Int64?) -> Entry {
    clock += 1
    let entry = Entry(upload, stream: stream, used: clock)
    entries[upload.id] = entry
    return entry
  }

  mutating func remove(_ id: UploadID) { entries[id] = nil }

  mutating func removeAll() { entries.removeAll() }

  /// Goes back under the bound; called between transactions.
  mutating func trim() {
    guard entries.count > FoldCache.capacity else { return }
    let byUse = entries.sorted { $0.value.used > $1.value.used }
    entries = Dictionary(
      uniqueKeysWithValues: byUse.prefix(FoldCache.capacity / 2).map { ($0.key, $0.value) })
  }
}
