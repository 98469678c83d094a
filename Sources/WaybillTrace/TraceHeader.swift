package import WaybillModel

/// What the first line of a trace says about the rest.
package struct TraceHeader: Equatable, Sendable {
  /// The profile of a trace that leaves nothing out and can be checked against the ledger's chain.
  package static let rawProfile = "raw"

  /// The word for what was left out; `raw` for nothing.
  package var profile: String
  /// What was left out, in words.
  package var cuts: [String]
  /// A pseudonym of the device; nil where nobody asked for one.
  package var device: String?
  /// The app that wrote the trace, and its version.
  package var app: String
  /// The format of the ledger the events come from.
  package var ledgerFormat: Int64
  /// No event stands before this position; nil for a trace without events.
  package var first: GlobalPosition?
  /// No event stands behind this position; nil for a trace without events.
  package var last: GlobalPosition?

  /// Makes a header from its values.
  package init(
    app: String, ledgerFormat: Int64, first: GlobalPosition?, last: GlobalPosition?,
    profile: String = rawProfile, cuts: [String] = [], device: String? = nil
  ) {
    self.profile = profile
    self.cuts = cuts
    self.device = device
    self.app = app
    self.ledgerFormat = ledgerFormat
    self.first = first
    self.last = last
  }

  /// Whether the lines carry chain values.
  var isChained: Bool { profile == TraceHeader.rawProfile }
}
