/// What a server has seen since it started.
public struct ServerCounts: Hashable, Sendable {
  /// Requests by endpoint, refused ones too; requests for unknown paths are not in it.
  public internal(set) var requests: [ServerEndpoint: Int] = [:]
  /// Replies by status, those that a fault script kept back not counted.
  public internal(set) var replies: [Int: Int] = [:]
  /// Body bytes that arrived, of all requests.
  public internal(set) var bodyBytes: Int64 = 0
  /// Body bytes that arrived for parts.
  public internal(set) var partBodyBytes: Int64 = 0
  /// Photos bound by a commit; repeats that found the photo there are not counted.
  public internal(set) var commits = 0

  /// Requests of one endpoint.
  public func requests(_ endpoint: ServerEndpoint) -> Int { requests[endpoint, default: 0] }
}
