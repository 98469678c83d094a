internal import WaybillModel
internal import WaybillSystem

/// A refusal as RFC 9457 tells it. The detail says what to do next and never repeats a secret.
struct Problem: Error {
  let slug: ProblemSlug
  let detail: String
  var headers: [HTTPHeader] = []
  var extra: [JSONValue.Member] = []

  init(_ slug: ProblemSlug, _ detail: String) {
    self.slug = slug
    self.detail = detail
    switch slug {
    case .unauthorized: headers = [HTTPHeader("WWW-Authenticate", "Bearer")]
    case .commitInProgress, .partInProgress, .stopping: headers = [HTTPHeader("Retry-After", "1")]
    default: break
    }
  }

  var reply: Reply {
    Problem.reply(
      status: slug.status, slug: slug.rawValue, title: slug.title, detail: detail,
      headers: headers, extra: extra)
  }

  static func reply(
    status: Int, slug: String, title: String, detail: String, headers: [HTTPHeader] = [],
    extra: [JSONValue.Member] = []
  ) -> Reply {
    let members = [
      JSONValue.Member("type", .text("https://waybill.dev/problems/\(slug)")),
      JSONValue.Member("title", .text(title)),
      JSONValue.Member("status", .integer(Int64(status))),
      JSONValue.Member("detail", .text(detail)),
    ]
    return Reply(
      status: status, headers: headers,
      body: .json(.object(members + extra), type: "application/problem+json"))
  }
}

extension Problem {
  /// What a failed call of the operating system means for the client.
  init(_ error: SystemError) {
    if error.isOutOfSpace {
      self.init(.storageFull, "The server has no room for these bytes. Send them again later.")
    } else {
      self.init(.serverError, "The server could not use its disk. Send the request again later.")
    }
  }
}

/// The kinds of refusal; the raw value is the last word of the type's URL.
package enum ProblemSlug: String, CaseIterable {
  case invalidRequest = "invalid-request"
  case digestMissing = "digest-missing"
  case digestMismatch = "digest-mismatch"
  case wrongLength = "wrong-length"
  case keyMissing = "idempotency-key-missing"
  case unauthorized
  case readOnly = "read-only"
  case notFound = "not-found"
  case unknownRoute = "unknown-route"
  case methodNotAllowed = "method-not-allowed"
  case partDiffers = "part-differs"
  case partInProgress = "part-in-progress"
  case partsMissing = "parts-missing"
  case alreadyCommitted = "already-committed"
  case sessionExpired = "session-expired"
  case tooLarge = "too-large"
  case addressTooLong = "address-too-long"
  case unsupportedMediaType = "unsupported-media-type"
  case keyReused = "idempotency-key-reused"
  case hashMismatch = "hash-mismatch"
  case commitInProgress = "commit-in-progress"
  case tooManySessions = "too-many-sessions"
  case tooManyRequests = "too-many-requests"
  case headersTooLarge = "headers-too-large"
  case serverError = "server-error"
  case stopping
  case storageFull = "storage-full"
  case quotaExceeded = "quota-exceeded"

  package var status: Int {
    switch self {
    case .invalidRequest, .digestMissing, .digestMismatch, .wrongLength, .keyMissing: 400
    case .unauthorized: 401
    case .readOnly: 403
    case .notFound, .unknownRoute: 404
    case .methodNotAllowed: 405
    case .partDiffers, .partInProgress, .partsMissing, .alreadyCommitted: 409
    case .sessionExpired: 410
    case .tooLarge: 413
    case .addressTooLong: 414
    case .unsupportedMediaType: 415
    case .keyReused, .hashMismatch: 422
    case .commitInProgress: 423
    case .tooManySessions, .tooManyRequests: 429
    case .headersTooLarge: 431
    case .serverError: 500
    case .stopping: 503
    case .storageFull, .quotaExceeded: 507
    }
  }

  /// The slug in words: the title never varies from case to case (RFC 9457 section 3.1.3).
  var title: String {
    let words = rawValue.split(separator: "-").joined(separator: " ")
    return words.prefix(1).uppercased() + words.dropFirst()
  }
}
