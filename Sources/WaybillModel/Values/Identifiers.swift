/// Names one upload for ever, in the ledger, in traces and on the command line. A UUIDv7.
public struct UploadID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The first 64 bits; the top 48 are the milliseconds of its creation.
  public let high: UInt64
  /// The last 64 bits.
  public let low: UInt64

  /// Makes an identifier from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads the 36-character form, in either case; nil for anything else.
  public init?(_ text: String) {
    guard let halves = UUIDText.read(text) else { return nil }
    self.init(high: halves.high, low: halves.low)
  }

  /// The 36-character form in lower case.
  public var description: String { UUIDText.write(high, low) }

  /// Orders by creation time, then by the random rest.
  public static func < (left: UploadID, right: UploadID) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

/// Names one recorded event for ever: appending the same id again gives the first one back.
public struct EventID: Hashable, Sendable, CustomStringConvertible {
  /// The first 64 bits; the top 48 are the milliseconds of its creation.
  public let high: UInt64
  /// The last 64 bits.
  public let low: UInt64

  /// Makes an identifier from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads the 36-character form, in either case; nil for anything else.
  public init?(_ text: String) {
    guard let halves = UUIDText.read(text) else { return nil }
    self.init(high: halves.high, low: halves.low)
  }

  /// The 36-character form in lower case.
  public var description: String { UUIDText.write(high, low) }
}

/// Builds UUIDv7 halves (RFC 9562 section 5.7) that sort by time.
public enum UUIDv7 {
  /// The halves for a moment and random bits that come in as values.
  ///
  /// - Parameters:
  ///   - time: the moment of creation; its milliseconds fill the first 48 bits and its
  ///     microseconds the 12 bits behind the version, scaled to 4,096ths.
  ///   - random: 64 random bits, of which 62 are used.
  public static func halves(time: Timestamp, random: UInt64) -> (high: UInt64, low: UInt64) {
    let micros = UInt64(max(0, time.microseconds))
    let fraction = (micros % 1000) * 4096 / 1000
    let high = (micros / 1000) << 16 | 0x7000 | fraction
    return (high, 0x8000_0000_0000_0000 | random >> 2)
  }
}

/// Place of an event in its stream, from 1; 0 is the revision of a stream without events.
public struct StreamRevision: Hashable, Comparable, Sendable {
  /// The count of events up to and including this place.
  public let value: Int64

  /// Makes a revision from its number.
  public init(_ value: Int64) { self.value = value }

  /// The revision of a stream that has no events yet.
  public static let none = StreamRevision(0)

  /// The revision of the next event.
  public var next: StreamRevision { StreamRevision(value + 1) }

  /// Orders by place.
  public static func < (left: StreamRevision, right: StreamRevision) -> Bool {
    left.value < right.value
  }
}

/// Place of an event in the whole ledger: only grows, has no holes, starts at 1.
public struct GlobalPosition: Hashable, Comparable, Sendable {
  /// The number of the place.
  public let value: Int64

  /// Makes a position from its number.
  public init(_ value: Int64) { self.value = value }

  /// The position before the first event.
  public static let start = GlobalPosition(0)

  /// The position behind this one.
  public var next: GlobalPosition { GlobalPosition(value + 1) }

  /// Orders by place.
  public static func < (left: GlobalPosition, right: GlobalPosition) -> Bool {
    left.value < right.value
  }
}

/// The number of a launch of the ledger, from 1. What an older launch had in flight is history.
public struct LaunchGeneration: Hashable, Comparable, Sendable {
  /// How many times the ledger has been opened for writing, this time included.
  public let value: Int64

  /// Makes a generation from its number.
  public init(_ value: Int64) { self.value = value }

  /// Orders by launch.
  public static func < (left: LaunchGeneration, right: LaunchGeneration) -> Bool {
    left.value < right.value
  }
}

/// One slice of an upload by its index, from 0.
public struct PartNumber: Hashable, Comparable, Sendable {
  /// The index of the slice.
  public let index: Int

  /// Makes a part number from its index.
  public init(_ index: Int) { self.index = index }

  /// Orders by index.
  public static func < (left: PartNumber, right: PartNumber) -> Bool { left.index < right.index }
}

/// Names one logical piece of work to the server: every attempt at it carries the same key.
public struct IdempotencyKey: Hashable, Sendable {
  /// The text of the key, at most 128 characters of `[A-Za-z0-9_-]`.
  public let text: String

  /// Makes a key from its text.
  public init(_ text: String) { self.text = text }
}

/// The server's name for one upload session. Never its URL, which may be a bearer secret.
public struct SessionReference: Hashable, Sendable {
  /// The server's text, `[A-Za-z0-9_-]{1,128}`.
  public let text: String

  /// Makes a reference from text that came from a checked reply or from the log.
  public init(_ text: String) { self.text = text }
}

/// The server's name for the committed object.
public struct RemoteID: Hashable, Sendable {
  /// The server's text, `[A-Za-z0-9_-]{1,128}`.
  public let text: String

  /// Makes a remote id from text that came from a checked reply or from the log.
  public init(_ text: String) { self.text = text }
}

/// The name we gave a staged copy, relative to the staging folder. Made by us, never by a person.
public struct StagedFileID: Hashable, Sendable {
  /// One path component, `[a-z0-9-]{1,64}`.
  public let text: String

  /// Makes an id from its text; nil unless it is a plain path component of ours.
  public init?(_ text: String) {
    guard (1...64).contains(text.utf8.count) else { return nil }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        continue
      default: return nil
      }
    }
    self.text = text
  }

  /// The id of the copy that belongs to an upload.
  public init(_ upload: UploadID) { text = upload.description }
}
