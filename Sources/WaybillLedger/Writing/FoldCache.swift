internal import WaybillModel

/// Folded uploads the writer has seen lately, so that an append folds only what it adds.
///
/// The writer is the only one that appends, so a cached state is the newest there is. At most
/// `capacity` uploads are kept; the least recently used half goes when there are more.
struct FoldCache {
  struct Entry {
    /// The integer key of the stream; nil before its first event.
    var stream: Int64?
    var upload: Upload
    fileprivate var used: UInt64
  }

  static let capacity = 1024
  private var entries: [UploadID: Entry] = [:]
  private var clock: UInt64 = 0

  mutating func entry(_ id: UploadID) -> Entry? {
    clock += 1
    entries[id]?.used = clock
    return entries[id]
  }

  mutating func store(_ upload: Upload, stream: Int64?) -> Entry {
    clock += 1
    let entry = Entry(stream: stream, upload: upload, used: clock)
    entries[upload.id] = entry
    return entry
  }

  /// Changes a cached upload in place.
  mutating func evolve(_ id: UploadID, stream: Int64, _ recorded: RecordedEvent) {
    entries[id]?.stream = stream
    entries[id]?.upload.evolve(recorded)
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
