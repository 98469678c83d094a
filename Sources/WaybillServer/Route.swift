internal import WaybillModel

/// A kind of request, as fault scripts and counts name it.
public enum ServerEndpoint: String, Hashable, Sendable, CaseIterable {
  /// `POST /v1/uploads`
  case open
  /// `PUT /v1/uploads/{id}/parts/{n}`
  case part
  /// `GET /v1/uploads/{id}`
  case status
  /// `POST /v1/uploads/{id}/commit`
  case commit
  /// `DELETE /v1/uploads/{id}`
  case abandon
  /// `GET /v1/photos`
  case photos
  /// `GET /v1/photos/{photoId}`
  case photo
  /// `GET /v1/photos/{photoId}/content`
  case content

  var method: String {
    switch self {
    case .open, .commit: "POST"
    case .part: "PUT"
    case .abandon: "DELETE"
    case .status, .photos, .photo, .content: "GET"
    }
  }

  /// Whether it changes what an account has stored.
  var writes: Bool { method != "GET" }
}

/// Where a request goes, read from its path: pure, knows nothing of what is stored.
struct Route: Equatable {
  let endpoint: ServerEndpoint
  var id = ""
  var part = 0

  /// Reads a path that still has its escapes; ids never need any.
  static func find(method: String, path: String) -> Result<Route, Problem> {
    let routes = routes(path: path)
    if let route = routes.first(where: { $0.endpoint.method == method }) { return .success(route) }
    if routes.isEmpty {
      return .failure(Problem(.unknownRoute, "No such path. The paths are in openapi.yaml."))
    }
    var problem = Problem(.methodNotAllowed, "This path takes another method; see Allow.")
    problem.headers = [.init("Allow", routes.map(\.endpoint.method).joined(separator: ", "))]
    return .failure(problem)
  }

  private static func routes(path: String) -> [Route] {
    let words = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (3...6).contains(words.count), words[0].isEmpty, words[1] == "v1" else { return [] }
    let rest = words[3...]
    guard rest.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 128 }) else { return [] }
    switch (words[2], rest.count) {
    case ("uploads", 0): return [Route(endpoint: .open)]
    case ("uploads", 1):
      return [Route(endpoint: .status, id: words[3]), Route(endpoint: .abandon, id: words[3])]
    case ("uploads", 2) where words[4] == "commit": return [Route(endpoint: .commit, id: words[3])]
    case ("uploads", 3) where words[4] == "parts":
      guard let part = number(words[5]) else { return [] }
      return [Route(endpoint: .part, id: words[3], part: part)]
    case ("photos", 0): return [Route(endpoint: .photos)]
    case ("photos", 1): return [Route(endpoint: .photo, id: words[3])]
    case ("photos", 2) where words[4] == "content": return [Route(endpoint: .content, id: words[3])]
    default: return []
    }
  }

  private static func number(_ text: String) -> Int? {
    guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
