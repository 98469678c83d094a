/// A text for people, before it is in anybody's language: a key, the English of it, and what is to
/// be filled in.
///
/// The English holds a place `%1$@`, `%2$@`, … for each argument, as the tables of Apple's tools
/// do, so `UploadTexts.all` can be handed to translators as it is.
public struct Phrase: Hashable, Sendable {
  /// What fills a place, still a value: each language writes numbers and moments in its own way.
  public enum Argument: Hashable, Sendable {
    /// How many.
    case count(Int64)
    /// A length in bytes.
    case bytes(Int64)
    /// Hundredths, from 0 to 100.
    case percent(Int)
    /// A moment.
    case moment(Timestamp)
  }

  /// The stable name of the text, such as `state.verifying.detail`.
  public let key: String
  /// The text in English, with its places.
  public let english: String
  /// What fills the places, in their order.
  public let arguments: [Argument]

  init(_ key: String, _ english: String, _ arguments: Argument...) {
    self.key = key
    self.english = english
    self.arguments = arguments
  }
}

/// How phrases become text: the language, and how it writes numbers, lengths and moments.
///
/// The default is English with decimal units and moments in UTC. An app gives the closures of its
/// own: this package has no calendar, no time zone and no translations.
public struct PhraseStyle: Sendable {
  /// Finds the text of a key in the person's language, its places kept; the English is what to
  /// fall back on.
  public var translate: @Sendable (_ key: String, _ english: String) -> String = { $1 }
  /// Writes a count.
  public var count: @Sendable (Int64) -> String = { "\($0)" }
  /// Writes a length in bytes.
  public var bytes: @Sendable (Int64) -> String = PhraseStyle.decimalUnits
  /// Writes hundredths.
  public var percent: @Sendable (Int) -> String = { "\($0) %" }
  /// Writes a moment.
  public var moment: @Sendable (Timestamp) -> String = PhraseStyle.utcMinutes

  /// English, decimal units, UTC.
  public init() {}

  /// English, decimal units, UTC.
  public static let english = PhraseStyle()

  /// The text of a phrase. A place the phrase has no argument for stays as it is written.
  public func text(_ phrase: Phrase) -> String {
    var out = ""
    var rest = translate(phrase.key, phrase.english)[...]
    while let sign = rest.firstIndex(of: "%") {
      out += rest[..<sign]
      let place = rest[sign...].prefix(4)
      if place.hasSuffix("$@"), let number = place.dropFirst().first?.wholeNumberValue,
        phrase.arguments.indices.contains(number - 1)
      {
        out += text(phrase.arguments[number - 1])
        rest = rest[place.endIndex...]
      } else {
        out += "%"
        rest = rest[rest.index(after: sign)...]
      }
    }
    return out + rest
  }

  private func text(_ argument: Phrase.Argument) -> String {
    switch argument {
    case .count(let number): count(number)
    case .bytes(let length): bytes(length)
    case .percent(let hundredths): percent(hundredths)
    case .moment(let moment): self.moment(moment)
    }
  }

  /// A length in decimal units, rounded to the nearest: `999 B`, `4.2 MB`, `123 MB`. Below zero
  /// there is none.
  public static let decimalUnits: @Sendable (Int64) -> String = { length in
    guard length >= 1000 else { return "\(max(0, length)) B" }
    var unit: Int64 = 1
    for name in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      unit *= 1000
      let tenths = rounded(length, by: unit / 10)
      if tenths < 1000 { return "\(tenths / 10).\(tenths % 10) \(name)" }
      let whole = rounded(length, by: unit)
      if whole < 1000 { return "\(whole) \(name)" }
    }
    preconditionFailure("64 bits hold less than ten exabytes")
  }

  private static func rounded(_ length: Int64, by divisor: Int64) -> Int64 {
    length / divisor + (length % divisor >= divisor / 2 ? 1 : 0)
  }

  /// A moment to the minute: `2026-11-29 01:29 UTC`.
  public static let utcMinutes: @Sendable (Timestamp) -> String = { moment in
    let time = CalendarTime(secondsSinceEpoch: moment.seconds)
    return "\(time.dateText) \(time.timeText.prefix(5)) UTC"
  }
}
