/// Where a `Location` leads, resolved against the URL of the request (RFC 3986 section 5.2).
enum SessionLocation {
  /// The URL a reference leads to; nil for one that leaves the origin, where the credential must
  /// not follow, or that is no URL.
  ///
  /// - Parameters:
  ///   - reference: the value of the header.
  ///   - base: the URL of the request, `scheme://authority[/path]`.
  static func resolve(_ reference: String, against base: String) -> String? {
    guard let mark = base.firstRange(of: "://"), !reference.isEmpty,
      reference.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }),
      !reference.contains("#")
    else { return nil }
    let scheme = base[..<mark.lowerBound]
    let authority = base[mark.upperBound...].prefix { $0 != "/" }
    let basePath = base[authority.endIndex...]
    let path: String
    if let rest = withoutOrigin(reference, scheme: scheme, authority: authority) {
      path = rest.isEmpty || rest.hasPrefix("?") ? "/\(rest)" : String(rest)
    } else if hasOrigin(reference) {
      return nil
    } else if reference.hasPrefix("/") {
      path = reference
    } else if reference.hasPrefix("?") {
      path = (basePath.isEmpty ? "/" : basePath) + reference
    } else {
      let folder = basePath.lastIndex(of: "/").map { basePath[...$0] } ?? "/"
      path = folder + reference
    }
    return "\(scheme)://\(authority)\(withoutDots(path))"
  }

  private static func hasOrigin(_ reference: String) -> Bool {
    if reference.hasPrefix("//") { return true }
    guard let colon = reference.firstIndex(of: ":"), let first = reference.first else {
      return false
    }
    let scheme = reference[..<colon]
    return first.isLetter && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
  }

  /// What follows the origin of an absolute reference; nil unless that is our own.
  private static func withoutOrigin(
    _ reference: String, scheme: Substring, authority: Substring
  ) -> Substring? {
    var rest = reference[...]
    if !rest.hasPrefix("//") {
      guard rest.prefix(scheme.count + 1).lowercased() == "\(scheme):" else { return nil }
      rest = rest.dropFirst(scheme.count + 1)
    }
    guard rest.hasPrefix("//") else { return nil }
    rest = rest.dropFirst(2)
    let theirs = rest.prefix { $0 != "/" && $0 != "?" }
    guard withoutPort(theirs, scheme) == withoutPort(authority, scheme) else { return nil }
    return rest[theirs.endIndex...]
  }

  /// The authority in lower case, without the port that is meant anyway.
  private static func withoutPort(_ authority: Substring, _ scheme: Substring) -> String {
    let text = authority.lowercased()
    let port = scheme == "https" ? ":443" : ":80"
    return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
  }

  /// The path without the steps `.` and `..` (RFC 3986 section 5.2.4); a query stays as it is.
  private static func withoutDots(_ text: String) -> String {
    let path = text.prefix { $0 != "?" }
    var steps: [Substring] = []
    let all = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, step) in all.enumerated() {
      let isLast = index + 1 == all.count
      switch step {
      case ".": if isLast { steps.append("") }
      case "..":
        if !steps.isEmpty { steps.removeLast() }
        if isLast { steps.append("") }
      default: steps.append(step)
      }
    }
    return "/" + steps.joined(separator: "/") + text[path.endIndex...]
  }
}
