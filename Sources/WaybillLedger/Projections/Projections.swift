/// Every table of the ledger that is derived from its log.
enum Projections {
  /// What is folded from the log, in the order in which it is folded anew.
  static let derived: [any DerivedTable.Type] = all + [LedgerStateTable.self]

  /// What is folded from the streams of uploads.
  static let all: [any Projection.Type] = [
    QueueProjection.self, UploadStateProjection.self, ContentIndexProjection.self,
    WorkProjection.self, SessionProjection.self,
  ]
}
