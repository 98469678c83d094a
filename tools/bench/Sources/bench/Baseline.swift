internal import CBaseline
internal import Glibc
internal import WaybillLedger
internal import WaybillModel

/// The same work in C, on a database whose tables, indexes and triggers the ledger itself made.
final class Baseline {
  private let handle: OpaquePointer

  /// Opens a folder that `Ledger.open` has made and closed.
  init(directory: String) throws(BenchError) {
    guard let handle = baseline_open(directory + "/ledger.sqlite") else {
      throw BenchError("the baseline cannot open \(directory)")
    }
    self.handle = handle
  }

  deinit { baseline_close(handle) }

  /// Has the ledger make its tables in a new folder, and opens them.
  static func made(in directory: String) async throws -> Baseline {
    let ledger = try await Ledger.open(directory: directory)
    await ledger.close()
    return try Baseline(directory: directory)
  }

  private func check(_ done: Bool) throws(BenchError) {
    guard done else { throw BenchError("baseline: \(String(cString: baseline_error(handle)))") }
  }

  /// Appends events, so many in a transaction; each transaction is on stable storage when it ends.
  ///
  /// - Parameter withState: whether each upload's state row is written once a transaction.
  func append(
    _ columns: BaselineColumns, perTransaction: Int, withState: Bool
  ) throws(BenchError) {
    var at = 0
    var stream: Int64 = 0
    while at < columns.count {
      let end = min(at + perTransaction, columns.count)
      try check(baseline_begin(handle))
      for index in at..<end {
        if let upload = columns.newUpload(at: index) {
          stream = baseline_add_stream(handle, upload)
          try check(stream >= 0)
        }
        columns.events[index].stream = stream
        try check(baseline_insert(handle, columns.events + index))
        if withState, columns.endsUpload(at: index) {
          try check(
            baseline_put_state(
              handle, stream, "committed", columns.byteCount, columns.byteCount))
        }
      }
      try check(baseline_commit(handle))
      at = end
    }
  }
}

/// Lives as the columns that C binds, made before any clock runs.
final class BaselineColumns {
  let count: Int
  let events: UnsafeMutablePointer<baseline_event>
  let byteCount: Int64
  private var texts: [UnsafeMutableRawPointer?] = []
  private var uploads: [Int: UnsafeMutablePointer<CChar>] = [:]
  private var ends: Set<Int> = []

  init(_ lives: [Lives.Life]) {
    count = lives.reduce(0) { $0 + $1.events.count }
    byteCount = lives.first?.byteCount ?? 0
    events = .allocate(capacity: max(count, 1))
    var at = 0
    for life in lives {
      uploads[at] = strdup(life.upload.description)
      for (revision, proposed) in life.events.enumerated() {
        events.advanced(by: at).initialize(to: columns(of: proposed, revision: revision + 1))
        at += 1
      }
      ends.insert(at - 1)
    }
  }

  deinit {
    for text in texts { free(text) }
    for upload in uploads.values { free(upload) }
    events.deallocate()
  }

  func newUpload(at index: Int) -> UnsafeMutablePointer<CChar>? { uploads[index] }

  func endsUpload(at index: Int) -> Bool { ends.contains(index) }

  private func columns(of proposed: ProposedEvent, revision: Int) -> baseline_event {
    let fields = proposed.event.fields
    var event = baseline_event()
    event.revision = Int64(revision)
    event.recorded_at = 1_795_915_778_000_000 + Int64(revision)
    func set(_ bit: Int, _ value: Int64?, _ place: WritableKeyPath<baseline_event, Int64>) {
      guard let value else { return }
      event[keyPath: place] = value
      event.present |= UInt32(bit)
    }
    set(BASELINE_PART, fields.part, \.part)
    set(BASELINE_BYTES, fields.bytes, \.bytes)
    set(BASELINE_ATTEMPT, fields.attempt, \.attempt)
    set(BASELINE_UNTIL, fields.until, \.until)
    event.kind = text(proposed.event.kind.rawValue)
    event.cause = text(proposed.cause.rawValue)
    event.code = text(fields.code)
    event.reference = text(fields.reference)
    event.payload = text(fields.payload)
    event.hash = bytes(fields.hash?.bytes)
    event.name = bytes(fields.name)
    event.name_count = Int32(fields.name?.count ?? 0)
    return event
  }

  private func text(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text, let copy = strdup(text) else { return nil }
    texts.append(UnsafeMutableRawPointer(copy))
    return UnsafePointer(copy)
  }

  private func bytes(_ bytes: [UInt8]?) -> UnsafePointer<UInt8>? {
    guard let bytes, let copy = malloc(max(bytes.count, 1)) else { return nil }
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(start: copy, count: $0.count).copyMemory(from: $0)
    }
    texts.append(copy)
    return UnsafePointer(copy.assumingMemoryBound(to: UInt8.self))
  }
}
