package import WaybillModel

/// The chain over the log: each value is the SHA-256 of the value before it and of the event's
/// canonical bytes, so that a changed, missing or reordered event shows.
///
/// Canonical bytes are the values of position, event id, upload, revision, kind, version, time,
/// cause, launch, compensates, observation, part, bytes, attempt, until, code, reference, hash,
/// name and payload, in this order, each as one tag byte and its content: 0 for null; 1 and eight
/// bytes, big endian, for an integer; 2 and a four-byte length and UTF-8 for text; 3 and a
/// four-byte length and bytes for a blob. The upload stands as its 36-character text.
package struct EventChain {
  /// The value of the event the chain has moved over last.
  package private(set) var value: ContentHash
  private let hasher = SHA256()
  private var buffer: [UInt8] = []

  /// Starts behind the event with this value; zero is the value before the first event.
  package init(value: ContentHash) {
    self.value = value
    buffer.reserveCapacity(512)
  }

  /// Moves the chain over one event and gives its new value.
  package mutating func advance(over event: borrowing RecordedEvent) -> ContentHash {
    buffer.removeAll(keepingCapacity: true)
    value.withBytes { buffer.append(contentsOf: $0) }
    let fields = event.fields
    add(event.position.value)
    withUnsafeBytes(of: (event.id.high.bigEndian, event.id.low.bigEndian)) { add(blob: $0) }
    add(event.upload?.description)
    add(event.revision.value)
    add(event.kindName)
    add(Int64(event.version))
    add(event.time.microseconds)
    add(event.causeName)
    add(event.launch.value)
    add(event.compensates?.value)
    add(event.observation?.text)
    add(fields.part)
    add(fields.bytes)
    add(fields.attempt)
    add(fields.until)
    add(fields.code)
    add(fields.reference)
    if let hash = fields.hash { hash.withBytes { add(blob: $0) } } else { buffer.append(0) }
    if let name = fields.name { name.withUnsafeBytes { add(blob: $0) } } else { buffer.append(0) }
    add(fields.payload)
    hasher.update(buffer)
    value = hasher.finish()
    return value
  }

  /// Goes back to an earlier value after a transaction that did not happen.
  package mutating func reset(to value: ContentHash) { self.value = value }

  private mutating func add(_ integer: Int64?) {
    guard let integer else { return buffer.append(0) }
    buffer.append(1)
    withUnsafeBytes(of: integer.bigEndian) { buffer.append(contentsOf: $0) }
  }

  private mutating func add(_ text: String?) {
    guard var text else { return buffer.append(0) }
    buffer.append(2)
    text.withUTF8 { bytes in
      addCount(bytes.count)
      buffer.append(contentsOf: bytes)
    }
  }

  private mutating func add(blob bytes: UnsafeRawBufferPointer) {
    buffer.append(3)
    addCount(bytes.count)
    buffer.append(contentsOf: bytes)
  }

  private mutating func addCount(_ count: Int) {
    withUnsafeBytes(of: UInt32(count).bigEndian) { buffer.append(contentsOf: $0) }
  }
}
