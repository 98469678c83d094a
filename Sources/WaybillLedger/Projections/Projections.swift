/// Every projection of the ledger.
enum Projections {
  static let all: [any Projection.Type] = [
    QueueProjection.self, UploadStateProjection.self, ContentIndexProjection.self,
    WorkProjection.self, SessionProjection.self,
  ]
}
